import { z } from 'zod'
import { ORDER_FILTERS, orderView, viewOrders } from '../../../core/views/orders.ts'
import { equityHistoryView } from '../../../core/views/equity-history.ts'
import { portfolioView } from '../../../core/views/portfolio.ts'
import { equityHistoryOf } from '../../../engine/queries/equity-history.ts'
import { portfolioOf } from '../../../engine/queries/portfolio.ts'
import { ok } from '../answers.ts'
import { EQUITY_HISTORY, ORDER, PORTFOLIO } from '../examples-trading.ts'
import { integer } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Positions'
const access = 'bearer'

export const portfolioRoutes = [
  defineRoute({
    method: 'GET',
    path: '/portfolio',
    access,
    operationId: 'getPortfolio',
    tag,
    summary: 'Where the account stands, and its limits',
    response: portfolioView.meta({ id: 'Portfolio' }),
    example: PORTFOLIO,
    handler: async (_parts, { engine, configuration, clock }) =>
      ok(await portfolioOf(engine, configuration.current(), clock)),
  }),
  defineRoute({
    method: 'GET',
    path: '/portfolio/history',
    access,
    operationId: 'getEquityHistory',
    tag,
    summary: 'Equity over time',
    description:
      'Reckoned from closed positions and stored bars. It begins later than asked for where bars are missing or too many.',
    query: z.object({ hours: integer(24, { min: 1, max: 720 }, 'how far back') }),
    response: equityHistoryView.meta({ id: 'EquityHistory' }),
    example: EQUITY_HISTORY,
    handler: async ({ query: { hours } }, { engine, clock }) =>
      ok(await equityHistoryOf(engine, hours, clock)),
  }),
  defineRoute({
    method: 'GET',
    path: '/orders',
    access,
    operationId: 'listOrders',
    tag,
    summary: 'Orders, newest first',
    description: 'All that something may still come of, and the newest of those that have ended.',
    query: z.object({
      status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
      limit: integer(100, { min: 1, max: 500 }, 'how many'),
    }),
    response: z.array(orderView.meta({ id: 'Order' })),
    example: [ORDER],
    handler: async ({ query }, { engine }) => ok(viewOrders((await engine.fresh()).orders, query)),
  }),
]
