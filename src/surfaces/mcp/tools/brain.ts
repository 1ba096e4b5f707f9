import { z } from 'zod'
import { brainStatusView, viewBrainStatus } from '../../../core/views/brain.ts'
import { explanationView } from '../../../core/views/brain.ts'
import { weightsView } from '../../../core/views/learning.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { defineTool, failed, found, itemLimit, orError, READS } from '../tool.ts'

const getBrainStatus = defineTool({
  title: 'Brain status',
  annotations: READS,
  input: z.object({}),
  output: brainStatusView,
  call: async ({ dependencies: { engine } }) => found(viewBrainStatus(await engine.fresh())),
})

const explainDecision = defineTool({
  title: 'Explain a decision',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({
    id: z
      .string()
      .optional()
      .meta({ description: 'id of a cycle or of a conviction; the last cycle if absent' }),
    symbol: z.string().optional().meta({ description: 'only this symbol of the cycle' }),
  }),
  output: orError(explanationView, ['decision_not_found']),
  call: async ({ input, dependencies: { engine, configuration } }) => {
    const id = input.id ?? (await engine.fresh()).brain.lastCycle?.id ?? ''
    const explanation = await explain(engine, { id, symbol: input.symbol ?? null }, configuration())
    return explanation === null ? failed('decision_not_found', { id }) : found(explanation)
  },
})

const getWeights = defineTool({
  title: 'Weights',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({ limit: itemLimit(5, 'how many runs') }),
  output: weightsView,
  call: async ({ input: { limit }, dependencies: { engine, configuration, clock } }) =>
    found(await weightsOf(engine, configuration(), { clock, limit })),
})

export const brainTools = {
  explain_decision: explainDecision,
  get_brain_status: getBrainStatus,
  get_weights: getWeights,
}
