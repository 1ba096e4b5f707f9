import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { timestampOf, type CanonicalSymbol, type Timestamp } from '../core/shared/brand.ts'
import type { Direction, Usd } from '../core/shared/money.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { blocksEntries } from '../core/shared/level.ts'
import { DAY_MS } from '../core/shared/time.ts'
import type { State } from '../core/state.ts'
import { equityOf } from '../core/trading/risk/account.ts'
import { positionsOf, withMarks } from '../core/trading/positions/book.ts'
import { hourReturn } from './fold-bars.ts'
import { lastCloseMsOf, lastCloseOf, LateMarket, lastOf, type LateSymbol } from './late-market.ts'
import { isPlainBar } from './plain-bar.ts'
import type { PriceView } from './quiet-producers.ts'
import {
  AMOUNT_MAX,
  exposureAt,
  gainOf,
  isQuietFor,
  markedTo,
  watchedPosition,
  type WatchedPosition,
} from './quiet-positions.ts'
import { canBeQuiet, equityBand, inDayOf, isInBand, UNLIMITED, type EquityBand } from './quiet-risk.ts'

/** One symbol: its last close, its positions, and the bars that are not folded yet. */
interface Track {
  readonly key: CanonicalSymbol
  readonly positions: readonly WatchedPosition[]
  readonly late: LateSymbol
  lastCloseMs: number
  lastClose: number
}

/** Bars that closed together. */
export interface BarGroup {
  readonly bars: readonly FeedBar[]
  readonly openMs: number
  readonly closeMs: number
  /** Of the warm-up. */
  readonly backfill: boolean
}

/** The parts of the state that say whether a bar is quiet. */
type Grounds = readonly unknown[]

/** More bars are handled in several batches, between which risk is assessed. */
const BARS_MAX = 50

const USD_SCALE = 1_000_000

/**
 * Bars at which nothing can happen: no stop, target or time is reached, no status changes, the kill switch stays where
 * it is. Only what later readers need of them is kept, and folded into the state at once before anybody reads it.
 */
export class QuietBars {
  readonly #late = new LateMarket()
  readonly #configuration: () => Configuration
  readonly #tracks = new Map<string, Track>()
  #seen: State | null = null
  #grounds: Grounds = []
  #isAnyQuiet = false
  #held: readonly Track[] = []
  #heldSymbols = 0
  #day = 0
  #trading: State['trading'] | null = null
  /** Amounts are in millionths of a USD, exact as plain numbers. */
  #equity = 0
  #exposure = 0
  #peak = 0
  #band: EquityBand = UNLIMITED
  #isBackfill = false
  #lastCloseTs = ''
  #lastCloseMs = 0
  #count = 0

  constructor(configuration: () => Configuration) {
    this.#configuration = configuration
  }

  /** How many events are not folded yet: one for each bar, and for each change of a position's status. */
  get count(): number {
    return this.#count
  }

  /** After the last bar that was taken, in USD. */
  get equityUsd(): number {
    return this.#equity / USD_SCALE
  }

  /** Of all positions, at the prices of that bar. */
  get exposureUsd(): number {
    return this.#exposure / USD_SCALE
  }

  /** Of the last bar that was taken. */
  get lastCloseMs(): number {
    return this.#lastCloseMs
  }

  get isHolding(): boolean {
    return this.#heldSymbols > 0
  }

  /** Whether anything is held for which a rate is known. To be asked after `prepare`. */
  get paysFunding(): boolean {
    const { apply_funding: isApplied, paper_funding_bps: paperBps } = this.#configuration().execution
    if (!isApplied || !this.isHolding) return false
    return paperBps !== null || this.#held.some(({ late }) => lastOf(late).funding_annualized !== null)
  }

