import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { categoryOf } from '../../core/log/event.ts'
import { equityOf } from '../../core/trading/risk/account.ts'
import { viewProducerStatus } from '../../core/views/producers.ts'
import { usdNumber } from '../../core/shared/money.ts'
import type { Engine } from '../../engine/engine.ts'
import { isoNow } from '../../engine/iso-now.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'
import type { FeedReport, HttpDependencies } from './dependencies.ts'
import type { StreamHub } from './stream/hub.ts'
import type { Verification } from './verification.ts'

export interface Metrics {
  /** `route` is the pattern, not the path, so that the label has few values. */
  observe(request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly durationMs: number
  }): void
  text(): Promise<string>
  readonly contentType: string
}

/** One series of a metric: the values of its labels, and its value. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

export const createMetrics = (
  { engine, clock, configuration, feedStatus }: HttpDependencies,
  verification: Verification,
  streams: StreamHub,
): Metrics => {
  // The event loop is observed from the start, not from the first question.
  processMetrics()
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Answered HTTP requests',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the routing of a request to the end of its response',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers,
  })
  /** A gauge whose values are read on each scrape. A series that is no longer returned disappears. */
  const gauge = (name: string, help: string, labelNames: string[], read: () => readonly Sample[]): void => {
    const collect = function (this: Gauge): void {
      this.reset()
      for (const [labels, value] of read()) this.set(labels, value)
    }
    void new Gauge({ name, help, labelNames, registers, collect })
  }
  const plainGauge = (name: string, help: string, read: () => number): void =>
    gauge(name, help, [], () => [[{}, read()]])
  /** A gauge of this process's feed. A process without a feed has no series. */
  const feedGauge = (name: string, help: string, read: (status: FeedReport) => number | null): void =>
    gauge(name, help, ['feed'], () => {
      const status = feedStatus()
      const value = status && read(status)
      return status === null || value === null ? [] : [[{ feed: status.feed }, value]]
    })
  /** A counter that reads the log, so that it covers restarts and other processes. */
  const counter = (
    name: string,
    help: string,
    labelNames: string[],
    read: (counts: ReadonlyMap<string, number>) => readonly Sample[],
  ): void => {
    const collect = async function (this: Counter): Promise<void> {
      const counts = await countsOf(engine)
      if (counts === null) return
      this.reset()
      for (const [labels, value] of read(counts)) this.inc(labels, value)
    }
    void new Counter({ name, help, labelNames, registers, collect })
  }

  plainGauge(
    'svc_kill_switch_level',
    '0 normal, 1 caution, 2 crisis, 3 lockdown',
    () => engine.state.trading.killSwitch.level,
  )
  plainGauge('svc_queue_length', 'Commands that wait to be decided', () => engine.queueLength)
  plainGauge('svc_chain_ok', '1 unless a verification found the hash chain broken', () =>
    verification.chainOk ? 1 : 0,
  )
  plainGauge(
    'svc_open_positions',
    'Positions that are neither closed nor liquidated',
    () => engine.state.trading.book.count,
  )
  plainGauge('svc_equity_usd', 'Cash plus the value of open positions at their marks', () =>
    usdNumber(equityOf(engine.state.trading)),
  )
  plainGauge('svc_stream_clients', 'Connected clients of the event stream', () => streams.size)
  gauge('svc_orders_open', 'Orders that are not final, by status', ['status'], () =>
    OPEN_STATUSES.map((status) => [
      { status },
      engine.state.trading.orders.open.count((order) => order.status === status),
    ]),
  )
  // One series per producer and health, so that an alert can name the health.
  gauge('svc_producer_health', '1 for the current health of a producer', ['producer', 'health'], () => {
    const rules = configuration.current().karma
    const producers = viewProducerStatus(engine.state, { now: isoNow(clock), rules })
    return Object.values(producers).map(({ name, health }) => [{ producer: name, health }, 1])
  })
  feedGauge('svc_feed_up', '1 while prices arrive, 0 when the feed failed, ended or stopped', ({ state }) =>
    state === 'running' ? 1 : 0,
  )
  feedGauge('svc_feed_last_bar_age_seconds', 'Age of the newest bar', ({ lastBarAtMs }) =>
    lastBarAtMs === null ? null : (clock.now() - lastBarAtMs) / 1000,
  )
  feedGauge(
    'svc_feed_clock_offset_seconds',
    'Clock of the venue minus ours, where it is measured',
    ({ clockOffsetMs }) => (clockOffsetMs === null ? null : clockOffsetMs / 1000),
  )
  counter('svc_events_total', 'Stored events by the first segment of their type', ['category'], (counts) =>
    [...counts].map(([domain, count]) => [{ category: categoryOf(domain) }, count]),
  )
  counter('svc_brain_cycles_total', 'Brain cycles that ran to their end', [], (counts) => [
    [{}, counts.get('brain.cycle') ?? 0],
  ])
  return {
    observe: ({ method, route, status, durationMs }) => {
      requests.inc({ method, route, status })
      durations.observe({ method, route }, durationMs / 1000)
    },
    text: () => Registry.merge([processMetrics(), registry]).metrics(),
    contentType: registry.contentType,
  }
}

/**
 * Memory, processor time, event loop and garbage collection of this process. Their observers cannot be stopped, so a second
 * service in one process shares them: observers of its own would outlive it.
 */
const processMetrics = (): Registry => {
  if (observed === undefined) {
    observed = new Registry()
    collectDefaultMetrics({ register: observed })
  }
  return observed
}

let observed: Registry | undefined

const OPEN_STATUSES = ['submitting', 'open', 'partial', 'unknown'] as const

/** Null while the store does not answer: the last counts stay, because the other metrics are most needed then. */
const countsOf = async (engine: Engine): Promise<ReadonlyMap<string, number> | null> => {
  try {
    return await engine.log.countByDomain()
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null
    throw error
  }
}
