import { z } from 'zod'
import { ok } from '../results.ts'
import { defineRoute, type Service } from '../route.ts'
import { withinTime } from '../time-limit.ts'

const health = z.object({
  version: z.string(),
  uptime_seconds: z.number().min(0),
  db_size_bytes: z.int().min(0),
})

export const healthRoutes = [
  defineRoute({
    method: 'GET',
    path: '/health',
    access: 'public',
    operationId: 'getHealth',
    tag: 'Service',
    summary: 'Whether the service runs',
    response: health,
    example: { version: '1.0.0', uptime_seconds: 12.4, db_size_bytes: 262_144 },
    handler: async (_input, service) =>
      ok({
        version: service.version,
        uptime_seconds: Math.max(0, service.clock.now() - service.startedAtMs) / 1000,
        db_size_bytes: await sizeOf(service),
      }),
  }),
]

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
