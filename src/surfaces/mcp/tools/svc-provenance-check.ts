import { z } from 'zod'
import { provenanceView } from '../../../core/views/reputation.ts'
import { provenanceOf } from '../../../engine/queries/provenance.ts'
import { defineTool, found, READS } from '../tool.ts'

const input = z.object({
  producer_id: z.string().meta({ description: 'node_id of a contributor, or the source of signals' }),
  signal_type: z.string().optional().meta({ description: 'has no effect yet' }),
})

export const svcProvenanceCheck = defineTool({
  title: 'Provenance of a producer',
  annotations: READS,
  input,
  output: provenanceView,
  call: async ({ input: { producer_id }, house }) => found(await provenanceOf(house, producer_id)),
})
