import { z } from 'zod'
import { signalItemView, viewSignalItem } from '../../../core/views/signals.ts'
import { signalItems } from '../../../engine/queries/views.ts'
import { howMany } from '../how-many.ts'
import { LIMITS_NOTE } from '../limits.ts'
import { defineTool, found, itemsOf, READS } from '../tool.ts'

const input = z.object({
  limit: howMany,
  domain: z
    .string()
    .max(256)
    .optional()
    .meta({ description: 'second segment of the type, such as `ta` or `signal.ta`; empty = all' }),
})

export const getRecentSignals = defineTool({
  title: 'Recent signals',
  advice: LIMITS_NOTE,
  annotations: READS,
  input,
  output: itemsOf(signalItemView),
  call: async ({ input: { limit, domain = '' }, house: { engine } }) => {
    const { records } = await signalItems(engine, {
      domain: domain.replace(/^signal\./, ''),
      limit,
      offset: 0,
    })
    return found(records.map(viewSignalItem))
  },
})
