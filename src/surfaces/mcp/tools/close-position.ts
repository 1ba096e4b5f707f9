import { z } from 'zod'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'

export const closePosition = defineOperatorTool({
  name: 'close_position',
  title: 'Close a position',
  input: z.object({
    position_id: z.string().meta({ description: 'as get_open_positions tells it' }),
    reason: reasonInput,
  }),
  errors: ['position_not_found', 'position_not_open', 'price_unavailable'],
  command: ({ position_id: positionId, reason }, operator) => ({
    kind: 'close-position',
    positionId,
    by: { operator, surface: 'api', ...(reason === undefined ? {} : { note: reason }) },
  }),
})
