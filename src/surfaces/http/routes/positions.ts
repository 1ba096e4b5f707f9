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
import { aboutPast, asOfMember } from '../as-of.ts'
import { CYCLE, EVENT_ID, ORDER_ID, POSITION_ID, TS } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { ok, okOr } from '../results.ts'
import { route, routes } from '../route.ts'

const POSITION = {
  id: POSITION_ID,
  platform: 'paper',
  asset: 'BTC',
  direction: 'long',
  entry_price: 100.05,
  size_notional: 500,
  quantity: 4.9975,
  fees_usd: 0.3,
  leverage: 1,
  margin_type: 'isolated',
  stop_loss: 95.0475,
  take_profit: 110.055,
  opened_at: TS,
  closed_at: null,
  status: 'open',
  realized_pnl: null,
  exit_price: null,
  exit_reason: null,
  mark_price: 101,
  unrealized_pnl: 4.45,
  conviction_id: EVENT_ID,
  regime_at_entry: 'BULL',
  pcs_at_entry: 78.2,
  cts_at_entry: 0,
  adopted: false,
} as const

const CLOSED_POSITION = {
  ...POSITION,
  status: 'closed',
  closed_at: '2026-02-20T00:45:00.000Z',
  exit_price: 100.9495,
  exit_reason: 'manual',
  fees_usd: 0.602698,
  realized_pnl: 3.89251,
  unrealized_pnl: null,
} as const

const ORDER = {
  order_id: ORDER_ID,
  position_id: POSITION_ID,
  intent_id: CYCLE.intents[0].intent_id,
  venue: 'paper',
  symbol: 'BTC',
  side: 'buy',
  purpose: 'entry',
  trigger_price: null,
  reduce_only: false,
  quantity: 4.9975,
  filled_quantity: 4.9975,
  fills: 1,
  reference_price: 100,
  submitted_at: TS,
  valid_until: '2026-02-20T01:00:00.000Z',
  status: 'filled',
  cancel_reason: null,
  needs_operator: false,
} as const

const CANCELED_ORDER = {
  ...ORDER,
  status: 'canceled',
  filled_quantity: 0,
  fills: 0,
} as const

const PORTFOLIO = {
  as_of: TS,
  mode: 'paper',
  account: 'paper',
  live: null,
  equity_usd: 10_004.15,
  cash_usd: 9999.7,
  start_balance_usd: 10_000,
  capital_moved_usd: 0,
  unexplained_loss_usd: 0,
  unexplained_usd: 0,
  realized_pnl_usd: 0,
  unrealized_pnl_usd: 4.45,
  fees_usd: 0.3,
  funding_usd: 0,
  open_positions: 1,
  exposure_usd: 504.7475,
  margin_usd: 504.7475,
  loss_at_stop_usd: 25.82,
  heat: 0.002580929,
  peak_equity_usd: 10_004.15,
  drawdown: 0,
  day_start_equity_usd: 10_000,
  day_loss: 0,
  loss_streak: 0,
  limits: {
    max_leverage: 2,
    max_position_pct: 0.1,
    max_portfolio_heat_pct: 0.06,
    heat_open_fraction: 0.9,
    daily_loss_limit_pct: 0.03,
    max_drawdown_pct: 0.3,
    l1_daily_loss_pct: 0.03,
    l2_portfolio_heat_pct: 0.06,
    l2_loss_streak: 3,
    l3_max_drawdown_pct: 0.3,
  },
} as const

const EQUITY_HISTORY = {
  as_of: TS,
  points: [
    { ts: '2026-02-19T23:29:58.000Z', equity_usd: 10_000 },
    { ts: TS, equity_usd: 10_004.45 },
  ],
} as const

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
    response: portfolioView.extend(asOfMember).meta({ id: 'Portfolio' }),
    example: PORTFOLIO,
    ...aboutPast({
      answer: async ({ reader, configuration, clock }) => ok(await portfolioOf(reader, configuration, clock)),
    }),
  }),
  getEquityHistory: route('GET', '/portfolio/history', 'read', {
    summary: 'Equity over time',
    description:
      'Equity at up to 240 evenly spread times, and now. It is kept in steps of 15 seconds for 6 hours, ' +
      '90 seconds for 36 hours, 9 minutes for a week and 42 minutes for a month; a young log has fewer points.',
    response: equityHistoryView.extend(asOfMember).meta({ id: 'EquityHistory' }),
    example: EQUITY_HISTORY,
    ...aboutPast({
      query: { hours: integer(24, { min: 1, max: 720 }, 'how far back') },
      answer: async ({ reader, clock }, { query: { hours } }) =>
        ok(await equityHistoryOf(reader, hours, clock)),
    }),
  }),
  listOrders: route('GET', '/orders', 'read', {
    summary: 'Orders, newest first',
    description:
      'All orders that are not final, and as many of the newest final ones as `limit` leaves room for.',
    response: z.array(order),
    example: [ORDER],
    ...aboutPast({
      query: {
        status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
        limit: integer(100, { min: 1, max: 500 }, 'how many'),
      },
      answer: async ({ reader }, { query }) => ok(viewOrders((await reader.fresh()).trading.orders, query)),
    }),
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
    response: z.array(position),
    example: [POSITION],
    ...aboutPast({
      query: {
        status: z
          .enum(POSITION_FILTERS)
          .default('open')
          .meta({ description: 'open: neither closed nor liquidated' }),
        limit: integer(POSITIONS_MAX, { min: 1, max: POSITIONS_MAX }, 'how many'),
      },
      answer: async ({ reader }, { query }) =>
        ok(viewPositions((await reader.fresh()).trading.positions, query)),
    }),
  }),
  getPosition: route('GET', '/positions/:position_id', 'read', {
    summary: 'One position, open or closed',
    params,
    response: position,
    example: POSITION,
    ...aboutPast({
      problems: ['position.not_found'],
      answer: async (
        { reader },
        { params: { position_id: id } }: { readonly params: z.output<typeof params> },
      ) => okOr(await positionOf(reader, id), 'position.not_found', 'Position not found', {}),
    }),
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
