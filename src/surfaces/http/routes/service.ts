import { z } from 'zod'
import { ok, okJsonText, okText } from '../results.ts'
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
      return ok({
        version: service.version,
        uptime_seconds: Math.max(0, service.clock.now() - service.startedAtMs) / 1000,
        db_size_bytes: await sizeOf(service),
      })
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
