import { z } from 'zod'
import { provenanceView } from '../../../core/views/reputation.ts'
import { provenanceOf } from '../../../engine/queries/views.ts'
import { defineTool, found, READS } from '../tool.ts'

const input = z.object({
  producer_id: z.string().meta({ description: 'node_id of a contributor, or the source of signals' }),
  signal_type: z.string().optional().meta({ description: 'has no effect yet' }),
})

const svcProvenanceCheck = defineTool({
  title: 'Provenance of a producer',
  annotations: READS,
  input,
  output: provenanceView,
  call: async ({ input: { producer_id }, dependencies }) =>
    found(await provenanceOf(dependencies, producer_id)),
})

export const provenanceTools = { svc_provenance_check: svcProvenanceCheck }
