import type { CanonicalSymbol } from '../core/shared/brand.ts'
import { priceFrom } from '../core/shared/money.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Configuration } from '../core/config/schema.ts'
import { foldingOf } from '../core/operations/decide.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { Quote } from '../core/shared/quote.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { MarketRunner } from '../engine/market/market-runner.ts'
import { ProducerRunner } from '../engine/market/producer-runner.ts'
import { runDueTasks } from '../engine/market/schedule.ts'
import type { FeedListener, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'
import { AccountTracker, type AccountHistory } from './account.ts'
import { BACKTEST_NODE, BacktestEngine, type Prices } from './backtest-engine.ts'
import type { EventFeed, SurroundingEvents } from './log-feed.ts'
import { strategyOf, type Parameters, type Strategy, type StrategyName } from './strategies.ts'

export interface BacktestDependencies {
  readonly strategy: StrategyName
  readonly parameters?: Parameters
  /** Recorded bars, as fast as they are processed; a log has the events between them too. */
  readonly feed: MarketFeed & Partial<Pick<EventFeed, 'surroundingEvents'>>
  readonly producers: readonly Producer[]
  readonly settings: Configuration
  readonly version: string
  /** Trades only within this range; null for no limit. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Whether the kill switch is reset at every midnight. */
  readonly resetsDaily: boolean
  /** Errors of the feed, as messages for operators. */
  readonly onError: (message: string) => void
  /** Progress: the current time of the run. */
  readonly onTime?: (nowMs: number) => void
  readonly onEvents?: (events: readonly Stamped[]) => void
}

export interface BacktestResult {
  /** Of the traded range. */
  readonly firstOpenMs: number | null
  readonly lastCloseMs: number | null
  /** One per symbol and time. */
  readonly bars: number
  readonly resolutionSeconds: number | null
  readonly openPositions: number
  readonly account: AccountHistory
}

/**
 * The engine's own deciders, producers and schedule on recorded time. Decisions at the close of a bar are traded at the
 * open of the next one: that price is all that is known of it by then.
 */
export const backtest = async (dependencies: BacktestDependencies): Promise<BacktestResult> => {
  const run = new Run(dependencies)
  await run.start()
  try {
    while (!run.isOver()) await yieldToEventLoop()
  } finally {
    await dependencies.feed.stop()
  }
  return run.result()
}

/** The feed has no bars; the message says why. */
export class NoBarsError extends Error {
  override readonly name = 'NoBarsError'
}

class Run {
  readonly #dependencies: BacktestDependencies
  readonly #engine: BacktestEngine
  readonly #market: MarketRunner
  readonly #strategy: Strategy
  readonly #account = new AccountTracker()
  #settings: Configuration
  #isStarted: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #isPastEnd = false
  /** Trading starts here; null before the first bar. */
  #tradedFromMs: number | null = null
  #doneUpToMs = 0
  #decidedMs: number | null = null
  #firstOpenMs: number | null = null
  #lastCloseMs: number | null = null
  #bars = 0

  constructor(dependencies: BacktestDependencies) {
    this.#dependencies = dependencies
    this.#settings = dependencies.settings
    const configuration = (): Configuration => this.#settings
    const onError = (what: string, error?: unknown): void => this.#report(what, error)
    this.#engine = new BacktestEngine({
      configuration,
      version: dependencies.version,
      onEvents: (events) => {
        this.#account.record(events)
        dependencies.onEvents?.(events)
      },
    })
    this.#market = new MarketRunner({
      engine: this.#engine,
      feed: {
        ...withProducersFor(dependencies.feed, dependencies.strategy),
        start: (from, listener) => dependencies.feed.start(from, this.#tradingFirst(listener)),
      },
      producers: dependencies.strategy === 'brain' ? dependencies.producers : [],
      producerRunner: new ProducerRunner({ engine: this.#engine, clock: this.#engine, onError }),
      configuration,
      onError,
    })
    this.#strategy = strategyOf(dependencies.strategy, {
      engine: this.#engine,
      configuration,
      parameters: dependencies.parameters ?? {},
    })
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
    if (this.#failure !== null) throw this.#failure.error
    const { state, error } = this.#dependencies.feed.status()
    // Figures of half the bars would mislead.
    if (state === 'failing') throw new NoBarsError(error ?? 'the feed failed')
    return this.#isPastEnd || state === 'ended' || state === 'stopped'
  }

  result(): BacktestResult {
    return {
      firstOpenMs: this.#firstOpenMs,
      lastCloseMs: this.#lastCloseMs,
      bars: this.#bars,
      resolutionSeconds: this.#tradedFromMs === null ? null : this.#settings.market.bar_seconds,
      openPositions: this.#engine.state.trading.book.count,
      account: this.#account.history(),
    }
  }

  /** Trades at the open of bars before the market runner receives them. */
  #tradingFirst(listener: FeedListener): FeedListener {
    return {
      onBars: async (bars) => {
        if (this.#isPastEnd || this.#failure !== null) return
        try {
          await this.#process(bars, listener)
        } catch (error) {
          // An incomplete run is worthless: it ends, instead of taking the bars again.
          this.#failure = { error }
        }
      },
      // Only bars count, so that a file and a simulated market are traded alike.
      onTick: () => undefined,
      onError: (message) => this.#dependencies.onError(message),
    }
  }

  async #process(bars: readonly FeedBar[], listener: FeedListener): Promise<void> {
    const [first] = bars
    if (first === undefined) return
    const openMs = Date.parse(first.open_ts)
    const closeMs = Date.parse(first.close_ts)
    const { toMs } = this.#dependencies
    if (toMs !== null && closeMs > toMs) {
      this.#isPastEnd = true
      return
    }
    // Backfill arrives before the start is complete.
    if (!first.backfill) await this.#isStarted
    this.#tradedFromMs ??= await this.#start(openMs, first.resolution_s)
    this.#adaptTo(first.resolution_s)
    const isWarmUp = openMs < this.#tradedFromMs || first.backfill
    if (!isWarmUp) await this.#trade(bars, openMs)
    const events = this.#dependencies.feed.surroundingEvents?.() ?? NO_EVENTS
    this.#replay(events.before, closeMs)
    this.#engine.moveTo(closeMs)
    await listener.onBars(bars.map((bar) => ({ ...bar, backfill: isWarmUp })))
    this.#replay(events.after, closeMs)
    this.#strategy.addBars(bars)
    // A bar of one symbol may come after later ones of others.
    this.#doneUpToMs = Math.max(this.#doneUpToMs, closeMs)
    this.#dependencies.onTime?.(closeMs)
    if (isWarmUp) return
    this.#bars += bars.length
    this.#firstOpenMs ??= openMs
    this.#lastCloseMs = this.#doneUpToMs
    this.#account.close(this.#engine.state, openMs)
  }

  async #start(openMs: number, resolutionSeconds: number): Promise<number> {
    const { settings, version, fromMs } = this.#dependencies
    this.#settings = runSettings(settings, resolutionSeconds)
    this.#engine.moveTo(openMs)
    await this.#engine.execute({
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
    this.#account.start(this.#engine.state)
    this.#doneUpToMs = openMs
    return Math.max(fromMs ?? 0, openMs + WARM_UP_BARS * this.#settings.ta.bar_seconds * 1000)
  }

  /** A log may have bars of several lengths: the warm-up of a first start, then minutes. */
  #adaptTo(seconds: number): void {
    if (seconds === this.#settings.market.bar_seconds) return
    const { ta } = this.#settings
    this.#settings = { ...runSettings(this.#dependencies.settings, seconds), ta }
  }

  /** At the recorded time, limited to the close of the bars. */
  #replay(events: readonly Stamped[], closeMs: number): void {
    for (const event of events) {
      this.#engine.moveTo(Math.min(closeMs, Date.parse(event.recordedAt)))
      this.#engine.replay(event)
    }
  }

  /** From the last close to the next open: the same time, unless there is a gap. */
  async #trade(bars: readonly FeedBar[], openMs: number): Promise<void> {
    const { universe, market } = this.#settings
    const stepMs = market.bar_seconds * 1000
    const noPrices = pricesAtOpen(universe.symbols, [], openMs)
    for (let nowMs = this.#doneUpToMs; nowMs < openMs; nowMs += stepMs) await this.#decide(nowMs, noPrices)
    if (openMs >= this.#doneUpToMs) await this.#decide(openMs, pricesAtOpen(universe.symbols, bars, openMs))
  }

  /** Scheduled work, then the strategy. */
  async #decide(nowMs: number, prices: Prices): Promise<void> {
    const dependencies = { engine: this.#engine, configuration: () => this.#settings }
    const beforeMs = this.#decidedMs ?? nowMs - this.#settings.market.bar_seconds * 1000
    this.#engine.moveTo(nowMs, prices)
    if (dayNumberOf(nowMs) > dayNumberOf(beforeMs)) await this.#startDay()
    await runDueTasks(dependencies, beforeMs, nowMs)
    await this.#strategy.decide(beforeMs, nowMs)
    this.#decidedMs = nowMs
  }

  async #startDay(): Promise<void> {
    if (!this.#dependencies.resetsDaily || this.#engine.state.trading.killSwitch.level === 0) return
    const move = { level: 0, reason: 'a new day', operator: BACKTEST_NODE, surface: 'cli' } as const
    await this.#engine.execute({ kind: 'reset-kill-switch', move })
  }

  #report(what: string, error: unknown): void {
    if (error === undefined) this.#dependencies.onError(what)
    else this.#failure = { error: new Error(what, { cause: error }) }
  }
}

