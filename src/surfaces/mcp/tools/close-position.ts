import { z } from 'zod'
import { defineOperatorTool } from '../operator-tool.ts'

export const closePosition = defineOperatorTool({
  name: 'close_position',
  title: 'Close a position',
  input: z.object({ position_id: z.string().meta({ description: 'as get_open_positions tells it' }) }),
  errors: ['position_not_found', 'position_not_open', 'price_unavailable'],
  command: ({ position_id: positionId }, operator) => ({
    kind: 'close-position',
    positionId,
    by: { operator, surface: 'api' },
  }),
})
