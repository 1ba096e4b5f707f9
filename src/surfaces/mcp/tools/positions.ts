import { positionId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { portfolioView } from '../../../core/views/portfolio.ts'
import { positionView } from '../../../core/views/positions.ts'
import { portfolioOf } from '../../../engine/queries/views.ts'
import { openPositions } from '../../../engine/queries/views.ts'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'
import { defineTool, found, itemsOf, READS } from '../tool.ts'

const getOpenPositions = defineTool({
  title: 'Open positions',
  annotations: READS,
  input: z.object({}),
  output: itemsOf(positionView),
  call: async ({ dependencies: { engine } }) => found(await openPositions(engine)),
})

const getPortfolio = defineTool({
  title: 'Portfolio',
  annotations: READS,
  input: z.object({}),
  output: portfolioView,
  call: async ({ dependencies: { engine, configuration, clock } }) =>
    found(await portfolioOf(engine, configuration(), clock)),
})

const closePosition = defineOperatorTool({
  name: 'close_position',
  title: 'Close a position',
  input: z.object({
    position_id: z.string().meta({ description: 'an id from get_open_positions' }),
    reason: reasonInput,
  }),
  errors: ['position_not_found', 'position_not_open', 'price_unavailable'],
  command: ({ position_id: id, reason }, operator) => ({
    kind: 'close-position',
    positionId: positionId(id),
    by: operatorOf(operator, reason),
  }),
})

const closeAllPositions = defineOperatorTool({
  name: 'close_all_positions',
  title: 'Close all positions',
  input: z.object({ reason: reasonInput }),
  errors: [],
  command: ({ reason }, operator) => ({ kind: 'close-all', by: operatorOf(operator, reason) }),
})

const operatorOf = (operator: string, reason: string | undefined) =>
  ({ operator, surface: 'api', ...(reason === undefined ? {} : { note: reason }) }) as const

export const positionTools = {
  close_all_positions: closeAllPositions,
  close_position: closePosition,
  get_open_positions: getOpenPositions,
  get_portfolio: getPortfolio,
}
