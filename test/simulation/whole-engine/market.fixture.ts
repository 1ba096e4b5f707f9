import { timestampAt } from '../../../src/core/shared/time.ts'
import type { FeedBar } from '../../../src/core/market/bar.ts'
import type { FeedListener, FeedStart, MarketFeed } from '../../../src/ports/market-feed.ts'
import type { Timer } from '../../../src/ports/timer.ts'
import type { World } from './world.fixture.ts'

const STEP_MS = 5000
export const MINUTE_MS = 60_000
/** Prices are whole cents. */
const START_CENTS = 10_000
const BARS_KEPT = 240

interface Path {
  cents: number
  open: number
  high: number
  low: number
  /** Newest last. */
  readonly bars: FeedBar[]
}

/** Prices as they really are; a feed may tell them otherwise. */
export class Market {
  readonly symbols: readonly string[]
  readonly #world: World
  readonly #paths = new Map<string, Path>()

  constructor(world: World, symbols: readonly string[]) {
    this.symbols = symbols
    this.#world = world
    for (const symbol of symbols)
      this.#paths.set(symbol, {
        cents: START_CENTS,
        open: START_CENTS,
        high: START_CENTS,
        low: START_CENTS,
        bars: [],
      })
    this.#next()
  }

  centsOf(symbol: string): number {
    return this.#path(symbol).cents
  }

  barsAfter(symbol: string, closeMs: number): readonly FeedBar[] {
    return this.#path(symbol).bars.filter(({ close_ts }) => Date.parse(close_ts) > closeMs)
  }

  #next(): void {
    const delayMs = STEP_MS - (this.#world.nowMs % STEP_MS)
    this.#world.schedule(delayMs, 'prices', null, () => {
      this.#move()
      this.#next()
    })
  }

  #move(): void {
    const random = this.#world.random('prices')
    const { nowMs } = this.#world
    for (const [symbol, path] of this.#paths) {
      // A sum of three is near enough to a bell; now and then it jumps.
      const shape = random.below(201) + random.below(201) + random.below(201) - 300
      const jump = random.happens(0.004) ? (random.below(2) * 2 - 1) * (100 + random.below(500)) : 0
      const next = Math.round(path.cents * (1 + shape / 70_000) + (path.cents / START_CENTS) * jump)
      path.cents = Math.max(START_CENTS / 5, next)
      path.high = Math.max(path.high, path.cents)
      path.low = Math.min(path.low, path.cents)
      if (Math.floor(nowMs / STEP_MS) % (MINUTE_MS / STEP_MS) === 0) this.#closeBar(symbol, path)
    }
  }

  #closeBar(symbol: string, path: Path): void {
    const closeMs = Math.floor(this.#world.nowMs / MINUTE_MS) * MINUTE_MS
    const volume = 100
    path.bars.push({
      symbol,
      resolution_s: MINUTE_MS / 1000,
      open_ts: timestampAt(closeMs - MINUTE_MS),
      close_ts: timestampAt(closeMs),
      open: path.open / 100,
      high: path.high / 100,
      low: path.low / 100,
      close: path.cents / 100,
      volume,
      quote_volume: (volume * path.cents) / 100,
      funding_annualized: null,
      basis_annualized: null,
      open_interest_usd: null,
      bid_depth_usd: null,
      ask_depth_usd: null,
      fear_greed: null,
      backfill: false,
    })
    if (path.bars.length > BARS_KEPT) path.bars.shift()
    path.open = path.cents
    path.high = path.cents
    path.low = path.cents
  }

  #path(symbol: string): Path {
    const path = this.#paths.get(symbol)
    if (path === undefined) throw new Error(`nothing is known of ${symbol}`)
    return path
  }
}

/** A feed as a process has it: it asks for bars and prices, fills gaps, and is sometimes wrong. */
export const openSimulatedFeed = (world: World, market: Market, timer: Timer): MarketFeed => {
  const stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const delivered = new Map<string, number>()
  // Without prices between the bars it is the bars that have to find a stop.
  const hasTicks = world.random('feed').happens(0.5)

  const bars = async (listener: FeedListener): Promise<void> => {
    for (const symbol of market.symbols) {
      const since = delivered.get(symbol) ?? 0
      const fresh = market.barsAfter(symbol, since)
      const newest = fresh.at(-1)
      if (newest === undefined) continue
      if (fresh.length === 1 && world.goesWrong('bar_gaps', 0.05)) continue
      const past = fresh.slice(0, -1).map((bar) => ({ ...bar, backfill: true }))
      for (const bar of past) await listener.onBars([bar])
      delivered.set(symbol, Date.parse(newest.close_ts))
      if (world.goesWrong('spikes', 0.02)) await listener.onBars([spiked(newest)])
      await listener.onBars([newest])
      world.count('bars delivered')
      if (world.goesWrong('bars_twice', 0.05)) await listener.onBars([newest])
    }
  }
  const ticks = (listener: FeedListener): void => {
    for (const symbol of market.symbols) {
      const cents = market.centsOf(symbol)
      const factor = world.goesWrong('spikes', 0.002) ? 3 : 1
      listener.onTick({ symbol, price: (cents * factor) / 100, atMs: timer.now() })
    }
  }
  const loop = async (listener: FeedListener): Promise<void> => {
    while (!stopping.signal.aborted) {
      await timer.wait(STEP_MS, stopping.signal)
      if (stopping.signal.aborted) return
      if (world.goesWrong('bars_late', 0.02)) await timer.wait(20_000, stopping.signal)
      if (hasTicks) ticks(listener)
      await bars(listener)
    }
  }

  return {
    name: 'file',
    producers: [],
    start: async ({ lastBars }: FeedStart, listener) => {
      for (const [symbol, bar] of lastBars) delivered.set(symbol, Date.parse(bar.close_ts))
      await bars(listener)
      running = loop(listener)
    },
    status: () => ({ state: 'running', lastBarAtMs: null, clockOffsetMs: null, error: null }),
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Twice as high as it was: no second bar confirms it. */
const spiked = (bar: FeedBar): FeedBar => ({
  ...bar,
  open_ts: bar.open_ts,
  high: bar.high * 2,
  close: bar.close * 2,
})
