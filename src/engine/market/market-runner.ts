import { reportedBar, type FeedBar } from '../../core/market/bar.ts'
import { marketView } from '../../core/market/readings.ts'
import { barsLeftOver, SETTLED_AT_ONCE_MAX } from '../../core/reputation/settle-calls.ts'
import { mayRun } from '../../core/signals/producers.ts'
import { BUILTIN_PRODUCERS } from '../../core/signal-types/all.ts'
import type { BaseRates } from '../../core/reputation/base-rates.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampOf } from '../../core/shared/brand.ts'
import { isFromFuture, msOf, timestampAt } from '../../core/shared/time.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { FeedStart, FeedStatus, MarketFeed } from '../../ports/market-feed.ts'
import type { Producer } from '../../ports/producer.ts'
import type { Executor } from '../plan.ts'
import { NOTHING_AWAITED, type Arrivals, type Awaited } from './arrivals.ts'
import type { ProducerRunner } from './producer-runner.ts'
import { TickMonitor } from './tick-monitor.ts'

export interface MarketRunnerDependencies {
  readonly engine: Executor
  readonly feed: MarketFeed
  /** Producers that work with any feed. The feed may add more. */
  readonly producers: readonly Producer[]
  readonly producerRunner: ProducerRunner
  readonly configuration: () => Configuration
  readonly onError: (what: string, error?: unknown) => void
}

/** Producers that were due with bars of one time. */
interface ProducerRound {
  readonly closeMs: number
  readonly due: readonly string[]
  readonly finished: Set<string>
}

const roundOf = (closeMs: number, due: readonly string[]): ProducerRound => ({
  closeMs,
  due,
  finished: new Set(),
})

/** Stores the bars of the feed and runs the built-in producers on their schedules. */
export class MarketRunner implements Arrivals {
  readonly #dependencies: MarketRunnerDependencies
  readonly #producers: readonly Producer[]
  readonly #scheduled: readonly { readonly producer: Producer; readonly schedule: string }[]
  readonly #tickMonitor: TickMonitor
  #producedUpToMs = 0
  #hasBars = false
  #isStarted = false
  /** Time up to which bars are stored and their producers have run. */
  #doneUpToMs = 0
  #round = roundOf(0, [])
  /** The current waiter. A new one replaces it, because it no longer needs the earlier bars. */
  #waiting: { readonly closeMs: number; readonly resolve: () => void } | null = null