const NO_EVENTS: SurroundingEvents = { before: [], after: [] }

/** A symbol without a bar now cannot be traded now. */
const pricesAtOpen = (symbols: readonly string[], bars: readonly FeedBar[], openMs: number): Prices => {
  const prices = new Map<CanonicalSymbol, Quote | null>(
    symbols.map((symbol) => [canonicalSymbol(symbol), null]),
  )
  for (const { symbol, open } of bars)
    prices.set(canonicalSymbol(symbol), { price: priceFrom(open), atMs: openMs })
  return prices
}

const dayNumberOf = (ms: number): number => Math.floor(ms / DAY_MS)

/** Only the brain uses the feed's producers: rules use prices. */
const withProducersFor = (feed: MarketFeed, strategy: StrategyName): Omit<MarketFeed, 'start'> => ({
  name: feed.name,
  producers: strategy === 'brain' ? feed.producers : [],
  status: () => feed.status(),
  stop: () => feed.stop(),
})

/** Analysis bars before the first trade. */
export const WARM_UP_BARS = 200

/**
 * The operator's settings, with what a backtest needs: paper trading without approval and partial fills, and prices as
 * old as a bar.
 */
const runSettings = (given: Configuration, resolutionSeconds: number): Configuration => ({
  ...given,
  market: {
    ...given.market,
    bar_seconds: resolutionSeconds,
    max_mark_age_seconds: Math.max(given.market.max_mark_age_seconds, 2 * resolutionSeconds),
  },
  ta: { ...given.ta, bar_seconds: Math.max(given.ta.bar_seconds, resolutionSeconds) },
  settlement: {
    ...given.settlement,
    grace_seconds: Math.max(given.settlement.grace_seconds, resolutionSeconds),
  },
  execution: { ...given.execution, mode: 'paper', require_approval: false, paper_partial_fills: false },
})

/** The operator's settings for one symbol, whose own data then decide the regime. */
export const settingsForSymbol = (given: Configuration, symbol: string): Configuration => ({
  ...given,
  universe: { ...given.universe, symbols: [canonicalSymbol(symbol)] },
  brain: { ...given.brain, regime_symbol: canonicalSymbol(symbol) },
})
