import { z } from 'zod'
import { PROVENANCE_NOTICE, provenanceView } from '../../../core/views/provenance.ts'
import { provenanceOf } from '../../../engine/queries/provenance.ts'
import { ok } from '../answers.ts'
import { defineRoute } from '../route.ts'

export const oracleRoutes = [
  defineRoute({
    method: 'GET',
    path: '/oracle/producers/:producer_id/provenance',
    access: 'public',
    operationId: 'getProvenance',
    tag: 'Oracle',
    summary: 'What this engine has seen of a producer or contributor',
    description: 'Always answered with 200 and the header `X-Attribution-Notice`. Reading changes nothing.',
    params: z.object({ producer_id: z.string() }),
    query: z.object({
      signal_type: z.unknown().optional().meta({ type: 'string', description: 'ignored' }),
    }),
    response: provenanceView.meta({ id: 'Provenance' }),
    handler: async ({ params: { producer_id } }, service) =>
      ok(await provenanceOf(service, producer_id), {
        headers: { 'x-attribution-notice': PROVENANCE_NOTICE },
      }),
  }),
]