  constructor(dependencies: MarketRunnerDependencies) {
    this.#dependencies = dependencies
    this.#producers = [...dependencies.producers, ...dependencies.feed.producers]
    this.#scheduled = this.#producers.flatMap((producer) => {
      const schedule = BUILTIN_PRODUCERS[producer.name]?.schedule ?? null
      return schedule === null ? [] : [{ producer, schedule }]
    })
    this.#tickMonitor = new TickMonitor(dependencies)
  }

  /** Resolves once past bars are stored and every producer has run on them. */
  async start(): Promise<void> {
    const { feed, onError } = this.#dependencies
    // The process may have stopped between a bar and the settlement of its calls.
    await this.#settleRest(this.#dependencies.engine.state.reputation.calls.rates)
    await feed.start(this.#feedStart(), {
      onBars: (bars) => this.#take(bars),
      onTick: (tick) => this.#tickMonitor.take(tick),
      onError: (message) => onError(`feed ${feed.name}: ${message}`),
    })
    // Producers of the feed start with its first bars, which are missing after a short stop.
    await this.#produce(this.#hasBars ? this.#producers : this.#dependencies.producers)
    this.#isStarted = true
    this.#answerWaiting()
  }

  arrived(closeMs: number): Promise<void> {
    if (!this.#expectsBars(closeMs) || this.#isDone(closeMs)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting = { closeMs, resolve }
    })
  }

  arrivedBy(closeMs: number): Awaited {
    if (!this.#expectsBars(closeMs)) return NOTHING_AWAITED
    const { due, finished } =
      this.#round.closeMs === closeMs ? this.#round : roundOf(closeMs, this.#allowed(this.#dueUpTo(closeMs)))
    return {
      bar: this.#hasAllBars(closeMs) ? 'stored' : 'late',
      producers: due.filter((name) => finished.has(name)),
      late_producers: due.filter((name) => !finished.has(name)),
    }
  }

  status(): FeedStatus & { readonly feed: string } {
    return { feed: this.#dependencies.feed.name, ...this.#dependencies.feed.status() }
  }

  async close(): Promise<void> {
    await this.#dependencies.feed.stop()
    await this.#tickMonitor.settled()
  }

  #feedStart(): FeedStart {
    const { engine, configuration, producerRunner } = this.#dependencies
    const { symbols } = configuration().universe
    const lastBars = symbols.flatMap((symbol): readonly (readonly [string, FeedBar])[] => {
      const known = engine.state.market.symbols.get(canonicalSymbol(symbol))
      return known === undefined ? [] : [[symbol, untilNow(reportedBar(known.last), producerRunner.now())]]
    })
    return {
      symbols,
      segment: Math.max(1, engine.state.operations.nodes.starts),
      lastBars: new Map(lastBars),
    }
  }

  async #take(bars: readonly FeedBar[]): Promise<void> {
    const { engine, feed, onError } = this.#dependencies
    try {
      for (const some of isPast(bars) ? [bars] : inChunks(bars)) {
        const { rates } = engine.state.reputation.calls
        const answer = engine.execute({
          kind: 'observe-bars',
          observation: { feed: feed.name, bars: some },
        })
        const outcome = answer instanceof Promise ? await answer : answer
        // Only a batch with that many events may have left calls unsettled.
        if (outcome.status === 'done' && outcome.events.length >= SETTLED_AT_ONCE_MAX)
          await this.#settleRest(rates)
      }
    } catch (error) {
      // The feed continues. Later bars can be stored again, and some feeds can fill the gap.
      return onError('could not store bars', error)
    }
    this.#hasBars = true
    const closeMs = bars.reduce((latest, { close_ts }) => Math.max(latest, msOf(timestampOf(close_ts))), 0)
    const due = isPast(bars) ? NONE : this.#dueUpTo(closeMs)
    if (due.length > 0) await this.#produce(due, closeMs)
    this.#doneUpToMs = Math.max(this.#doneUpToMs, closeMs)
    this.#answerWaiting()
  }

  /** Producers that run on bars that close at `closeMs`. */
  #dueUpTo(closeMs: number): readonly Producer[] {
    const before = this.#producedUpToMs
    const due: Producer[] = []
    for (const { producer, schedule } of this.#scheduled)
      if (firesBetween(schedule, before, closeMs)) due.push(producer)
    return due
  }

  /**
   * Whether bars are still expected. A file that was read to its end has no more, but one that cannot be read now may
   * have some later.
   */
  #expectsBars(closeMs: number): boolean {
    const { feed, configuration } = this.#dependencies
    const { state } = feed.status()
    if (state === 'ended' || state === 'stopped') return false
    return closeMs % (configuration().market.bar_seconds * 1000) === 0
  }

  #isDone(closeMs: number): boolean {
    return this.#isStarted && this.#doneUpToMs >= closeMs && this.#hasAllBars(closeMs)
  }

  /** Whether all symbols that had the previous bar have this one. Symbols without recent bars are not waited for. */
  #hasAllBars(closeMs: number): boolean {
    const { engine, configuration } = this.#dependencies
    const { universe, market } = configuration()
    const beforeMs = closeMs - market.bar_seconds * 1000
    const closes = universe.symbols.flatMap((symbol) => {
      const known = engine.state.market.symbols.get(canonicalSymbol(symbol))
      return known === undefined ? [] : [Date.parse(known.last.close_ts)]
    })
    return (
      closes.some((lastMs) => lastMs >= closeMs) &&
      closes.every((lastMs) => lastMs >= closeMs || lastMs < beforeMs)
    )
  }

  #answerWaiting(): void {
    if (this.#waiting === null || !this.#isDone(this.#waiting.closeMs)) return
    this.#waiting.resolve()
    this.#waiting = null
  }

  /** Settles calls beyond the limit of one batch, so that they do not wait for the next bar. */
  async #settleRest(rates: BaseRates): Promise<void> {
    const { engine } = this.#dependencies
    let isAnySettled = true
    while (isAnySettled) {
      isAnySettled = false
      for (const bar of barsLeftOver(engine.state)) {
        const outcome = await engine.execute({ kind: 'settle-bar', bar: { ...bar, rates } })
        isAnySettled ||= outcome.status === 'done' && outcome.events.length > 0
      }
    }
  }

  /** Runs the due producers on bars that close at `closeMs`. */
  async #produce(due: readonly Producer[], closeMs = 0): Promise<void> {
    // Without due producers no market view is needed.
    if (due.length === 0) return
    const { engine, producerRunner, configuration } = this.#dependencies
    const view = marketView(engine.state.market, configuration().universe.symbols, producerRunner.now())
    if (view.symbols.length === 0) return
    const round = this.#beginRound(closeMs, due)
    for (const producer of due) {
      await producerRunner.runBuiltIn(producer, view)
      round.finished.add(producer.name)
    }
    this.#producedUpToMs = view.asOfMs
  }

  /** Bars of one time may arrive one after the other. */
  #beginRound(closeMs: number, due: readonly Producer[]): ProducerRound {
    if (closeMs !== this.#round.closeMs || due.length > 0) this.#round = roundOf(closeMs, this.#allowed(due))
    return this.#round
  }

  /** Producers in quarantine do not run and are not waited for. */
  #allowed(producers: readonly Producer[]): readonly string[] {
    const { engine, producerRunner } = this.#dependencies
    const { runs } = engine.state.signals.producers
    const now = timestampAt(producerRunner.now())
    return producers.filter(({ name }) => mayRun(runs.get(name), now)).map(({ name }) => name)
  }
}

/**
 * The bar from which the feed continues. After a bar from the future it continues from now, with the prices of that
 * bar.
 */
const untilNow = (bar: FeedBar, nowMs: number): FeedBar => {
  if (!isFromFuture(Date.parse(bar.close_ts), nowMs)) return bar
  const lengthMs = bar.resolution_s * 1000
  const closeMs = Math.floor(nowMs / lengthMs) * lengthMs
  return { ...bar, open_ts: timestampAt(closeMs - lengthMs), close_ts: timestampAt(closeMs) }
}

const NONE: readonly Producer[] = []

const isPast = (bars: readonly FeedBar[]): boolean => bars.every(({ backfill }) => backfill)

/** In a large universe, a price that reaches a stop must not wait until all bars are handled. */
const BARS_AT_ONCE = 50

const inChunks = (bars: readonly FeedBar[]): readonly (readonly FeedBar[])[] =>
  bars.length <= BARS_AT_ONCE
    ? [bars]
    : Array.from({ length: Math.ceil(bars.length / BARS_AT_ONCE) }, (_, index) =>
        bars.slice(index * BARS_AT_ONCE, (index + 1) * BARS_AT_ONCE),
      )