  /** Whether all that is held has a price of this time. To be asked after `prepare`. */
  areMarksFresh(nowMs: number): boolean {
    if (this.#held.length !== this.#heldSymbols) return false
    for (const { lastCloseMs } of this.#held) if (lastCloseMs !== nowMs) return false
    return true
  }

  /** Whether a proposal would change nothing: there is such a position already, or there may be none. */
  ignores(symbol: string, direction: Direction | 'flat'): boolean {
    const track = this.#tracks.get(symbol)
    const { level } = this.#trading?.killSwitch ?? { level: 0 as const }
    if (track === undefined || !this.#isAnyQuiet) return false
    if (track.positions.length === 0) return direction === 'flat' || blocksEntries(level)
    return track.positions.every((watched) => watched.direction === direction)
  }

  /** Whether these bars are of another day than those that are not folded yet. */
  isOfNextDay({ closeMs }: BarGroup): boolean {
    return this.#count > 0 && Math.floor(closeMs / DAY_MS) !== this.#day
  }

  /** Looks at the state that the next bars come upon. False if none of them can be quiet. */
  prepare(state: State, { bars, closeMs }: BarGroup): boolean {
    const day = Math.floor(closeMs / DAY_MS)
    if (state === this.#seen && day === this.#day) return this.#isAnyQuiet
    const grounds = this.#groundsOf(state)
    const [first] = bars
    if (first === undefined) return false
    const isSame = day === this.#day && grounds.every((part, index) => part === this.#grounds[index])
    if (isSame) {
      this.#seen = state
      return this.#isAnyQuiet
    }
    if (this.#count > 0) return false
    // What is folded together is of one day.
    if (day !== this.#day) this.#late.fold()
    this.#seen = state
    this.#grounds = grounds
    this.#day = day
    const now = timestampOf(first.close_ts)
    this.#isAnyQuiet = this.#read(inDayOf(state, now), now, bars)
    return this.#isAnyQuiet
  }

  /** What is known of a symbol without folding; null where that is not all. */
  pricesOf(symbol: string, lengthMs: number, nowMs: number): PriceView | null {
    const track = this.#tracks.get(symbol)
    if (track === undefined || track.lastCloseMs !== nowMs) return null
    const { lastClose } = track
    const { known, bars, openMs } = track.late
    const foldedMs = openMs[0] ?? nowMs
    // A bar that closes an analysis bar changes them and the variance.
    if (Math.floor(foldedMs / lengthMs) !== Math.floor(nowMs / lengthMs)) return null
    return {
      close: lastClose,
      last: lastOf(track.late),
      return1h: hourReturn(known.closes, bars, openMs, nowMs, lastClose),
      variance: known.analysis.variance,
      analysisBars: known.analysis.bars,
    }
  }

  /** Takes the bars if all of them are quiet. To be called after `prepare`. */
  take(group: BarGroup): boolean {
    const { bars, openMs, closeMs, backfill } = group
    const first = bars[0]
    if (first === undefined || bars.length > BARS_MAX) return false
    if (this.#count > 0 && (backfill !== this.#isBackfill || closeMs <= this.#lastCloseMs)) return false
    if (backfill && this.#count === 0) this.#late.fold()
    const moveMax = this.#configuration().market.max_bar_move_pct
    let held = 0
    let equity = this.#equity
    let exposure = this.#exposure
    for (const bar of bars) {
      const track = this.#tracks.get(bar.symbol)
      if (track === undefined || openMs < track.lastCloseMs) return false
      if (bar.open_ts !== first.open_ts || bar.close_ts !== first.close_ts) return false
      if (!isPlainBar(bar, closeMs - openMs, track.lastClose, moveMax)) return false
      if (backfill || track.positions.length === 0) continue
      // After a gap the mark is old.
      if (openMs !== track.lastCloseMs) return false
      held += 1
      for (const watched of track.positions) {
        if (!isQuietFor(watched, bar, openMs, closeMs)) return false
        watched.nextExposure = exposureAt(watched, bar.close)
        equity += gainOf(watched)
        exposure += watched.nextExposure - watched.exposure
      }
    }
    if (!backfill && held !== this.#heldSymbols) return false
    if (!(Math.abs(equity) < AMOUNT_MAX && exposure < AMOUNT_MAX)) return false
    // With a new peak the same equity is a deeper fall.
    const peakUsd = Math.max(this.#peak, this.#equity) / USD_SCALE
    if (held > 0 && !isInBand(this.#band, equity / USD_SCALE, peakUsd)) return false
    if (bars.length > 1 && new Set(bars.map(({ symbol }) => symbol)).size < bars.length) return false
    this.#commit(group, equity, exposure)
    return true
  }

  /** The state after all bars that were taken. */
  foldInto(state: State): State {
    const at = timestampOf(this.#lastCloseTs)
    const after: State = {
      seq: state.seq + this.#count,
      recordedAt: at,
      decidedAt: at,
      standsAt: null,
      market: this.#late.after(state.market, this.#isBackfill),
      signals: state.signals,
      trading: this.#tradingAfter(state.trading, at),
      reputation: state.reputation,
      brain: state.brain,
      treasury: state.treasury,
      operations: state.operations,
    }
    this.#count = 0
    this.#trading = after.trading
    this.#seen = after
    this.#grounds = this.#groundsOf(after)
    return after
  }

  #tradingAfter(trading: State['trading'], at: Timestamp): State['trading'] {
    let portfolio: Pick<State['trading'], 'positions' | 'book'> = trading
    for (const { positions, lastClose, lastCloseMs } of this.#held) {
      // None of the bars was of this symbol.
      if (positions.some(({ lowest }) => lowest === Infinity)) continue
      const before = positions.map(({ position }) => position)
      for (const watched of positions) {
        watched.position = markedTo(watched, lastClose, lastCloseMs)
        watched.lowest = Infinity
        watched.highest = -Infinity
      }
      portfolio = withMarks(
        portfolio,
        before,
        positions.map(({ position }) => position),
      )
    }
    const { positions, book } = portfolio
    const peak = BigInt(this.#peak) as Usd
    const { killSwitch, intents, orders, venue, ledger, cycles, leaderToken } = trading
    const { dayStart, curve } = (this.#trading ?? trading).risk
    const risk = { peak, dayStart, curve, at }
    // Written out: copies take several times as long.
    return { killSwitch, intents, orders, venue, positions, book, ledger, risk, cycles, leaderToken }
  }

  #groundsOf({ market, trading, treasury }: State): Grounds {
    const { positions, orders, intents, killSwitch, ledger, risk, cycles, venue } = trading
    return [
      this.#configuration(),
      market,
      positions,
      orders,
      intents,
      killSwitch,
      ledger,
      risk,
      cycles,
      venue,
      treasury,
    ]
  }

  #read(state: State, now: Timestamp, bars: readonly FeedBar[]): boolean {
    const { trading, market } = state
    const configuration = this.#configuration()
    this.#tracks.clear()
    this.#trading = trading
    this.#equity = Number(equityOf(trading))
    this.#exposure = Number(trading.book.exposure)
    this.#peak = Number(trading.risk.peak)
    this.#heldSymbols = trading.book.bySymbol.size
    if (!(Math.max(Math.abs(this.#equity), this.#exposure, this.#peak) < AMOUNT_MAX)) return false
    if (!canBeQuiet(state, now, configuration)) return false
    const keys = new Set<CanonicalSymbol>()
    const held: Track[] = []
    for (const { symbol } of bars) {
      if (this.#tracks.has(symbol)) continue
      const key = canonicalSymbol(symbol)
      const late = this.#late.symbolIn(market, key)
      if (late === undefined || late.known.held !== null || late.known.repeatedUntil !== null) return false
      // Two spellings of one symbol.
      if (keys.has(key)) return false
      keys.add(key)
      const positions: WatchedPosition[] = []
      for (const position of positionsOf(trading, key)) {
        const watched = watchedPosition(position, configuration.execution)
        if (watched === null) return false
        positions.push(watched)
      }
      const track = { key, positions, late, lastCloseMs: lastCloseMsOf(late), lastClose: lastCloseOf(late) }
      this.#tracks.set(symbol, track)
      if (positions.length > 0) held.push(track)
    }
    this.#held = held
    this.#band = this.isHolding ? equityBand(trading, now, configuration) : UNLIMITED
    return true
  }

  #commit({ bars, openMs, closeMs, backfill }: BarGroup, equity: number, exposure: number): void {
    const isHighest = this.#trading?.ledger.hasTraded !== true || this.#equity > this.#peak
    if (isHighest) this.#peak = this.#equity
    for (const bar of bars) {
      const track = this.#tracks.get(bar.symbol) as Track
      track.lastCloseMs = closeMs
      track.lastClose = bar.close
      track.late.bars.push(bar)
      track.late.openMs.push(openMs)
      if (backfill) continue
      for (const watched of track.positions) {
        // A change of status would be an event of its own.
        if (watched.nextStatus !== watched.status) this.#count += 1
        watched.status = watched.nextStatus
        watched.exposure = watched.nextExposure
        watched.lowest = Math.min(watched.lowest, bar.low)
        watched.highest = Math.max(watched.highest, bar.high)
      }
    }
    this.#equity = equity
    this.#exposure = exposure
    this.#isBackfill = backfill
    this.#lastCloseTs = bars[0]?.close_ts ?? this.#lastCloseTs
    this.#lastCloseMs = closeMs
    this.#count += bars.length
  }
}
