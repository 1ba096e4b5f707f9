import { z } from 'zod'
import { weightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { LIMITS_NOTE } from '../limits.ts'
import { defineTool, found, READS } from '../tool.ts'

const LIMIT_MAX = 100

export const getWeights = defineTool({
  title: 'Weights',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({
    limit: z
      .int()
      .min(1)
      .default(5)
      .meta({ description: `how many runs; more than ${LIMIT_MAX} counts as ${LIMIT_MAX}` }),
  }),
  output: weightsView,
  call: async ({ input, house: { engine, configuration, clock } }) =>
    found(await weightsOf(engine, configuration(), { clock, limit: Math.min(input.limit, LIMIT_MAX) })),
})
