import type { FeedBar, StoredBar } from '../core/market/bar.ts'
import {
  ANALYSIS_BARS_MAX,
  decayed,
  withFearGreed,
  type AnalysisBar,
  type Market,
  type SymbolMarket,
} from '../core/market/evolve.ts'
import { timestampOf } from '../core/shared/brand.ts'
import { priceFrom, priceNumber, priceNumberOrNull } from '../core/shared/money.ts'
import type { Quote } from '../core/shared/quote.ts'

/** Bars of one symbol that follow each other within a day, none of which needs a decision. */
export interface BarRun {
  readonly bars: readonly FeedBar[]
  /** When each of them opened. */
  readonly openMs: readonly number[]
  /** Of the warm-up. */
  readonly backfill: boolean
}

/** What the market knows of a symbol after all of them: the same as the fold of one after the other, for much less. */
export const afterBars = (known: SymbolMarket, run: BarRun, rules: Market['rules']): SymbolMarket => {
  const { bars, openMs, backfill } = run
  const last = bars.at(-1)
  const lastOpenMs = openMs.at(-1)
  if (last === undefined || lastOpenMs === undefined) return known
  const close: Quote = { price: priceFrom(last.close), atMs: lastOpenMs + last.resolution_s * 1000 }
  return new FoldedSymbol(
    {
      last: storedLast(last, backfill),
      mark: backfill ? known.mark : close,
      closes: hourBefore(known, run, close),
      fearGreedByDay: fearGreedAfter(known.fearGreedByDay, bars),
    },
    unreadAfter(known, run, rules),
  ) as unknown as SymbolMarket
}

/** Analysis bars before some bars, and those bars. */
interface Unread {
  readonly before: SymbolMarket['analysis']
  readonly bars: readonly FeedBar[]
  readonly openMs: readonly number[]
  readonly rules: Market['rules']
}

/** Two days of minutes: so that memory stays small, and one day fits behind all that is kept of the one before. */
const UNREAD_MAX = 2880

/** Only the newest analysis bars are kept, and few ask for them: what nobody has read is computed once, for all bars. */
const unreadAfter = (known: SymbolMarket, { bars, openMs }: BarRun, rules: Market['rules']): Unread => {
  const all = FoldedSymbol.unreadIn(known)
  const unread = all === null || all.bars.length + bars.length <= UNREAD_MAX ? all : newestOf(all)
  if (unread === null || unread.rules !== rules || unread.bars.length + bars.length > UNREAD_MAX)
    return { before: known.analysis, bars, openMs, rules }
  return {
    before: unread.before,
    bars: [...unread.bars, ...bars],
    openMs: [...unread.openMs, ...openMs],
    rules,
  }
}

/** The bars of all analysis bars that are kept. Of those before them only the last close counts, and the variance. */
const newestOf = (unread: Unread): Unread => {
  const { before, bars, openMs, rules } = unread
  const lengthMs = rules.barSeconds * 1000
  let from = bars.length
  let begunMs = Infinity
  // The last one may not be closed.
  for (let count = 0; from > 0; from -= 1) {
    const atMs = openMs[from - 1] ?? 0
    if (atMs >= begunMs) continue
    if (count > ANALYSIS_BARS_MAX) break
    count += 1
    begunMs = Math.floor(atMs / lengthMs) * lengthMs
  }
  const old = { bars: bars.slice(0, from), openMs: openMs.slice(0, from) }
  return {
    before: analysed(before, old, rules, 1),
    bars: bars.slice(from),
    openMs: openMs.slice(from),
    rules,
  }
}

/** What the market knows of a symbol, with analysis bars that are made when they are read. */
class FoldedSymbol implements Omit<SymbolMarket, 'analysis'> {
  readonly last: SymbolMarket['last']
  readonly held = null
  readonly repeatedUntil = null
  readonly mark: SymbolMarket['mark']
  readonly closes: SymbolMarket['closes']
  readonly fearGreedByDay: SymbolMarket['fearGreedByDay']
  #unread: Unread | null
  #analysis: SymbolMarket['analysis'] | null = null

