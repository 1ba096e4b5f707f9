import { z } from 'zod'
import { steadyNowOf } from '../dependencies.ts'
import { tradeReadiness } from '../readiness.ts'
import { ok, okJsonText, okText, refused } from '../results.ts'
import { STARTED_HEADER } from '../../started-header.ts'
import { route, routes, type Service } from '../route.ts'
import { withinTime } from '../time-limit.ts'

export const serviceRoutes = routes('Service', {
  getHealth: route('GET', '/health', 'public', {
    summary: 'Whether the service runs',
    response: z.object({
      version: z.string(),
      uptime_seconds: z.number().min(0),
      db_size_bytes: z.int().min(0),
    }),
    example: { version: '1.0.0', uptime_seconds: 12.4, db_size_bytes: 262_144 },
    handler: async (_input, service) => {
      // A service that can store nothing is not well, however quickly it answers.
      if (service.engine.lost !== null) throw service.engine.lost
      const body = {
        version: service.version,
        uptime_seconds: Math.max(0, steadyNowOf(service) - service.startedAtMs) / 1000,
        db_size_bytes: await sizeOf(service),
      }
      return ok(body, { headers: { [STARTED_HEADER]: String(service.startedAtMs) } })
    },
  }),
  getLiveness: route('GET', '/live', 'public', {
    atRoot: true,
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether the process answers at all',
    description: 'For whoever restarts processes that hang.',
    response: z.object({ live: z.literal(true) }),
    example: { live: true },
    handler: () => ok({ live: true }),
  }),
  getReadiness: route('GET', '/ready', 'public', {
    atRoot: true,
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether requests should be sent here',
    description:
      'For load balancers. 503 with `reasons` while the service starts (`starting`), stops (`draining`) or cannot reach ' +
      'its store (`store_unavailable`). `leading`: whether this process drives feeds, schedule and venues.',
    response: z.object({ ready: z.literal(true), leading: z.boolean() }),
    example: { ready: true, leading: true },
    problems: ['server.not_ready'],
    handler: async (_input, { readiness, leads }) => {
      const reasons = await readiness.reasons()
      if (reasons.length === 0) return ok({ ready: true, leading: leads() })
      return refused('server.not_ready', 'Send requests to another process', {
        extras: { reasons: [...reasons] },
      })
    },
  }),
  getTradeReadiness: route('GET', '/ready', 'public', {
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether trades can be decided here',
    description:
      'For scripts and monitors. 503 with `reasons`: those of `/ready` at the root, `not_leading` while another process ' +
      'leads, and `no_price` while a feed runs and a symbol of `universe.symbols` has no recent price; `detail` names the ' +
      'symbols. Load balancers use `/ready` at the root.',
    response: z.object({ ready: z.literal(true) }),
    example: { ready: true },
    problems: ['server.not_ready'],
    handler: async (_input, service) => {
      const { reasons, detail } = await tradeReadiness(service, service.readiness)
      if (reasons.length === 0) return ok({ ready: true })
      return refused('server.not_ready', `Not ready: ${detail}`, { extras: { reasons: [...reasons] } })
    },
  }),
  getMetrics: route('GET', '/metrics', 'read', {
    atRoot: true,
    publicWhile: ({ metrics }) => metrics.public,
    summary: 'Metrics for Prometheus',
    description: 'Public while `metrics.public` is set.',
    response: z.string(),
    responseType: 'text/plain',
    example: '# TYPE svc_kill_switch_level gauge\nsvc_kill_switch_level 0\n',
    handler: async (_input, { metrics }) => okText(await metrics.text(), metrics.contentType),
  }),
  getOpenApi: route('GET', '/openapi.json', 'public', {
    atRoot: true,
    summary: 'This documentation as OpenAPI 3.1',
    response: z.looseObject({ openapi: z.string() }),
    example: { openapi: '3.1.0', info: { title: 'Signal Engine API', version: '1.0.0' }, paths: {} },
    handler: async (_input, { openApiText }) => okJsonText(await openApiText()),
  }),
})

/** All that a process without an API answers: whether it runs, and how. */
export const probeRoutes = serviceRoutes.filter(({ operationId }) => operationId !== 'getOpenApi')

/** A slow store must not make the service look dead. */
const SIZE_TIMEOUT_MS = 1000

/** 0 if unknown. */
const sizeOf = async ({ engine, logger }: Service): Promise<number> => {
  try {
    const size = await withinTime(engine.log.sizeBytes(), SIZE_TIMEOUT_MS, (error) =>
      logger.warn('could not read the size of the store', { error }),
    )
    return size.status === 'done' ? size.value : 0
  } catch (error) {
    // The service itself runs, whatever is wrong with the store.
    logger.warn('could not read the size of the store', { error })
    return 0
  }
}
