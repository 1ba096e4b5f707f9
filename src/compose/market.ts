import { resolve } from 'node:path'
import { reportsFunding } from '../adapters/brokers/ccxt/exchange.ts'
import { createCcxtFeed } from '../adapters/feeds/ccxt/ccxt-feed.ts'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { pollEndpoint } from '../adapters/producers/http-poll/poll-endpoint.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Engine } from '../engine/engine.ts'
import { MarketRunner } from '../engine/market/market-runner.ts'
import { ProducerRunner } from '../engine/market/producer-runner.ts'
import { startSchedule, type ScheduleDependencies } from '../engine/market/schedule.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { Logger } from '../ports/logger.ts'
import type { FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Timer } from '../ports/timer.ts'
import { opening } from './closers.ts'
import type { Environment } from './environment.ts'

export interface MarketDependencies {
  readonly surroundings: Environment
  readonly engine: Engine
  readonly configuration: () => Configuration
  readonly logger: Logger
  readonly timer: Timer
}

export interface RunningMarket {
  /** Null where there is no feed. */
  feedStatus(): (FeedStatus & { readonly feed: string }) | null
  close(): Promise<void>
}

/** Prices, producers and the clock: everything that makes the engine move by itself. */
export const openMarket = (parts: MarketDependencies): Promise<RunningMarket> =>
  opening(async (closers) => {
    const { surroundings, engine, configuration, logger, timer } = parts
    const { clock } = surroundings
    const onError = (what: string, error?: unknown): void =>
      logger.warn(what, error === undefined ? {} : { error })
    const producerRunner = new ProducerRunner({ engine, clock, onError })
    const feed = feedOf(configuration(), timer, surroundings)
    let desk: MarketRunner | null = null
    if (feed !== null) {
      const opened = new MarketRunner({
        engine,
        feed,
        producers: BUILT_IN_PRODUCERS,
        producerRunner,
        configuration,
        onError,
      })
      // In the background: an exchange that is down, or a past that takes a while, is no reason not to serve.
      desk = opened
      const started = opened.start().then(
        () => logger.info(`prices come from the ${feed.name} feed`),
        (error: unknown) => logger.error(`the ${feed.name} feed could not be started`, { error }),
      )
      closers.add(() => started)
      closers.add(() => opened.close())
    }
    const poll = pollerOf(parts, producerRunner, onError)
    const fundingReportedBy = (): string | undefined => {
      const { venue } = configuration().execution
      return reportsFunding(venue) ? venue : undefined
    }
    const schedule = startSchedule({ engine, timer, configuration, fundingReportedBy, poll, onError })
    closers.add(() => schedule.close())
    return { feedStatus: () => desk?.status() ?? null, close: () => closers.closeAll() }
  })

/** Null where there are no prices. */
const feedOf = ({ market }: Configuration, timer: Timer, { home }: Environment): MarketFeed | null => {
  switch (market.feed) {
    case 'none':
      return null
    case 'simulated':
      return createSimulatedFeed({ settings: market, timer, sha256Hex })
    case 'file':
      return createFileFeed({ settings: { ...market, file: resolve(home, market.file) }, timer })
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
    { configuration, surroundings: { clock } }: MarketDependencies,
    desk: ProducerRunner,
    onError: (what: string, error: unknown) => void,
  ): ScheduleDependencies['poll'] =>
  async ({ name, endpoint, schedule }, signal) => {
    const { producers, signals } = configuration()
    const rules = {
      allowPrivateEndpoints: producers.allow_private_endpoints,
      timeoutMs: producers.poll_timeout_seconds * 1000,
      futureSkewSecondsMax: signals.max_future_skew_seconds,
    }
    const beganAtMs = clock.now()
    try {
      const result = await pollEndpoint(endpoint, rules, { clock, signal })
      // What a stopping service broke off says nothing about the producer.
      if (signal.aborted) return
      await desk.record({
        name,
        schedule,
        rows: result.status === 'rows' ? result.rows : [],
        end: ENDS[result.status],
        error: result.error,
        rejected: result.status === 'error' ? [] : result.rejected,
        durationMs: clock.now() - beganAtMs,
      })
    } catch (error) {
      onError(`${name} could not be polled`, error)
    }
  }

const ENDS = { rows: 'usable', degraded: 'unusable', error: 'error' } as const
