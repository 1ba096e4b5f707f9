import type { FeedBar } from '../../core/market/bar.ts'
import { marketView } from '../../core/market/readings.ts'
import { barsLeftOver } from '../../core/reputation/settle-calls.ts'
import { BUILTIN_PRODUCERS } from '../../core/signal-types/all.ts'
import type { BaseRates } from '../../core/reputation/base-rates.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { FeedStart, FeedStatus, MarketFeed } from '../../ports/market-feed.ts'
import type { Producer } from '../../ports/producer.ts'
import type { Executor } from '../executor.ts'
import type { ProducerRunner } from './producer-runner.ts'
import { TickMonitor } from './tick-monitor.ts'

export interface MarketDeskDependencies {
  readonly engine: Executor
  readonly feed: MarketFeed
  /** Those that every feed can supply; the feed may bring more. */
  readonly producers: readonly Producer[]
  readonly producerDesk: ProducerRunner
  readonly configuration: () => Configuration
  /** Something an operator may want to know. */
  readonly onError: (what: string, error?: unknown) => void
}

/** Stores what the feed tells, and lets the built-in producers look at it whenever their time has come. */
export class MarketRunner {
  readonly #parts: MarketDeskDependencies
  readonly #producers: readonly Producer[]
  readonly #tickDesk: TickMonitor
  #producedUpToMs = 0
  #hasBars = false

  constructor(parts: MarketDeskDependencies) {
    this.#parts = parts
    this.#producers = [...parts.producers, ...parts.feed.producers]
    this.#tickDesk = new TickMonitor(parts)
  }

  /** Resolves when the past is stored and everybody had a first look at it. */
  async start(): Promise<void> {
    const { feed, onError } = this.#parts
    // What a stop came between.
    await this.#judgeRest(this.#parts.engine.state.reputation.calls.rates)
    await feed.start(this.#whereToGoOn(), {
      onBars: (bars) => this.#take(bars),
      onTick: (tick) => this.#tickDesk.take(tick),
      onError: (message) => onError(`feed ${feed.name}: ${message}`),
    })
    // What only the feed can supply begins with its first bars: after a short stop there are none yet.
    await this.#produce(this.#hasBars ? this.#producers : this.#parts.producers)
  }

  status(): FeedStatus & { readonly feed: string } {
    return { feed: this.#parts.feed.name, ...this.#parts.feed.status() }
  }

  async close(): Promise<void> {
    await this.#parts.feed.stop()
    await this.#tickDesk.settled()
  }

  #whereToGoOn(): FeedStart {
    const { engine, configuration } = this.#parts
    const { symbols } = configuration().universe
    const lastBars = symbols.flatMap((symbol): readonly (readonly [string, FeedBar])[] => {
      const known = engine.state.market.symbols.get(canonicalSymbol(symbol))
      return known === undefined ? [] : [[symbol, known.last]]
    })
    return {
      symbols,
      segment: Math.max(1, engine.state.operations.nodes.starts),
      lastBars: new Map(lastBars),
    }
  }

  async #take(bars: readonly FeedBar[]): Promise<void> {
    const { engine, feed, onError } = this.#parts
    try {
      for (const some of isPast(bars) ? [bars] : inParts(bars)) {
        const { rates } = engine.state.reputation.calls
        await engine.execute({ kind: 'observe-bars', observation: { feed: feed.name, bars: some } })
        await this.#judgeRest(rates)
      }
    } catch (error) {
      // The feed goes on: the next bars may be stored again, and these are filled in where the feed can.
      return onError('bars could not be stored', error)
    }
    this.#hasBars = true
    if (isPast(bars)) return
    const closeMs = Math.max(...bars.map(({ close_ts }) => Date.parse(close_ts)))
    const before = this.#producedUpToMs
    await this.#produce(
      this.#producers.filter(({ name }) => {
        const schedule = BUILTIN_PRODUCERS[name]?.schedule ?? null
        return schedule !== null && firesBetween(schedule, before, closeMs)
      }),
    )
  }

  /** A bar may decide more calls than one batch holds. They do not wait for the next one. */
  async #judgeRest(rates: BaseRates): Promise<void> {
    const { engine } = this.#parts
    let isAnyJudged = true
    while (isAnyJudged) {
      isAnyJudged = false
      for (const bar of barsLeftOver(engine.state)) {
        const outcome = await engine.execute({ kind: 'settle-bar', bar: { ...bar, rates } })
        isAnyJudged ||= outcome.status === 'done' && outcome.events.length > 0
      }
    }
  }

  async #produce(due: readonly Producer[]): Promise<void> {
    const { engine, producerDesk, configuration } = this.#parts
    const view = marketView(engine.state.market, configuration().universe.symbols)
    if (view.symbols.length === 0) return
    for (const producer of due) await producerDesk.runBuiltIn(producer, view)
    this.#producedUpToMs = view.asOfMs
  }
}

const isPast = (bars: readonly FeedBar[]): boolean => bars.every(({ backfill }) => backfill)

/** Of a large universe: a price that reaches a stop does not wait until all of it has been looked at. */
const BARS_AT_ONCE = 50

function* inParts(bars: readonly FeedBar[]): Generator<readonly FeedBar[]> {
  for (let from = 0; from < bars.length; from += BARS_AT_ONCE) yield bars.slice(from, from + BARS_AT_ONCE)
}
