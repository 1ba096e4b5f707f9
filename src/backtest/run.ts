import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Configuration } from '../core/config/schema.ts'
import { foldingOf } from '../core/operations/decide.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { Quote } from '../core/shared/quote.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { MarketRunner } from '../engine/market/market-runner.ts'
import { ProducerRunner } from '../engine/market/producer-runner.ts'
import { doDue } from '../engine/market/schedule.ts'
import type { FeedListener, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'
import { AccountWatch, type AccountCourse } from './account-watch.ts'
import type { HearingFeed, Words } from './log-feed.ts'
import { BACKTEST_NODE, RecordedOrders, type Prices } from './recorded-orders.ts'
import { runSettings, WARM_UP_BARS } from './run-settings.ts'
import { strategyOf, type Strategy, type StrategyName } from './strategies.ts'

export interface BacktestDependencies {
  readonly strategy: StrategyName
  /** Recorded bars, told as fast as they are taken; perhaps with what was said between them. */
  readonly feed: MarketFeed & Partial<Pick<HearingFeed, 'words'>>
  readonly producers: readonly Producer[]
  readonly settings: Configuration
  readonly version: string
  /** Nothing is traded before, and nothing is looked at from then on; null for all there is. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Whether an operator lowers the kill switch at every midnight; without one, it stays where it is. */
  readonly resetsDaily: boolean
  /** What the feed leaves out, in words for the operator. */
  readonly onError: (message: string) => void
  /** How late it is in the run. */
  readonly onTime?: (nowMs: number) => void
  readonly onEvents?: (events: readonly Stamped[]) => void
}

export interface BacktestCourse {
  /** Of the part that was traded. */
  readonly firstOpenMs: number | null
  readonly lastCloseMs: number | null
  /** One per symbol and time. */
  readonly bars: number
  readonly resolutionSeconds: number | null
  readonly openPositions: number
  readonly account: AccountCourse
}

/**
 * The engine's own deciders, producers and schedule on recorded time. What is decided at the close of a bar is traded
 * at the open of the next one: that price is the only thing of it that is known by then.
 */
export const backtest = async (parts: BacktestDependencies): Promise<BacktestCourse> => {
  const run = new Run(parts)
  await run.start()
  try {
    while (!run.isOver()) await nextTurn()
  } finally {
    await parts.feed.stop()
  }
  return run.course()
}

/** The feed cannot tell any bars; the message says why, for an operator. */
export class NoBarsError extends Error {
  override readonly name = 'NoBarsError'
}

class Run {
  readonly #parts: BacktestDependencies
  readonly #desk: RecordedOrders
  readonly #market: MarketRunner
  readonly #strategy: Strategy
  readonly #watch = new AccountWatch()
  #settings: Configuration
  #isStarted: Promise<void> = Promise.resolve()
  #trouble: { readonly error: unknown } | null = null
  #isPastEnd = false
  /** From here on it is traded; null before the first bar. */
  #tradedFromMs: number | null = null
  #doneUpToMs = 0
  #decidedMs: number | null = null
  #firstOpenMs: number | null = null
  #lastCloseMs: number | null = null
  #bars = 0

  constructor(parts: BacktestDependencies) {
    this.#parts = parts
    this.#settings = parts.settings
    const configuration = (): Configuration => this.#settings
    const onError = (what: string, error?: unknown): void => this.#complain(what, error)
    this.#desk = new RecordedOrders({
      configuration,
      version: parts.version,
      onEvents: (events) => {
        this.#watch.see(events)
        parts.onEvents?.(events)
      },
    })
    this.#market = new MarketRunner({
      engine: this.#desk,
      feed: {
        ...feedAround(parts.feed, parts.strategy),
        start: (from, listener) => parts.feed.start(from, this.#ahead(listener)),
      },
      producers: parts.strategy === 'brain' ? parts.producers : [],
      producerDesk: new ProducerRunner({ engine: this.#desk, clock: this.#desk, onError }),
      configuration,
      onError,
    })
    this.#strategy = strategyOf(parts.strategy, { engine: this.#desk, configuration })
  }

  async start(): Promise<void> {
    this.#isStarted = this.#market.start()
    try {
      await this.#isStarted
    } catch (error) {
      throw new NoBarsError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }

  isOver(): boolean {
    if (this.#trouble !== null) throw this.#trouble.error
    const { state, trouble } = this.#parts.feed.status()
    // Half of the bars would give figures of something else.
    if (state === 'troubled') throw new NoBarsError(trouble ?? 'the feed failed')
    return this.#isPastEnd || state === 'ended' || state === 'stopped'
  }

  course(): BacktestCourse {
    return {
      firstOpenMs: this.#firstOpenMs,
      lastCloseMs: this.#lastCloseMs,
      bars: this.#bars,
      resolutionSeconds: this.#tradedFromMs === null ? null : this.#settings.market.bar_seconds,
      openPositions: this.#desk.state.trading.book.count,
      account: this.#watch.course(),
    }
  }

  /** Between the feed and the desk that stores bars: before a bar is told, its open is traded at. */
  #ahead(listener: FeedListener): FeedListener {
    return {
      onBars: async (bars) => {
        if (this.#isPastEnd || this.#trouble !== null) return
        try {
          await this.#take(bars, listener)
        } catch (error) {
          // A run that lost something is worth nothing: it ends, instead of telling the bars again.
          this.#trouble = { error }
        }
      },
      // Bars decide, so that a file and a simulated market are traded alike.
      onTick: () => undefined,
      onError: (message) => this.#parts.onError(message),
    }
  }

  async #take(bars: readonly FeedBar[], listener: FeedListener): Promise<void> {
    const [first] = bars
    if (first === undefined) return
    const openMs = Date.parse(first.open_ts)
    const closeMs = Date.parse(first.close_ts)
    const { toMs } = this.#parts
    if (toMs !== null && closeMs > toMs) {
      this.#isPastEnd = true
      return
    }
    // What the feed tells as past is told before it has started.
    if (!first.backfill) await this.#isStarted
    this.#tradedFromMs ??= await this.#begin(openMs, first.resolution_s)
    this.#adaptTo(first.resolution_s)
    const isWarmUp = openMs < this.#tradedFromMs || first.backfill
    if (!isWarmUp) await this.#trade(bars, openMs)
    const words = this.#parts.feed.words?.() ?? SILENCE
    this.#retell(words.before, closeMs)
    this.#desk.at(closeMs)
    await listener.onBars(bars.map((bar) => ({ ...bar, backfill: isWarmUp })))
    this.#retell(words.after, closeMs)
    this.#strategy.see(bars)
    // A bar of one symbol may come behind later ones of others.
    this.#doneUpToMs = Math.max(this.#doneUpToMs, closeMs)
    this.#parts.onTime?.(closeMs)
    if (isWarmUp) return
    this.#bars += bars.length
    this.#firstOpenMs ??= openMs
    this.#lastCloseMs = this.#doneUpToMs
    this.#watch.close(this.#desk.state, openMs)
  }

  async #begin(openMs: number, resolutionSeconds: number): Promise<number> {
    const { settings, version, fromMs } = this.#parts
    this.#settings = runSettings(settings, resolutionSeconds)
    this.#desk.at(openMs)
    await this.#desk.execute({
      kind: 'start',
      started: {
        version,
        node_id: BACKTEST_NODE,
        public_key: '',
        ephemeral: true,
        integrity: { ok: true, reason: null, first_bad_seq: null },
        folding: foldingOf(this.#settings),
      },
    })
    this.#watch.begin(this.#desk.state)
    this.#doneUpToMs = openMs
    return Math.max(fromMs ?? 0, openMs + WARM_UP_BARS * this.#settings.ta.bar_seconds * 1000)
  }

  /** A log may hold bars of several lengths: the past of a first start, then minutes. */
  #adaptTo(seconds: number): void {
    if (seconds === this.#settings.market.bar_seconds) return
    const { ta } = this.#settings
    this.#settings = { ...runSettings(this.#parts.settings, seconds), ta }
  }

  /** At the time at which it was recorded, as far as that is between the bars. */
  #retell(words: readonly Stamped[], closeMs: number): void {
    for (const event of words) {
      this.#desk.at(Math.min(closeMs, Date.parse(event.recordedAt)))
      this.#desk.retell(event)
    }
  }

  /** From the close of the last bar to the open of the next: one moment, unless there is a gap. */
  async #trade(bars: readonly FeedBar[], openMs: number): Promise<void> {
    const { universe, market } = this.#settings
    const stepMs = market.bar_seconds * 1000
    const nothing = pricesAtOpen(universe.symbols, [], openMs)
    for (let nowMs = this.#doneUpToMs; nowMs < openMs; nowMs += stepMs) await this.#decide(nowMs, nothing)
    if (openMs >= this.#doneUpToMs) await this.#decide(openMs, pricesAtOpen(universe.symbols, bars, openMs))
  }

  /** What is due by the clock, then what the strategy wants. */
  async #decide(nowMs: number, prices: Prices): Promise<void> {
    const parts = { engine: this.#desk, configuration: () => this.#settings }
    const beforeMs = this.#decidedMs ?? nowMs - this.#settings.market.bar_seconds * 1000
    this.#desk.at(nowMs, prices)
    if (dayNumberOf(nowMs) > dayNumberOf(beforeMs)) await this.#beginDay()
    await doDue(parts, beforeMs, nowMs)
    await this.#strategy.decide(beforeMs, nowMs)
    this.#decidedMs = nowMs
  }

  async #beginDay(): Promise<void> {
    if (!this.#parts.resetsDaily || this.#desk.state.trading.killSwitch.level === 0) return
    const move = { level: 0, reason: 'a new day', operator: BACKTEST_NODE, surface: 'cli' } as const
    await this.#desk.execute({ kind: 'reset-kill-switch', move })
  }

  #complain(what: string, error: unknown): void {
    if (error === undefined) this.#parts.onError(what)
    else this.#trouble = { error: new Error(what, { cause: error }) }
  }
}

const SILENCE: Words = { before: [], after: [] }

/** A symbol that does not open now cannot be had now. */
const pricesAtOpen = (symbols: readonly string[], bars: readonly FeedBar[], openMs: number): Prices => {
  const prices = new Map<string, Quote | null>(symbols.map((symbol) => [canonicalSymbol(symbol), null]))
  for (const { symbol, open } of bars) prices.set(canonicalSymbol(symbol), { price: open, atMs: openMs })
  return prices
}

const dayNumberOf = (ms: number): number => Math.floor(ms / DAY_MS)

/** Its own producers are heard by the brain alone: a rule looks at prices. */
const feedAround = (feed: MarketFeed, strategy: StrategyName): Omit<MarketFeed, 'start'> => ({
  name: feed.name,
  producers: strategy === 'brain' ? feed.producers : [],
  status: () => feed.status(),
  stop: () => feed.stop(),
})
