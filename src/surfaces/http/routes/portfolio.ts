import { z } from 'zod'
import { ORDER_FILTERS, orderView, viewOrder, viewOrders } from '../../../core/views/orders.ts'
import { equityHistoryView, portfolioView } from '../../../core/views/portfolio.ts'
import { equityHistoryOf } from '../../../engine/queries/equity-history.ts'
import { portfolioOf } from '../../../engine/queries/portfolio.ts'
import { answerTo, ok } from '../answers.ts'
import { CANCELED_ORDER, EQUITY_HISTORY, ORDER, PORTFOLIO } from '../examples-trading.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Positions'
const order = orderView.meta({ id: 'Order' })
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
      'What equity was at up to 240 evenly spread times, and what it is now. It is kept in steps of 15 seconds for 6 hours, ' +
      '90 seconds for 36 hours, 9 minutes for a week and 42 minutes for a month; a young log has fewer points.',
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
    response: z.array(order),
    example: [ORDER],
    handler: async ({ query }, { engine }) => ok(viewOrders((await engine.fresh()).trading.orders, query)),
  }),
  defineRoute({
    method: 'POST',
    path: '/orders/:order_id/cancel',
    access: 'operator',
    operationId: 'cancelOrder',
    tag,
    summary: 'Give up what is left of an order',
    description:
      'At every level of the kill switch. At a venue it is asked for: the order ends when the venue says so. An order ' +
      'that nobody can look up is taken as canceled: look at the venue first.',
    isUrgent: true,
    params: z.object({ order_id: pathText('the id of the order', ORDER.order_id) }),
    body: z
      .object({
        reason: z.string().trim().min(1).max(500).optional().meta({ description: 'why, for the log' }),
      })
      .meta({ examples: [{ reason: 'too slow' }] })
      .optional(),
    bodyIsOptional: true,
    response: order,
    example: CANCELED_ORDER,
    problems: ['order.not_found', 'order.not_open', 'store.busy'],
    handler: async ({ params: { order_id: orderId }, body, traceId }, { engine }) => {
      const request = {
        orderId,
        operator: engine.nodeId,
        reason: body?.reason ?? null,
        surface: 'api',
      } as const
      return answerTo(await engine.execute({ kind: 'cancel-order', request }, { traceId }), () => {
        const { open, ended } = engine.state.trading.orders
        const canceled = open.get(orderId) ?? ended.get(orderId)
        if (canceled === undefined) throw new Error('an order was canceled and is gone')
        return viewOrder(canceled)
      })
    },
  }),
]
