import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { categoryOf } from '../../core/log/event.ts'
import { equityOf } from '../../core/trading/evolve.ts'
import { viewProducerStatus } from '../../core/views/producers.ts'
import { usdNumber } from '../../core/shared/money.ts'
import type { Engine } from '../../engine/engine.ts'
import { isoNow } from '../../engine/iso-now.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'
import type { HttpDependencies } from './dependencies.ts'
import { registerFeed } from './metrics-feed.ts'
import type { StreamHub } from './stream/hub.ts'
import type { Verification } from './verification.ts'

export interface Metrics {
  /** `route` is the pattern, not the path: its values are few. */
  observe(request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly durationMs: number
  }): void
  text(): Promise<string>
  readonly contentType: string
}

export const createMetrics = (
  house: Pick<HttpDependencies, 'engine' | 'clock' | 'configuration' | 'feedStatus'>,
  verification: Verification,
  streams: StreamHub,
): Metrics => {
  const { engine } = house
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Answered HTTP requests',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the routing of a request to the end of its answer',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  })
  registry.registerMetric(killSwitchLevel(engine))
  registry.registerMetric(queueLength(engine))
  registry.registerMetric(chainOk(verification))
  registry.registerMetric(eventsTotal(engine))
  registry.registerMetric(brainCyclesTotal(engine))
  registry.registerMetric(openPositions(engine))
  registry.registerMetric(equity(engine))
  registry.registerMetric(producerHealth(house))
  registry.registerMetric(streamClients(streams))
  registry.registerMetric(ordersOpen(engine))
  registerFeed(registry, house)
  return {
    observe: ({ method, route, status, durationMs }) => {
      requests.inc({ method, route, status })
      durations.observe({ method, route }, durationMs / 1000)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

const ordersOpen = (engine: Engine): Gauge =>
  new Gauge({
    name: 'svc_orders_open',
    help: 'Orders that something may still come of, by their state',
    labelNames: ['status'],
    registers: [],
    collect() {
      for (const status of OPEN_STATUSES)
        this.set(
          { status },
          engine.state.trading.orders.open.count((order) => order.status === status),
        )
    },
  })

const OPEN_STATUSES = ['submitting', 'open', 'partial', 'unknown'] as const

const killSwitchLevel = (engine: Engine): Gauge =>
  new Gauge({
    name: 'svc_kill_switch_level',
    help: '0 normal, 1 caution, 2 crisis, 3 lockdown',
    registers: [],
    collect() {
      this.set(engine.state.trading.killSwitch.level)
    },
  })

const queueLength = (engine: Engine): Gauge =>
  new Gauge({
    name: 'svc_queue_length',
    help: 'Commands that wait to be decided',
    registers: [],
    collect() {
      this.set(engine.queueLength)
    },
  })

const chainOk = (verification: Verification): Gauge =>
  new Gauge({
    name: 'svc_chain_ok',
    help: '1 unless a verification found the hash chain broken',
    registers: [],
    collect() {
      this.set(verification.chainOk ? 1 : 0)
    },
  })

const streamClients = (streams: StreamHub): Gauge =>
  new Gauge({
    name: 'svc_stream_clients',
    help: 'Clients that listen to the event stream',
    registers: [],
    collect() {
      this.set(streams.size)
    },
  })

/** Counted by the log, not by this process: a restart or another process changes nothing. */
const eventsTotal = (engine: Engine): Counter<'category'> =>
  new Counter({
    name: 'svc_events_total',
    help: 'Stored events by the first segment of their type',
    labelNames: ['category'],
    registers: [],
    async collect() {
      const counts = await countsOf(engine)
      if (counts === null) return
      this.reset()
      for (const [domain, count] of counts) this.inc({ category: categoryOf(domain) }, count)
    },
  })

/** From the same counts as `svc_events_total`: cycles are remembered by nothing else. */
const brainCyclesTotal = (engine: Engine): Counter =>
  new Counter({
    name: 'svc_brain_cycles_total',
    help: 'Brain cycles that ran to their end',
    registers: [],
    async collect() {
      const counts = await countsOf(engine)
      if (counts === null) return
      this.reset()
      this.inc(counts.get('brain.cycle') ?? 0)
    },
  })

const openPositions = (engine: Engine): Gauge =>
  new Gauge({
    name: 'svc_open_positions',
    help: 'Positions that are neither closed nor liquidated',
    registers: [],
    collect() {
      this.set(engine.state.trading.book.count)
    },
  })

const equity = (engine: Engine): Gauge =>
  new Gauge({
    name: 'svc_equity_usd',
    help: 'Cash, and what open positions would bring at their marks',
    registers: [],
    collect() {
      this.set(usdNumber(equityOf(engine.state.trading)))
    },
  })

/** One series per producer and health, so that an alert can name the health it is about. */
const producerHealth = ({
  engine,
  clock,
  configuration,
}: Pick<HttpDependencies, 'engine' | 'clock' | 'configuration'>): Gauge<'producer' | 'health'> =>
  new Gauge({
    name: 'svc_producer_health',
    help: '1 for the health that a producer has now',
    labelNames: ['producer', 'health'],
    registers: [],
    collect() {
      this.reset()
      const producers = viewProducerStatus(engine.state, {
        now: isoNow(clock),
        rules: configuration.current().karma,
      })
      for (const { name, health } of Object.values(producers)) this.set({ producer: name, health }, 1)
    },
  })

/** Null while the store does not answer: the last counts stand, and the other metrics are needed most then. */
const countsOf = async (engine: Engine): Promise<ReadonlyMap<string, number> | null> => {
  try {
    return await engine.log.countByDomain()
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null
    throw error
  }
}