  constructor(
    { last, mark, closes, fearGreedByDay }: Omit<SymbolMarket, 'analysis' | 'held' | 'repeatedUntil'>,
    unread: Unread,
  ) {
    this.last = last
    this.mark = mark
    this.closes = closes
    this.fearGreedByDay = fearGreedByDay
    this.#unread = unread
    // A member of its own, which copies have, too; with one reader for all of them they keep one shape.
    Object.defineProperty(this, 'analysis', FoldedSymbol.#reader)
  }

  static readonly #reader: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: FoldedSymbol) {
      return this.#read()
    },
  }

  /** Null if it was read. */
  static unreadIn(known: SymbolMarket): Unread | null {
    return known instanceof FoldedSymbol ? known.#unread : null
  }

  #read(): SymbolMarket['analysis'] {
    if (this.#unread !== null) {
      const { before, rules } = this.#unread
      this.#analysis = analysed(before, this.#unread, rules)
      this.#unread = null
    }
    return this.#analysis as SymbolMarket['analysis']
  }
}

/** Written out: copies of a bar take several times as long. */
const storedLast = (bar: FeedBar, backfill: boolean): StoredBar => ({
  symbol: bar.symbol,
  resolution_s: bar.resolution_s,
  open_ts: timestampOf(bar.open_ts),
  close_ts: timestampOf(bar.close_ts),
  open: priceFrom(bar.open),
  high: priceFrom(bar.high),
  low: priceFrom(bar.low),
  close: priceFrom(bar.close),
  volume: bar.volume,
  quote_volume: bar.quote_volume,
  funding_annualized: bar.funding_annualized,
  basis_annualized: bar.basis_annualized,
  open_interest_usd: bar.open_interest_usd,
  bid_depth_usd: bar.bid_depth_usd,
  ask_depth_usd: bar.ask_depth_usd,
  fear_greed: bar.fear_greed,
  backfill,
})

const HOUR_MS = 3_600_000

/** All closes up to this one, from the last that is an hour old. */
const hourBefore = ({ closes }: SymbolMarket, { bars, openMs }: BarRun, last: Quote): readonly Quote[] => {
  const earlier: Quote[] = [last]
  const oldestMs = last.atMs - HOUR_MS
  let index = bars.length - 2
  for (; index >= 0; index -= 1) {
    const bar = bars[index] as FeedBar
    const atMs = (openMs[index] ?? 0) + bar.resolution_s * 1000
    earlier.push({ price: priceFrom(bar.close), atMs })
    if (atMs <= oldestMs) return earlier.reverse()
  }
  earlier.reverse()
  return closes.slice(lastUpTo(closes, oldestMs)).concat(earlier)
}

/** Against the last close that is an hour old, as producers see it; `closes` are those before the bars. */
export const hourReturn = (
  closes: readonly Quote[],
  bars: readonly FeedBar[],
  openMs: readonly number[],
  nowMs: number,
  lastClose: number,
): number | null => {
  const oldestMs = nowMs - HOUR_MS
  let [price, atMs] = [Number.NaN, Number.NaN]
  // Of both lists hardly more than the first is so old.
  let ofBars = 0
  while (ofBars < bars.length && closedMs(bars, openMs, ofBars) <= oldestMs) ofBars += 1
  if (ofBars > 0) {
    price = rounded((bars[ofBars - 1] as FeedBar).close)
    atMs = closedMs(bars, openMs, ofBars - 1)
  } else {
    const oldest = closes[lastUpTo(closes, oldestMs)]
    if (oldest === undefined) return null
    price = priceNumber(oldest.price)
    atMs = oldest.atMs
  }
  const ageMs = nowMs - atMs
  return ageMs >= HOUR_MS && ageMs <= HOUR_MS * HOUR_TOLERANCE ? rounded(lastClose) / price - 1 : null
}

/** The index of the last one that is so old, or the first. Hardly more than that are. */
const lastUpTo = (closes: readonly Quote[], ms: number): number => {
  let index = 0
  while ((closes[index + 1]?.atMs ?? Infinity) <= ms) index += 1
  return index
}

const closedMs = (bars: readonly FeedBar[], openMs: readonly number[], index: number): number =>
  (openMs[index] ?? 0) + (bars[index]?.resolution_s ?? 0) * 1000

const HOUR_TOLERANCE = 1.5

