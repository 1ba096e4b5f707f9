import { resolve } from 'node:path'
import { createCcxtFeed } from '../adapters/feeds/ccxt/ccxt-feed.ts'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { pollEndpoint } from '../adapters/producers/http-poll/poll-endpoint.ts'
import { WARM_UP_BARS } from '../backtest/run.ts'
import type { Configuration } from '../core/config/schema.ts'
import { supportedVenue } from '../core/shared/venues.ts'
import type { Arrivals } from '../engine/market/arrivals.ts'
import { MarketRunner } from '../engine/market/market-runner.ts'
import { ProducerRunner } from '../engine/market/producer-runner.ts'
import { replaying } from '../engine/market/replay.ts'
import { startSchedule, type ScheduleDependencies } from '../engine/market/schedule.ts'
import type { ReplayTime } from '../engine/replay-time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Timer } from '../ports/timer.ts'
import { opening, type Environment } from './environment.ts'
import { openOwnCode, withOwnCode, type OwnCodeDependencies } from './own-code.ts'

export interface MarketDependencies extends OwnCodeDependencies {
  readonly timer: Timer
  /** Opens the feed of prices. Default: the feed of the settings. The simulator has its own. */
  readonly openFeed?: OpenFeed
  /** Time of the bars while a file is replayed. It was chosen when the service started. */
  readonly replay?: ReplayTime | null
}

/** Returns null if there is no feed. */
export type OpenFeed = (
  configuration: Configuration,
  timer: Timer,
  environment: Environment,
) => MarketFeed | null

export type NamedFeedStatus = FeedStatus & { readonly feed: string }

export interface RunningMarket {
  /** Status of this process's feed; null without one. */
  feedStatus(): NamedFeedStatus | null
  close(): Promise<void>
}

/** Opens the feed, the producers and the schedule. */
export const openMarket = (dependencies: MarketDependencies): Promise<RunningMarket> =>
  opening(async (closers) => {
    const { environment, engine, configuration, logger, timer } = dependencies
    const { clock } = environment
    const onError = (what: string, error?: unknown): void =>
      logger.warn(what, error === undefined ? {} : { error })
    const producerRunner = new ProducerRunner({ engine, clock, onError })
    const opened = isRestartNeeded(dependencies)
      ? null
      : (dependencies.openFeed ?? feedOf)(configuration(), timer, environment)
    if (isRestartNeeded(dependencies)) logger.error(RESTART_NEEDED)
    const { replay = null } = dependencies
    let runner: MarketRunner | null = null
    let arrivals: Arrivals | undefined
    let started: Promise<void> = Promise.resolve()
    const feed =
      opened === null || replay === null
        ? opened
        : replaying(opened, {
            engine,
            time: replay,
            configuration,
            runner: () => ({ arrivals: arrivals as Arrivals, started }),
            onError,
          })
    if (feed !== null) {
      const own = await openOwnCode(dependencies, producerRunner)
      closers.add(() => own.close())
      const marketRunner = new MarketRunner({
        engine,
        feed: withOwnCode(feed, own, engine, replay !== null),
        producers: BUILT_IN_PRODUCERS,
        producerRunner,
        configuration,
        onError,
      })
      // Starts in the background: the service must start even if the exchange is down or loading past bars takes long.
      runner = marketRunner
      arrivals = own.awaiting(marketRunner)
      started = marketRunner.start().then(
        () => logger.info(`the ${feed.name} feed is running`),
        (error: unknown) => logger.error(`could not start the ${feed.name} feed`, { error }),
      )
      closers.add(() => started)
      closers.add(() => marketRunner.close())
    }
    const feedStatus = (): ReturnType<RunningMarket['feedStatus']> => runner?.status() ?? null
    // The bars advance the time, and the due jobs run with them.
    if (replay !== null) return { feedStatus, close: () => closers.closeAll() }
    const poll = pollerOf(dependencies, producerRunner, onError)
    const fundingReportedBy = (): string | undefined => {
      const { venue } = configuration().execution
      return supportedVenue(venue)?.reportsFunding === true ? venue : undefined
    }
    const schedule = startSchedule({
      engine,
      timer,
      configuration,
      fundingReportedBy,
      poll,
      bars: arrivals,
      onError,
    })
    closers.add(() => schedule.close())
    return { feedStatus, close: () => closers.closeAll() }
  })

/** True if decisions follow another clock than the feed. A test has its own feed and clock. */
const isRestartNeeded = ({ openFeed, replay = null, configuration }: MarketDependencies): boolean =>
  openFeed === undefined && (configuration().market.feed === 'file') !== (replay !== null)

const RESTART_NEEDED =
  'market.feed has changed to or from file, which is replayed on the clock of its bars: restart the service'

const feedOf: OpenFeed = ({ market, ta }, timer, { home }) => {
  switch (market.feed) {
    case 'none':
      return null
    case 'simulated':
      return createSimulatedFeed({ settings: market, timer, sha256Hex })
    case 'file':
      return createFileFeed({
        settings: { ...market, file: resolve(home, market.file) },
        timer,
        historySeconds: WARM_UP_BARS * ta.bar_seconds,
      })
    case 'ccxt':
      return createCcxtFeed({
        exchange: market.exchange,
        barSeconds: market.bar_seconds,
        warmupHours: market.warmup_hours,
        timer,
      })
  }
}

const pollerOf =
  (
    { configuration, environment: { clock } }: MarketDependencies,
    runner: ProducerRunner,
    onError: (what: string, error: unknown) => void,
  ): ScheduleDependencies['poll'] =>
  async ({ name, registeredAt, domain, endpoint, schedule }, signal) => {
    const { producers, signals } = configuration()
    const rules = {
      domain,
      allowPrivateEndpoints: producers.allow_private_endpoints,
      timeoutMs: producers.poll_timeout_seconds * 1000,
      futureSkewSecondsMax: signals.max_future_skew_seconds,
    }
    const beganAtMs = clock.now()
    try {
      const result = await pollEndpoint(endpoint, rules, { clock, signal })
      // A poll that was aborted by a stop shows nothing about the producer.
      if (signal.aborted) return
      await runner.record({
        name,
        registeredAt,
        schedule,
        rows: result.status === 'rows' ? result.rows : [],
        end: ENDS[result.status],
        error: result.error,
        rejected: result.status === 'error' ? [] : result.rejected,
        durationMs: clock.now() - beganAtMs,
      })
    } catch (error) {
      onError(`could not poll ${name}`, error)
    }
  }

const ENDS = { rows: 'usable', degraded: 'unusable', error: 'error' } as const
