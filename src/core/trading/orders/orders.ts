import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewEvent, PayloadOf } from '../../events/catalogue.ts'
import { assertFold } from '../../shared/assert.ts'
import { orderId, type IntentId, type OrderId, type PositionId, type Timestamp } from '../../shared/brand.ts'
import {
  minus,
  NO_QUANTITY,
  plus,
  priceFrom,
  priceOrNull,
  quantityFrom,
  quantityNumber,
  ratioOf,
  type Price,
  type Quantity,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { isRelease } from './client-order-id.ts'
import type { ExitReason } from '../positions/positions.ts'
import { omsEvent } from './oms-event.ts'

/** Name of the simulated venue, which fills orders at prices of the feed. */
export const PAPER = 'paper'

/** Reason of an order that was not sent, or that the venue rejected unread. */
export const NOT_SENT = 'not_sent'

interface OrderFields {
  readonly id: OrderId
  /** Name of the order at the venue. It is the same for every attempt to send the order, by any leader. */
  readonly clientOrderId: string
  readonly positionId: PositionId
  readonly purpose: Purpose
  readonly venue: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly quantity: Quantity
  readonly filled: Quantity
  readonly fills: number
  readonly referencePrice: Price
  readonly submittedAt: Timestamp
  /** Id that the venue assigned; null until it acknowledged the order. */
  readonly venueOrderId: string | null
  /** Recorded trades of the venue. Each trade counts once, however often it is reported. */
  readonly tradeIds: readonly string[]
  /** Reason for canceling the order; null if it is not to be canceled. */
  readonly cancelReason: string | null
  /** Number of times it was sent again because the venue did not have it. */
  readonly resends: number
}

export type Purpose =
  | {
      readonly kind: 'entry'
      readonly intentId: IntentId | null
      /** Null for market orders. */
      readonly limitPrice: Price | null
      readonly validUntil: Timestamp | null
    }
  | { readonly kind: 'exit'; readonly reason: ExitReason | null }
  /** Rests at the venue while the position is held, so that the position closes at its stop even without the engine. */
  | { readonly kind: 'protective_stop'; readonly triggerPrice: Price }

export interface WorkingOrder extends OrderFields {
  readonly status: 'submitting' | 'open' | 'partial'
}

/** An order whose state at the venue is not known. */
export interface UnknownOrder extends OrderFields {
  readonly status: 'unknown'
  /** True if the venue cannot look the order up, so that an operator has to resolve it. */
  readonly needsOperator: boolean
}

export interface EndedOrder extends OrderFields {
  readonly status: 'filled' | 'canceled' | 'rejected' | 'failed'
  readonly endedAt: Timestamp
  /** Time before which the venue requested no other attempt, for an order that was not sent; else null. */
  readonly retryAt: Timestamp | null
}

export type OpenOrder = WorkingOrder | UnknownOrder
export type Order = OpenOrder | EndedOrder

export interface Orders {
  readonly open: PersistentMap<OrderId, OpenOrder>
  /** Latest orders that have ended. */
  readonly ended: PersistentMap<OrderId, EndedOrder>
  /** Distance of the latest fill from the reference price of its order. */
  readonly lastDivergence: number
}

export const INITIAL_ORDERS: Orders = { open: PersistentMap(), ended: PersistentMap(), lastDivergence: 0 }

export const isEntry = ({ purpose }: OrderFields): boolean => purpose.kind === 'entry'

export const isExit = ({ purpose }: OrderFields): boolean => purpose.kind === 'exit'

export const isProtectiveStop = ({ purpose }: OrderFields): boolean => purpose.kind === 'protective_stop'

export const isManualExit = ({ purpose }: OrderFields): boolean =>
  purpose.kind === 'exit' && purpose.reason === 'manual'

/** A protective stop that rests at the venue and is not being canceled. */
export const isAtRest = (order: OpenOrder): boolean =>
  isProtectiveStop(order) && order.status === 'open' && order.cancelReason === null

export const intentOf = ({ purpose }: OrderFields): IntentId | null =>
  purpose.kind === 'entry' ? purpose.intentId : null

export const quantityOpen = ({ quantity, filled }: OrderFields): Quantity => minus(quantity, filled)

export const isUnknown = (order: Order): order is UnknownOrder => order.status === 'unknown'

export const evolveOrders = (orders: Orders, event: KnownEvent): Orders => {
  switch (event.type) {
    case 'execution.order_submitted.v1': {
      const order = submitted(event.payload, event.ts)
      assertFold(!orders.open.has(order.id), `order ${order.id} is submitted twice`)
      return { ...orders, open: orders.open.set(order.id, order) }
    }
    case 'execution.order_acknowledged.v1': {
      const { order_id: id, venue_order_id: venueOrderId } = event.payload
      return withOpen(orders, { ...fieldsOf(openOrder(orders, id)), status: 'open', venueOrderId })
    }
    case 'execution.order_filled.v1':
      return filled(orders, event.payload, event.ts)
    case 'execution.order_unknown.v1': {
      const order = openOrder(orders, event.payload.order_id)
      return withOpen(orders, { ...fieldsOf(order), status: 'unknown', needsOperator: false })
    }
    case 'execution.cancel_requested.v1': {
      const order = openOrder(orders, event.payload.order_id)
      return withOpen(orders, { ...order, cancelReason: event.payload.reason })
    }
    case 'execution.order_canceled.v1':
      return withEnded(orders, openOrder(orders, event.payload.order_id), 'canceled', event.ts)
    case 'execution.order_failed.v1': {
      // An intent that fails its checks, or an exit without a price, fails before an order is submitted.
      const order = orders.open.get(event.payload.order_id)
      if (order === undefined) return orders
      const status = event.payload.reasons.includes('venue_rejected') ? 'rejected' : 'failed'
      return withEnded(orders, order, status, event.ts, event.payload.retry_at)
    }
    case 'execution.order_reconciled.v1':
      return reconciled(orders, event.payload)
    default:
      return orders
  }
}

const openOrder = (orders: Orders, id: OrderId): OpenOrder => {
  const order = orders.open.get(id)
  assertFold(order !== undefined, `an event concerns order ${id}, which is not open`)
  return order
}

/** Members common to all orders. The caller adds the new status. */
const fieldsOf = (order: OpenOrder): OrderFields => {
  if (!isUnknown(order)) return order
  const { needsOperator: _needsOperator, ...rest } = order
  return rest
}

const withOpen = (orders: Orders, order: OpenOrder): Orders => ({
  ...orders,
  open: orders.open.set(order.id, order),
})

const withEnded = (
  orders: Orders,
  order: OpenOrder,
  status: EndedOrder['status'],
  at: Timestamp,
  retryAt: Timestamp | null = null,
): Orders => ({
  open: orders.open.delete(order.id),
  ended: trimmed(orders.ended).set(order.id, { endedAt: at, retryAt, ...fieldsOf(order), status }),
  lastDivergence: orders.lastDivergence,
})

/**
 * Applies the result of a look-up. A failed one is followed by an event about the failure, so it changes nothing yet.
 */
const reconciled = (orders: Orders, payload: PayloadOf<'execution.order_reconciled.v1'>): Orders => {
  const order = openOrder(orders, payload.order_id)
  switch (payload.action) {
    case 'none':
      return withOpen(orders, { ...fieldsOf(order), status: order.filled > 0n ? 'partial' : 'open' })
    case 'resend':
      return withOpen(orders, { ...fieldsOf(order), status: 'submitting', resends: order.resends + 1 })
    case 'fail':
      return orders
    case 'operator':
      return withOpen(orders, { ...fieldsOf(order), status: 'unknown', needsOperator: true })
  }
}

const submitted = (
  payload: PayloadOf<'execution.order_submitted.v1'>,
  submittedAt: Timestamp,
): WorkingOrder => ({
  id: payload.order_id,
  clientOrderId: payload.idempotency_key,
  positionId: payload.position_id,
  purpose: purposeOf(payload),
  venue: payload.venue,
  symbol: payload.symbol,
  side: payload.side,
  quantity: quantityFrom(payload.quantity),
  filled: NO_QUANTITY,
  fills: 0,
  referencePrice: priceFrom(payload.reference_price),
  submittedAt,
  status: 'submitting',
  venueOrderId: null,
  tradeIds: [],
  cancelReason: null,
  resends: 0,
})

const purposeOf = (payload: PayloadOf<'execution.order_submitted.v1'>): Purpose => {
  if (payload.trigger_price !== undefined)
    return { kind: 'protective_stop', triggerPrice: priceFrom(payload.trigger_price) }
  if (payload.reduce_only) return { kind: 'exit', reason: payload.exit_reason }
  return {
    kind: 'entry',
    intentId: payload.intent_id,
    limitPrice: priceOrNull(payload.limit_price),
    validUntil: payload.valid_until,
  }
}

const filled = (orders: Orders, payload: PayloadOf<'execution.order_filled.v1'>, at: Timestamp): Orders => {
  // A liquidation is filled under a derived id, without an order of ours.
  if (isLiquidation(payload.order_id) || isRelease(payload.order_id)) return orders
  const order = openOrder(orders, payload.order_id)
  const after = afterFill(order, payload)
  const counted = { ...orders, lastDivergence: divergenceOf(order, payload) }
  if (payload.remaining_size === 0) return withEnded(counted, after, 'filled', at)
  // An order in status UNKNOWN stays so until it was looked up.
  return withOpen(counted, isUnknown(after) ? after : { ...after, status: 'partial' })
}

const afterFill = (
  order: OpenOrder,
  { fill_size: size, venue_trade_id: tradeId }: PayloadOf<'execution.order_filled.v1'>,
): OpenOrder => ({
  ...order,
  filled: plus(order.filled, quantityFrom(size)),
  fills: order.fills + 1,
  tradeIds: tradeId === null ? order.tradeIds : [...order.tradeIds, tradeId],
})

const divergenceOf = ({ referencePrice }: OpenOrder, fill: { readonly fill_price: number }): number =>
  r9(Math.abs(ratioOf(priceFrom(fill.fill_price), referencePrice) - 1))

/** Order id of a liquidation, derived from the venue's trade. */
export const liquidationOrderId = (venueTradeId: string): OrderId =>
  orderId(`${LIQUIDATION_PREFIX}${venueTradeId}`)

export const isLiquidation = (id: OrderId): boolean => id.startsWith(LIQUIDATION_PREFIX)

const LIQUIDATION_PREFIX = 'liquidation-'

const ENDED_KEPT = 1000

const trimmed = (ended: Orders['ended']): Orders['ended'] => {
  if (ended.size < 2 * ENDED_KEPT) return ended
  const oldestFirst = [...ended.values()].toSorted((one, other) =>
    one.submittedAt === other.submittedAt ? byId(one, other) : one.submittedAt < other.submittedAt ? -1 : 1,
  )
  return ended.deleteAll(oldestFirst.slice(0, -ENDED_KEPT).map(({ id }) => id))
}

/** Cancels entries, never exits and protective stops. */
export const cancelEntries = (orders: Orders, reason: string): readonly NewEvent[] =>
  [...orders.open.values()]
    .filter(isEntry)
    .toSorted(byId)
    .flatMap((order) => cancelEvents(order, reason))

export const byId = (one: OrderFields, other: OrderFields): number => (one.id < other.id ? -1 : 1)

/** Cancels an order. A paper order ends at once; at a venue, cancellation is requested, and only once. */
export const cancelEvents = (
  order: OpenOrder,
  reason: string,
  by: string | null = null,
): readonly NewEvent[] => {
  if (order.venue === PAPER) return [canceledEvent(order, reason)]
  if (order.cancelReason !== null) return []
  const { id, symbol } = order
  return [omsEvent('execution.cancel_requested.v1', { order_id: id, symbol, reason, requested_by: by })]
}

export const canceledEvent = (order: Order, reason: string): NewEvent =>
  omsEvent('execution.order_canceled.v1', {
    order_id: order.id,
    position_id: order.positionId,
    intent_id: intentOf(order),
    reason,
    filled_size: quantityNumber(order.filled),
  })
