import { z } from 'zod'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'

export const closeAllPositions = defineOperatorTool({
  name: 'close_all_positions',
  title: 'Close all positions',
  input: z.object({ reason: reasonInput }),
  errors: [],
  command: ({ reason }, operator) => ({
    kind: 'close-all',
    by: { operator, surface: 'api', ...(reason === undefined ? {} : { note: reason }) },
  }),
})
