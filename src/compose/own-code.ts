import { payloadOf } from '../core/log/payload.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { PayloadOf } from '../core/events/catalogue.ts'
import { marketEvents } from '../core/events/market.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { StrategyError } from '../core/strategies/strategy.ts'
import type { ProducerRunner } from '../engine/market/producer-runner.ts'
import type { Arrivals } from '../engine/market/arrivals.ts'
import { OwnProducerRunner } from '../engine/market/own-producer-runner.ts'
import { storedBars } from '../engine/market/own-task.ts'
import { StrategyRunner, type StrategyRunnerDependencies } from '../engine/market/strategy-runner.ts'
import type { Executor } from '../engine/plan.ts'
import { readPages } from '../engine/read-pages.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import type { Environment } from './environment.ts'
import { assertTradable, findOwnProducers, ownProducer, strategyNamed } from './strategies.ts'

export interface OwnCodeDependencies {
  readonly environment: Environment
  readonly engine: Executor & { readonly log: Pick<EventLog, 'read'> }
  readonly configuration: () => Configuration
  readonly logger: Logger
  /** Finds the user's producers. Default: those in the home folder. The simulator reads no files. */
  readonly findProducers?: typeof findOwnProducers
  /** Opens a strategy of the settings. Default: the file of that name, in a process of its own.. */
  readonly openStrategy?: StrategyRunnerDependencies['open']
}

/** The user's own strategies and producers, running in the leading process. */
export interface RunningOwnCode {
  /** Announces bars before they are stored: see `OwnProducerRunner`. */
  expect(bars: readonly FeedBar[]): () => void
  /** Runs strategies and producers on these bars, calls `onProduced`, and resolves. */
  take(bars: readonly FeedBar[], onProduced: () => void): Promise<void>
  /** Waits for the bars and producers of `bars`, and then for the user's producers. */
  awaiting(bars: Arrivals): Arrivals
  close(): Promise<void>
}

export const openOwnCode = async (
  {
    environment: { home, clock },
    engine,
    configuration,
    logger,
    findProducers = findOwnProducers,
    openStrategy,
  }: OwnCodeDependencies,
  producerRunner: ProducerRunner,
): Promise<RunningOwnCode> => {
  // An error of the user's strategy is logged without our stack trace.
  const onError = (what: string, error: unknown): void =>
    error instanceof StrategyError ? logger.warn(`${what}: ${error.message}`) : logger.warn(what, { error })
  const onOutput = (text: string): void => logger.info(`own code printed: ${text.trimEnd()}`)
  const strategies = new StrategyRunner({
    engine,
    clock,
    configuration,
    producerRunner,
    open:
      openStrategy ??
      (async (name, parameters) => {
        assertTradable(name)
        const source = await strategyNamed(name, { home, isBacktest: false, onOutput })
        return source.open(parameters, { analysisSeconds: () => configuration().ta.bar_seconds })
      }),
    pastBars: (untilMs, lengthMs) => pastBars(engine.log, untilMs, lengthMs),
    onFailure: (name, error) => onError(`the strategy ${name} failed`, error),
    onError,
  })
  const producers = new OwnProducerRunner({
    engine,
    clock,
    configuration,
    producerRunner,
    names: (await findProducers(home)).map(({ name }) => name),
    open: (name) => ownProducer(name, { home, isBacktest: false, onOutput }),
    onFailure: (name, error) => onError(`the producer ${name} failed`, error),
    onError,
  })
  return {
    expect: (bars) => producers.expect(bars),
    awaiting: (bars) => ({
      arrived: async (closeMs) => {
        await bars.arrived(closeMs)
        await producers.arrived(closeMs)
      },
      arrivedBy: (closeMs) => {
        const { bar, ...builtIn } = bars.arrivedBy(closeMs)
        const own = producers.arrivedBy(closeMs)
        return {
          bar,
          producers: [...builtIn.producers, ...own.producers],
          late_producers: [...builtIn.late_producers, ...own.late_producers],
        }
      },
    }),
    take: async (bars, onProduced) => {
      // A cycle waits for both, up to its deadline: what a strategy opened or closed at this bar is part of what the brain
      // knows, in the same order as in a replay of the log.
      await Promise.all([strategies.take(bars), producers.take(bars)]).finally(onProduced)
    },
    close: async () => {
      await Promise.all([strategies.close(), producers.close()])
    },
  }
}

/**
 * The feed, followed by the user's own code after each stored bar. A live feed does not wait for that code; a replay and a backtest do.
 */
export const withOwnCode = (
  feed: MarketFeed,
  own: Pick<RunningOwnCode, 'expect' | 'take'>,
  engine: Pick<Executor, 'state'>,
  isReplay: boolean,
): MarketFeed => ({
  name: feed.name,
  producers: feed.producers,
  status: () => feed.status(),
  stop: () => feed.stop(),
  start: (from, listener) =>
    feed.start(from, {
      ...listener,
      onBars: async (bars) => {
        const end = own.expect(bars)
        try {
          await listener.onBars(bars)
        } catch (error) {
          end()
          throw error
        }
        const taken = own.take(storedBars(bars, engine), end)
        if (isReplay) await taken
      },
    }),
})

const PAGE = 1000
const PAST_BARS_MAX = 50_000

/** Past bars, read from the log newest first until they reach back far enough. */
const pastBars = async (
  log: Pick<EventLog, 'read'>,
  untilMs: number,
  lengthMs: number,
): Promise<readonly FeedBar[]> => {
  const found: FeedBar[] = []
  for await (const records of readPages(log, { types: ['market.bar'], order: 'desc', limit: PAGE })) {
    const bars = records.flatMap((record) => {
      const bar = marketEvents['market.bar.v1'].safeParse(payloadOf(record)).data
      return bar === undefined ? [] : [feedBar(bar)]
    })
    found.push(...bars.filter((bar) => Date.parse(bar.close_ts) <= untilMs))
    const oldest = bars.at(-1)
    const isFarEnough = oldest !== undefined && Date.parse(oldest.open_ts) <= untilMs - lengthMs
    if (isFarEnough || found.length >= PAST_BARS_MAX) break
  }
  return found.toReversed()
}

const feedBar = ({ feed: _feed, ...bar }: PayloadOf<'market.bar.v1'>): FeedBar => bar
