import { z } from 'zod'
import { integrityView, viewIntegrity } from '../../../core/views/log.ts'
import { ok } from '../results.ts'
import { EVENT_RECORD } from '../examples.ts'
import { integer } from '../fields.ts'
import { defineRoute } from '../route.ts'

export const integrityRoutes = [
  defineRoute({
    method: 'GET',
    path: '/integrity',
    operationId: 'verifyIntegrity',
    tag: 'Events',
    summary: 'Verify the hash chain and the signatures',
    description:
      '`full` recomputes the whole log and may take long; a request while one runs gets its result. ' +
      'A broken chain is also answered with 200.',
    query: z.object({
      mode: z.enum(['fast', 'full']).default('fast').meta({ description: 'the newest events, or all' }),
      n: integer(100, { min: 1, max: 100_000 }, 'how many of the newest events `fast` checks'),
    }),
    response: integrityView.meta({ id: 'Integrity' }),
    example: {
      ok: true,
      mode: 'fast',
      checked: 100,
      event_count: 512,
      first_bad_id: null,
      first_bad_seq: null,
      reason: null,
      head_seq: 512,
      head_hash: EVENT_RECORD.hash,
      elapsed_ms: 4,
    },
    mayTakeLong: ({ query }) => query.mode === 'full',
    handler: async ({ query }, { verification }) => ok(viewIntegrity(await verification.verify(query))),
  }),
  defineRoute({
    method: 'GET',
    path: '/integrity/progress',
    operationId: 'getVerificationProgress',
    tag: 'Events',
    summary: 'Progress of a full verification',
    description: 'Hashes first, then signatures; each step checks `total` events. Null while none runs.',
    response: z.object({
      progress: z
        .object({
          step: z.enum(['hashes', 'signatures']),
          checked: z.int().min(0),
          total: z.int().min(0),
        })
        .nullable(),
    }),
    example: { progress: { step: 'hashes', checked: 40_000, total: 250_000 } },
    handler: async (_request, { verification }) => ok({ progress: verification.fullProgress }),
  }),
]
