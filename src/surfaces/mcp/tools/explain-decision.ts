import { z } from 'zod'
import { explanationView } from '../../../core/views/brain.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { LIMITS_NOTE } from '../limits.ts'
import { defineTool, failed, found, orError, READS } from '../tool.ts'

const NOT_FOUND = 'decision_not_found'

export const explainDecision = defineTool({
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
  output: orError(explanationView, [NOT_FOUND]),
  call: async ({ input, house: { engine, configuration } }) => {
    const id = input.id ?? (await engine.fresh()).brain.lastCycle?.id ?? ''
    const explanation = await explain(engine, { id, symbol: input.symbol ?? null }, configuration())
    return explanation === null ? failed(NOT_FOUND, { id }) : found(explanation)
  },
})
