import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Configuration } from '../core/config/schema.ts'
import { foldingOf } from '../core/operations/decide.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { timestampOf } from '../core/shared/brand.ts'
import type { Proposal } from '../core/brain/propose-trade.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { BRAIN } from '../core/strategies/built-in.ts'
import { BUILTIN_PRODUCERS, domainOfType } from '../core/signal-types/all.ts'
import { DAY_MS, msOf } from '../core/shared/time.ts'
import { MarketRunner } from '../engine/market/market-runner.ts'
import { ProducerRunner } from '../engine/market/producer-runner.ts'
import { runDueTasks } from '../engine/market/schedule.ts'
import type { FeedListener, MarketFeed } from '../ports/market-feed.ts'
import { AccountTracker } from './account.ts'
import { BACKTEST_NODE, BacktestEngine } from './backtest-engine.ts'
import { pricesAtOpen, type Prices } from './prices.ts'
import type { RecordedInput, SurroundingEvents } from './log-feed.ts'
import { OwnProducersInBacktest } from './own-producers.ts'
import type { BacktestDependencies, BacktestResult } from './run-dependencies.ts'
import { runSettings } from './run-settings.ts'
import { strategyOf, type Strategy, type StrategyName } from './strategies.ts'

/**
 * The engine's deciders, built-in producers, due tasks and cycles on recorded time. Decisions at the close of a bar are traded at the
 * open of the next one: that price is all that is known of it by then.
 */
