import { z } from 'zod'
import { positionView } from '../../../core/views/positions.ts'
import { openPositions } from '../../../engine/queries/views.ts'
import { defineTool, found, itemsOf, READS } from '../tool.ts'

export const getOpenPositions = defineTool({
  title: 'Open positions',
  annotations: READS,
  input: z.object({}),
  output: itemsOf(positionView),
  call: async ({ house: { engine } }) => found(await openPositions(engine)),
})
