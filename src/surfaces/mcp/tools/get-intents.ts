import { z } from 'zod'
import { INTENT_FILTERS, intentView, viewIntents } from '../../../core/views/orders.ts'
import { howMany } from '../how-many.ts'
import { LIMITS_NOTE } from '../limits.ts'
import { defineTool, found, itemsOf, READS } from '../tool.ts'

export const getIntents = defineTool({
  title: 'Intents',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({
    status: z.enum(INTENT_FILTERS).default('all').meta({ description: 'only those with this status' }),
    limit: howMany,
  }),
  output: itemsOf(intentView),
  call: async ({ input, house: { engine } }) =>
    found(viewIntents((await engine.fresh()).trading.intents, input)),
})
