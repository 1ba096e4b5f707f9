import { z } from 'zod'
import { PROVENANCE_NOTICE, provenanceView } from '../../../core/views/reputation.ts'
import { provenanceOf } from '../../../engine/queries/views.ts'
import { ok } from '../results.ts'
import { TS } from '../examples.ts'
import { pathText } from '../fields.ts'
import { route, routes } from '../route.ts'

export const oracleRoutes = routes('Oracle', {
  getProvenance: route('GET', '/oracle/producers/:producer_id/provenance', 'public', {
    summary: 'What this engine has recorded of a producer or contributor',
    description: 'Always answered with 200 and the header `X-Attribution-Notice`. Reading changes nothing.',
    params: z.object({ producer_id: pathText('a contributor’s node_id, or a source of signals', 'n1') }),
    query: z.object({
      signal_type: z.unknown().optional().meta({ type: 'string', description: 'ignored' }),
    }),
    response: provenanceView.meta({ id: 'Provenance' }),
    example: {
      producer_id: 'n1',
      has_provenance: true,
      chain_verified: true,
      chain_integrity_spot_checked: true,
      total_signals: 1,
      p_and_l_attributed: false,
      operator_coverage: 1,
      first_seen: TS,
      last_seen: TS,
      attribution_windows: { '7d': { signals: 1, hit_rate: 0, max_drawdown_pct: 0 } },
      note: 'Counts signals this engine received. It is no statement about their quality.',
    },
    handler: async ({ params: { producer_id } }, service) =>
      ok(await provenanceOf(service, producer_id), {
        headers: { 'x-attribution-notice': PROVENANCE_NOTICE },
      }),
  }),
})