/** All of the bars are of one day. */
const fearGreedAfter = (
  days: SymbolMarket['fearGreedByDay'],
  bars: readonly FeedBar[],
): SymbolMarket['fearGreedByDay'] => {
  const newest = bars.findLast(({ fear_greed }) => fear_greed !== null)
  if (newest === undefined) return days
  return withFearGreed(days, { close_ts: timestampOf(newest.close_ts), fear_greed: newest.fear_greed })
}

interface Forming {
  openMs: number
  open: number
  high: number
  low: number
  close: number
  volume: number
  quoteVolume: number
  openInterestUsd: number | null
}

/**
 * In plain numbers: rounding to whole units keeps the order of prices, so the extremes can be rounded at the end. Of most
 * analysis bars only the close counts, for the variance: no more than the newest are made.
 */
const analysed = (
  { bars: before, forming: unfinished, variance: known }: SymbolMarket['analysis'],
  { bars, openMs: opened }: Pick<BarRun, 'bars' | 'openMs'>,
  { barSeconds, varianceDecay }: Market['rules'],
  countMax = ANALYSIS_BARS_MAX,
): SymbolMarket['analysis'] => {
  const lengthMs = barSeconds * 1000
  const begunMs = (index: number): number => Math.floor((opened[index] ?? 0) / lengthMs) * lengthMs
  // Behind the last bar of each analysis bar that closed: the next one begins there.
  const ends: number[] = []
  let from = 0
  let formingMs = unfinished?.openMs ?? null
  let variance = known
  const newest = before.at(-1)
  let lastClose = newest === undefined ? null : priceNumber(newest.close)
  const close = (end: number): void => {
    const last = end > from ? bars[end - 1]?.close : priceNumberOrNull(unfinished?.close ?? null)
    const price = rounded(last ?? Number.NaN)
    variance = lastClose === null ? null : decayed(variance, price / lastClose - 1, varianceDecay)
    lastClose = price
    ends.push(end)
    from = end
    formingMs = null
  }
  for (let index = 0; index < bars.length; index += 1) {
    const openMs = begunMs(index)
    if (formingMs !== null && formingMs < openMs) close(index)
    formingMs ??= openMs
    if (closedMs(bars, opened, index) >= openMs + lengthMs) close(index + 1)
  }
  const made = (nth: number, end: number): AnalysisBar => {
    let forming = nth === 0 && unfinished !== null ? inNumbers(unfinished) : null
    for (let index = ends[nth - 1] ?? 0; index < end; index += 1) {
      const bar = bars[index] as FeedBar
      forming = forming === null ? begun(bar, begunMs(index)) : joined(forming, bar)
    }
    return inUnits(forming as Forming)
  }
  const kept = before.slice(Math.max(0, before.length + ends.length - countMax))
  for (let nth = Math.max(0, ends.length - countMax); nth < ends.length; nth += 1)
    kept.push(made(nth, ends[nth] ?? 0))
  return {
    bars: ends.length === 0 ? before : kept,
    forming: formingMs === null ? null : made(ends.length, bars.length),
    variance,
  }
}

const UNIT_SCALE = 100_000_000

/** As a price is after rounding to whole units. */
const rounded = (price: number): number => Math.round(price * UNIT_SCALE) / UNIT_SCALE

const begun = (bar: FeedBar, openMs: number): Forming => ({
  openMs,
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
  quoteVolume: bar.quote_volume,
  openInterestUsd: bar.open_interest_usd,
})

const joined = (forming: Forming, bar: FeedBar): Forming => {
  forming.high = Math.max(forming.high, bar.high)
  forming.low = Math.min(forming.low, bar.low)
  forming.close = bar.close
  forming.volume += bar.volume
  forming.quoteVolume += bar.quote_volume
  forming.openInterestUsd = bar.open_interest_usd ?? forming.openInterestUsd
  return forming
}

const inNumbers = (bar: AnalysisBar): Forming => ({
  ...bar,
  open: priceNumber(bar.open),
  high: priceNumber(bar.high),
  low: priceNumber(bar.low),
  close: priceNumber(bar.close),
})

const inUnits = (bar: Forming): AnalysisBar => ({
  openMs: bar.openMs,
  open: priceFrom(bar.open),
  high: priceFrom(bar.high),
  low: priceFrom(bar.low),
  close: priceFrom(bar.close),
  volume: bar.volume,
  quoteVolume: bar.quoteVolume,
  openInterestUsd: bar.openInterestUsd,
})
