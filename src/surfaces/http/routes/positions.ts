import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import { orderId, positionId } from '../../../core/shared/brand.ts'
import { ORDER_FILTERS, orderView, viewOrder, viewOrders } from '../../../core/views/orders.ts'
import { equityHistoryView, portfolioView } from '../../../core/views/portfolio.ts'
import {
  closedAllView,
  POSITION_FILTERS,
  positionView,
  viewClosedAll,
  viewPosition,
  viewPositions,
} from '../../../core/views/positions.ts'
import { equityHistoryOf, portfolioOf, positionOf, POSITIONS_MAX } from '../../../engine/queries/views.ts'
import { cancelOrder, closeAll, closePosition, reasonText } from '../../operator-actions.ts'
import { ABOUT_PAST, answeredAsOf, AS_OF_PROBLEMS, asOfMember, asOfQuery, isAboutPast } from '../as-of.ts'
import { POSITION, POSITION_ID } from '../examples.ts'
import { CANCELED_ORDER, CLOSED_POSITION, EQUITY_HISTORY, ORDER, PORTFOLIO } from '../examples-trading.ts'
import { integer, pathText } from '../fields.ts'
import { ok, okOr } from '../results.ts'
import { route, routes } from '../route.ts'

const order = orderView.meta({ id: 'Order' })
const position = positionView.extend(asOfMember).meta({ id: 'Position' })
const params = z.object({ position_id: pathText('the id of the position', POSITION_ID) })
const optionalReason = (example: string) =>
  z
    .object({ reason: reasonText().optional() })
    .meta({ examples: [{ reason: example }] })
    .optional()
const body = optionalReason('exchange incident')

export const positionRoutes = routes('Positions', {
  getPortfolio: route('GET', '/portfolio', 'read', {
    summary: 'Equity, exposure, risk and limits of the account',
    query: z.object(asOfQuery),
    response: portfolioView.extend(asOfMember).meta({ id: 'Portfolio' }),
    example: PORTFOLIO,
    ...ABOUT_PAST,
    handler: ({ query }, service) =>
      answeredAsOf(query, service, async ({ reader, configuration, clock }) =>
        ok(await portfolioOf(reader, configuration, clock)),
      ),
  }),
  getEquityHistory: route('GET', '/portfolio/history', 'read', {
    summary: 'Equity over time',
    description:
      'Equity at up to 240 evenly spread times, and now. It is kept in steps of 15 seconds for 6 hours, ' +
      '90 seconds for 36 hours, 9 minutes for a week and 42 minutes for a month; a young log has fewer points.',
    query: z.object({ hours: integer(24, { min: 1, max: 720 }, 'how far back'), ...asOfQuery }),
    response: equityHistoryView.extend(asOfMember).meta({ id: 'EquityHistory' }),
    example: EQUITY_HISTORY,
    ...ABOUT_PAST,
    handler: ({ query }, service) =>
      answeredAsOf(query, service, async ({ reader, clock }) =>
        ok(await equityHistoryOf(reader, query.hours, clock)),
      ),
  }),
  listOrders: route('GET', '/orders', 'read', {
    summary: 'Orders, newest first',
    description: 'All orders that are not final, and the newest final ones.',
    query: z.object({
      status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
      limit: integer(100, { min: 1, max: 500 }, 'how many'),
      ...asOfQuery,
    }),
    response: z.array(order),
    example: [ORDER],
    ...ABOUT_PAST,
    handler: ({ query }, service) =>
      answeredAsOf(query, service, async ({ reader }) =>
        ok(viewOrders((await reader.fresh()).trading.orders, query)),
      ),
  }),
  cancelOrder: route('POST', '/orders/:order_id/cancel', 'operator', {
    summary: 'Cancel the rest of an order',
    description:
      'Works at every level of the kill switch. At a live venue this requests the cancellation: the order ends when the ' +
      'venue confirms it. An order that the venue cannot look up is recorded as canceled: check at the venue first.',
    isUrgent: true,
    reducesRisk: true,
    params: z.object({ order_id: pathText('the id of the order', ORDER.order_id) }),
    body: optionalReason('too slow'),
    response: order,
    example: CANCELED_ORDER,
    problems: ['order.not_found', 'order.not_open'],
    handler: ({ params: { order_id: id }, body: given, execute }, { engine }) =>
      execute(cancelOrder(id, given?.reason, engine.nodeId), () => {
        const { open, ended } = engine.state.trading.orders
        const canceled = open.get(orderId(id)) ?? ended.get(orderId(id))
        assert(canceled !== undefined, `order ${id} must be known after it was canceled`)
        return viewOrder(canceled)
      }),
  }),
  listPositions: route('GET', '/positions', 'read', {
    summary: 'Positions, newest first',
    query: z.object({
      status: z
        .enum(POSITION_FILTERS)
        .default('open')
        .meta({ description: 'open: neither closed nor liquidated' }),
      limit: integer(POSITIONS_MAX, { min: 1, max: POSITIONS_MAX }, 'how many'),
      ...asOfQuery,
    }),
    response: z.array(position),
    example: [POSITION],
    ...ABOUT_PAST,
    handler: ({ query }, service) =>
      answeredAsOf(query, service, async ({ reader }) =>
        ok(viewPositions((await reader.fresh()).trading.positions, query)),
      ),
  }),
  getPosition: route('GET', '/positions/:position_id', 'read', {
    summary: 'One position, open or closed',
    params,
    query: z.object(asOfQuery),
    response: position,
    example: POSITION,
    problems: ['position.not_found', ...AS_OF_PROBLEMS],
    mayTakeLong: isAboutPast,
    handler: ({ params: { position_id }, query }, service) =>
      answeredAsOf(query, service, async ({ reader }) =>
        okOr(await positionOf(reader, position_id), 'position.not_found', 'Position not found', {}),
      ),
  }),
  closeAllPositions: route('POST', '/positions/close-all', 'operator', {
    summary: 'Close all open positions at the market',
    description:
      'Works at every level of the kill switch. Positions without a price stay open and are listed in `failed`.',
    isUrgent: true,
    reducesRisk: true,
    body,
    response: closedAllView,
    example: { positions: [CLOSED_POSITION], failed: [] },
    handler: ({ body: given, execute }, { engine }) =>
      execute(
        closeAll(given?.reason, engine.nodeId),
        (events) => viewClosedAll(events, engine.state.trading.positions),
        { auditedAs: { reason: given?.reason ?? null } },
      ),
  }),
  closePosition: route('POST', '/positions/:position_id/close', 'operator', {
    summary: 'Close a position at the market',
    description:
      'Works at every level of the kill switch. With partial fills the position is `closing` until its exit is filled.',
    isUrgent: true,
    reducesRisk: true,
    params,
    body,
    response: position,
    example: CLOSED_POSITION,
    problems: ['position.not_found', 'position.not_open', 'price.unavailable'],
    handler: ({ params: { position_id: id }, body: given, execute }, { engine }) =>
      execute(closePosition(id, given?.reason, engine.nodeId), () => {
        const closed = engine.state.trading.positions.get(positionId(id))
        assert(closed !== undefined, `position ${id} must be known after it was closed`)
        return viewPosition(closed)
      }),
  }),
})
