import { z } from 'zod'
import { brainStatusView, viewBrainStatus } from '../../../core/views/brain.ts'
import { defineTool, found, READS } from '../tool.ts'

export const getBrainStatus = defineTool({
  title: 'Brain status',
  annotations: READS,
  input: z.object({}),
  output: brainStatusView,
  call: async ({ house: { engine } }) => found(viewBrainStatus(await engine.fresh())),
})