export const backtest = async (dependencies: BacktestDependencies): Promise<BacktestResult> => {
  const run = new Run(dependencies)
  await run.start()
  try {
    while (!run.isOver()) await yieldToEventLoop()
  } finally {
    await dependencies.feed.stop()
    await run.close()
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
  readonly #ownProducers: OwnProducersInBacktest
  readonly #account = new AccountTracker()
  #settings: Configuration
  #isStarted: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #isRunning = false
  #isPastEnd = false
  /** Trading starts here; null before the first bar. */
  #tradedFromMs: number | null = null
  #doneUpToMs = 0
  #decidedMs: number | null = null
  #firstOpenMs: number | null = null
  #lastCloseMs: number | null = null
  #bars = 0
  /** Proposals of recorded strategies that wait for the next open of their symbol. */
  #recorded: Proposal[] = []
  readonly #isBrain: boolean
  readonly #fail = (error: unknown): void => {
    this.#failure = { error }
  }

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
        this.#ownProducers.record(events)
        dependencies.onEvents?.(events)
      },
      barEvents: dependencies.onEvents === undefined ? 'left-out' : 'made',
    })
    const producerRunner = new ProducerRunner({ engine: this.#engine, clock: this.#engine, onError })
    const isBrain = dependencies.strategy === BRAIN
    this.#isBrain = isBrain
    this.#market = new MarketRunner({
      engine: this.#engine,
      feed: {
        ...withProducersFor(dependencies.feed, dependencies.strategy),
        start: (from, listener) => dependencies.feed.start(from, this.#tradingFirst(listener)),
      },
      producers: isBrain ? dependencies.producers : [],
      producerRunner,
      configuration,
      onError,
    })
    this.#ownProducers = new OwnProducersInBacktest({
      engine: this.#engine,
      producerRunner,
      configuration,
      files: isBrain ? dependencies.ownProducers : undefined,
      onError,
    })
    this.#strategy = strategyOf(dependencies.strategy, {
      engine: this.#engine,
      configuration,
      parameters: dependencies.parameters ?? {},
      own: dependencies.own,
      onProposal: (proposal, isTaken) => {
        if (isTaken) this.#account.proposalTaken(proposal)
        else this.#account.proposalIgnored(proposal)
      },
    })
  }

  async start(): Promise<void> {
    this.#isStarted = this.#market.start()
    try {
      if (!this.#isRunning) await this.#isStarted
      this.#isRunning = true
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
    const unopened = this.#strategy.unopened()
    for (let count = 0; count < unopened; count += 1) this.#account.countHeldBack(['no_next_bar'])
    return {
      firstOpenMs: this.#firstOpenMs,
      lastCloseMs: this.#lastCloseMs,
      bars: this.#bars,
      resolutionSeconds: this.#tradedFromMs === null ? null : this.#settings.market.bar_seconds,
      openPositions: this.#engine.state.trading.book.count,
      signalDomains: this.#signalDomains(),
      ownProducers: this.#ownProducers.runs(),
      account: this.#account.history(),
    }
  }

  /** Domains of the producers that submitted at least one signal. */
  #signalDomains(): readonly string[] {
    const { registered, runs } = this.#engine.state.signals.producers
    const spoke = [...runs].filter(([, { eventsProduced }]) => eventsProduced > 0)
    const ofProducers = spoke.flatMap(
      ([name]) => BUILTIN_PRODUCERS[name]?.domain ?? registered.get(name)?.domain ?? [],
    )
    const latest = [...this.#engine.state.signals.latest.signals.values()]
    return [...new Set([...ofProducers, ...latest.map(({ type }) => domainOfType(type))])].toSorted()
  }

  async close(): Promise<void> {
    await this.#ownProducers.close()
  }

  /** Trades at the open of bars before the market runner receives them. */
  #tradingFirst(listener: FeedListener): FeedListener {
    return {
      onBars: (bars) => this.#take(bars, listener),
      // Only bars count, so that a file and a simulated market are traded alike.
      onTick: () => undefined,
      onError: (message) => this.#dependencies.onError(message),
    }
  }

  /** An incomplete run is worthless: it ends, instead of taking the bars again. */
  #take(bars: readonly FeedBar[], listener: FeedListener): Promise<void> | undefined {
    if (this.#isPastEnd || this.#failure !== null) return undefined
    return this.#process(bars, listener).catch(this.#fail)
  }

  #finish({ bars, openMs, closeMs, backfill }: BarGroup): void {
    this.#strategy.addBars(bars)
    // A bar of one symbol may come after later ones of others.
    this.#doneUpToMs = Math.max(this.#doneUpToMs, closeMs)
    this.#dependencies.onTime?.(closeMs, bars.length)
    if (backfill) return this.#account.warmUp(openMs, bars)
    this.#bars += bars.length
    this.#firstOpenMs ??= openMs
    this.#lastCloseMs = this.#doneUpToMs
    this.#account.close(this.#engine.account, openMs, bars)
  }

  async #process(bars: readonly FeedBar[], listener: FeedListener): Promise<void> {
    const [first] = bars
    if (first === undefined) return
    const openMs = msOf(timestampOf(first.open_ts))
    const closeMs = msOf(timestampOf(first.close_ts))
    const { toMs } = this.#dependencies
    if (toMs !== null && closeMs > toMs) {
      this.#isPastEnd = true
      return
    }
    // Backfill arrives before the start is complete.
    if (!first.backfill) {
      if (!this.#isRunning) await this.#isStarted
      this.#isRunning = true
    }
    this.#tradedFromMs ??= await this.#start(openMs, first.resolution_s)
    this.#adaptTo(first.resolution_s)
    const isWarmUp = openMs < this.#tradedFromMs || first.backfill
    const group = { bars, openMs, closeMs, backfill: isWarmUp }
    const trading = isWarmUp ? undefined : this.#trade(group)
    if (trading !== undefined) await trading
    const events = this.#dependencies.feed.surroundingEvents?.() ?? NO_EVENTS
    if (events.before.length > 0)
      await this.#replay(events.before, closeMs, (proposal) => this.#propose(proposal))
    this.#engine.moveTo(closeMs)
    await listener.onBars(marked(bars, isWarmUp))
    if (!isWarmUp && this.#ownProducers.isDue(closeMs)) await this.#ownProducers.take(bars)
    if (events.after.length > 0)
      await this.#replay(events.after, closeMs, (proposal) => {
        this.#recorded.push(proposal)
      })
    this.#finish(group)
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
    const { paper_fee_bps: feeBps, paper_slippage_bps: slippageBps } = this.#settings.execution
    const { l2_portfolio_heat_pct: heat, l3_max_drawdown_pct: drawdown } = this.#settings.kill_switch
    this.#account.start(this.#engine.state, { feeBps, slippageBps }, { heat, drawdown })
    this.#doneUpToMs = openMs
    return Math.max(fromMs ?? 0, openMs + WARM_UP_BARS * this.#settings.ta.bar_seconds * 1000)
  }

  /** A log may have bars of several lengths: the warm-up of a first start, then minutes. */
  #adaptTo(seconds: number): void {
    if (seconds === this.#settings.market.bar_seconds) return
    const { ta } = this.#settings
    this.#settings = { ...runSettings(this.#dependencies.settings, seconds), ta }
  }

  /**
   * Folds the inputs at their recorded time, at the latest when the cycle of these bars starts. Beside the brain, the
   * proposals of recorded strategies are inputs, which `onProposal` decides again.
   */
  async #replay(
    inputs: readonly RecordedInput[],
    closeMs: number,
    onProposal: (proposal: Proposal) => Promise<void> | void,
  ): Promise<void> {
    const limitMs = closeMs + this.#settings.brain.cycle_deadline_seconds * 1000
    const isTraded = this.#isBrain && this.#tradedFromMs !== null && closeMs >= this.#tradedFromMs
    for (const { event, proposal } of inputs) {
      this.#engine.moveTo(Math.min(limitMs, Date.parse(event.recordedAt)))
      if (proposal === null) this.#engine.replay(event)
      else if (isTraded) await onProposal(proposal)
    }
  }

  async #propose(proposal: Proposal): Promise<void> {
    await this.#engine.execute({ kind: 'propose-trade', proposal })
  }

  /** Proposes at this open what waited for an open of its symbol. */
  async #proposeRecorded(prices: Prices): Promise<void> {
    const waiting = this.#recorded
    this.#recorded = []
    for (const proposal of waiting) {
      if (prices.get(canonicalSymbol(proposal.symbol)) === null) this.#recorded.push(proposal)
      else await this.#propose(proposal)
    }
  }

  /** Decides at each step from the last close to this open. Without a gap that is one time. */
  #trade({ bars, openMs }: BarGroup): Promise<void> | undefined {
    if (openMs < this.#doneUpToMs) return undefined
    const prices = pricesAtOpen(this.#settings.universe.symbols, bars, openMs)
    return openMs === this.#doneUpToMs ? this.#decide(openMs, prices) : this.#tradeAfterGap(openMs, prices)
  }

  async #tradeAfterGap(openMs: number, prices: Prices): Promise<void> {
    const { universe, market } = this.#settings
    const noPrices = pricesAtOpen(universe.symbols, [], openMs)
    for (let nowMs = this.#doneUpToMs; nowMs < openMs; nowMs += market.bar_seconds * 1000)
      await this.#decide(nowMs, noPrices)
    await this.#decide(openMs, prices)
  }

  /** Scheduled work, then the strategy. `group`: the bars that open now. */
  async #decide(nowMs: number, prices: Prices): Promise<void> {
    const dependencies = { engine: this.#engine, configuration: () => this.#settings }
    const beforeMs = this.#decidedMs ?? nowMs - this.#settings.market.bar_seconds * 1000
    this.#engine.moveTo(nowMs, prices)
    if (dayNumberOf(nowMs) > dayNumberOf(beforeMs)) await this.#startDay()
    await runDueTasks(dependencies, beforeMs, nowMs)
    // A cycle of the service waits for the strategies, so their proposals come first.
    if (this.#recorded.length > 0) await this.#proposeRecorded(prices)
    const deciding = this.#strategy.decide(beforeMs, nowMs, prices)
    if (deciding !== undefined) await deciding
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

/** Bars that closed together. */
interface BarGroup {
  readonly bars: readonly FeedBar[]
  readonly openMs: number
  readonly closeMs: number
  /** True while the bars belong to the warm-up and are not traded. */
  readonly backfill: boolean
}

const marked = (bars: readonly FeedBar[], backfill: boolean): readonly FeedBar[] =>
  bars.every((bar) => bar.backfill === backfill) ? bars : bars.map((bar) => ({ ...bar, backfill }))

const NO_EVENTS: SurroundingEvents = { before: [], after: [] }

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
