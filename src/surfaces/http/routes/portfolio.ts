import { orderId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import { ORDER_FILTERS, orderView, viewOrder, viewOrders } from '../../../core/views/orders.ts'
import { equityHistoryView } from '../../../core/views/portfolio.ts'
import { portfolioView } from '../../../core/views/portfolio.ts'
import { equityHistoryOf } from '../../../engine/queries/views.ts'
import { withLogChecked } from '../../../engine/queries/trading-records.ts'
import { portfolioOf } from '../../../engine/queries/views.ts'
import { resultOf, ok } from '../results.ts'
import { CANCELED_ORDER, EQUITY_HISTORY, ORDER, PORTFOLIO } from '../examples-trading.ts'
import { integer, optionalReason, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Positions'
const order = orderView.meta({ id: 'Order' })

export const portfolioRoutes = [
  defineRoute({
    method: 'GET',
    path: '/portfolio',
    operationId: 'getPortfolio',
    tag,
    summary: 'Equity, exposure, risk and limits of the account',
    response: portfolioView.meta({ id: 'Portfolio' }),
    example: PORTFOLIO,
    handler: async (_input, { engine, configuration, clock }) =>
      ok(await portfolioOf(engine, configuration.current(), clock)),
  }),
  defineRoute({
    method: 'GET',
    path: '/portfolio/history',
    operationId: 'getEquityHistory',
    tag,
    summary: 'Equity over time',
    description:
      'Equity at up to 240 evenly spread times, and now. It is kept in steps of 15 seconds for 6 hours, ' +
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
    operationId: 'listOrders',
    tag,
    summary: 'Orders, newest first',
    description: 'All orders that are not final, and the newest final ones.',
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
    summary: 'Cancel the rest of an order',
    description:
      'Works at every level of the kill switch. At a live venue this requests the cancellation: the order ends when the ' +
      'venue confirms it. An order that the venue cannot look up is recorded as canceled: check at the venue first.',
    isUrgent: true,
    params: z.object({ order_id: pathText('the id of the order', ORDER.order_id) }),
    body: optionalReason('too slow'),
    bodyIsOptional: true,
    response: order,
    example: CANCELED_ORDER,
    problems: ['order.not_found', 'order.not_open'],
    handler: async ({ params, body, traceId }, { engine }) => {
      const id = orderId(params.order_id)
      const reason = body?.reason ?? null
      const request = { orderId: id, operator: engine.nodeId, reason, surface: 'api' } as const
      const outcome = await engine.execute({ kind: 'cancel-order', request }, { traceId })
      return resultOf(await withLogChecked(engine.log, outcome), () => {
        const { open, ended } = engine.state.trading.orders
        const canceled = open.get(id) ?? ended.get(id)
        assert(canceled !== undefined, `order ${id} must be known after it was canceled`)
        return viewOrder(canceled)
      })
    },
  }),
]
