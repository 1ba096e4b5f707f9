import { z } from 'zod'
import { brainStatusView, viewBrainStatus } from '../../../core/views/brain-status.ts'
import { defineTool, READS } from '../tool.ts'

export const getBrainStatus = defineTool({
  title: 'Brain status',
  description:
    'Market regime, level of the kill switch (0 normal, 1 caution, 2 exits only, 3 lockdown) with its reason, and ' +
    'the last brain cycle. Members are null before the first time.',
  annotations: READS,
  input: z.object({}),
  output: brainStatusView,
  call: async ({ house: { engine } }) => ({
    status: 'done',
    value: viewBrainStatus(await engine.fresh()),
    effect: 'read',
  }),
})
