import { z } from 'zod'

export const PRODUCER_HEALTHS = ['unknown', 'ok', 'degraded', 'stale', 'error', 'quarantined'] as const

export const producerEvents = {
  'producer.registered.v1': z.object({
    name: z.string(),
    domain: z.string(),
    endpoint: z.string(),
    schedule: z.string(),
  }),
  'producer.removed.v1': z.object({ name: z.string() }),
  'producer.run.v1': z.object({
    name: z.string(),
    health: z.enum(PRODUCER_HEALTHS),
    prev_health: z.enum(PRODUCER_HEALTHS),
    events_published: z.int(),
    duration_ms: z.number(),
    error: z.string().nullable(),
    consecutive_failures: z.int(),
    quarantined_until: z.string().nullable(),
    rejected: z.array(z.object({ index: z.int(), reason: z.string() })),
  }),
} as const
