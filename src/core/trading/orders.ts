import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { r9 } from '../shared/numbers.ts'
import { unitsFrom, type Price, type Quantity } from '../shared/money.ts'

export type OrderStatus =
  | 'submitting'
  | 'open'
  | 'partial'
  /** Nobody knows whether the venue has it. */
  | 'unknown'
  | 'filled'
  | 'canceled'
  | 'rejected'
  | 'failed'

export interface Order {
  readonly id: string
  readonly positionId: string
  readonly intentId: string | null
  readonly venue: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly isExit: boolean
  /** Why it leaves a position; null for entries. */
  readonly exitReason: PayloadOf<'execution.order_submitted.v1'>['exit_reason']
  /** Null for market orders. */
  readonly limitPrice: Price | null
  readonly quantity: Quantity
  readonly filled: Quantity
  readonly fills: number
  readonly referencePrice: Price
  readonly submittedAt: string
  readonly validUntil: string | null
  readonly status: OrderStatus
  /** Under which name the venue has it; null until it said so. */
  readonly venueOrderId: string | null
  /** Fills that are recorded: each counts once, however often it is told. */
  readonly tradeIds: readonly string[]
  /** Why it is to be canceled; null if it is not. */
  readonly cancelReason: string | null
  /** How often it was sent again because the venue did not have it. */
  readonly resends: number
  /** The venue cannot be asked: an operator has to say what became of it. */
  readonly needsOperator: boolean
  /** Null as long as something may come of it. */
  readonly endedAt: string | null
}

export interface Orders {
  /** Something may still come of them. */
  readonly open: PersistentMap<string, Order>
  /** The newest of those that have ended. */
  readonly ended: PersistentMap<string, Order>
  /** How far the newest fill was from the price its order was sent at. */
  readonly lastDivergence: number
}

export const INITIAL_ORDERS: Orders = { open: PersistentMap(), ended: PersistentMap(), lastDivergence: 0 }

const ENDED_KEPT = 1000

export const evolveOrders = (orders: Orders, event: KnownEvent): Orders => {
  switch (event.type) {
    case 'execution.order_submitted.v1':
      return { ...orders, open: orders.open.set(event.payload.order_id, submitted(event.payload, event.ts)) }
    case 'execution.order_acknowledged.v1': {
      const { order_id: id, venue_order_id: venueOrderId } = event.payload
      return changed(orders, id, { status: 'open', venueOrderId })
    }
    case 'execution.order_filled.v1':
      return filled(orders, event.payload, event.ts)
    case 'execution.order_unknown.v1':
      return changed(orders, event.payload.order_id, { status: 'unknown' })
    case 'execution.cancel_requested.v1':
      return changed(orders, event.payload.order_id, { cancelReason: event.payload.reason })
    case 'execution.order_canceled.v1':
      return changed(orders, event.payload.order_id, { status: 'canceled', endedAt: event.ts })
    case 'execution.order_failed.v1': {
      const { order_id: id, reasons } = event.payload
      const status = reasons.includes('venue_rejected') ? 'rejected' : 'failed'
      return changed(orders, id, { status, endedAt: event.ts })
    }
    case 'execution.order_reconciled.v1':
      return reconciled(orders, event.payload)
    default:
      return orders
  }
}

const FINAL: ReadonlySet<OrderStatus> = new Set(['filled', 'canceled', 'rejected', 'failed'])

/** A failed search is followed by an event that says so: until then nothing is known. */
const reconciled = (orders: Orders, payload: PayloadOf<'execution.order_reconciled.v1'>): Orders => {
  const order = orders.open.get(payload.order_id)
  if (order === undefined) return orders
  switch (payload.action) {
    case 'none':
      return changed(orders, order.id, {
        status: order.filled > 0n ? 'partial' : 'open',
        needsOperator: false,
      })
    case 'resend':
      return changed(orders, order.id, { status: 'submitting', resends: order.resends + 1 })
    case 'fail':
      return orders
    case 'operator':
      return changed(orders, order.id, { needsOperator: true })
  }
}

const submitted = (payload: PayloadOf<'execution.order_submitted.v1'>, submittedAt: string): Order => ({
  id: payload.order_id,
  positionId: payload.position_id,
  intentId: payload.intent_id,
  venue: payload.venue,
  symbol: payload.symbol,
  side: payload.side,
  isExit: payload.reduce_only,
  exitReason: payload.exit_reason,
  limitPrice: payload.limit_price === null ? null : unitsFrom(payload.limit_price),
  quantity: unitsFrom(payload.quantity),
  filled: 0n,
  fills: 0,
  referencePrice: unitsFrom(payload.reference_price),
  submittedAt,
  validUntil: payload.valid_until,
  status: 'submitting',
  venueOrderId: null,
  tradeIds: [],
  cancelReason: null,
  resends: 0,
  needsOperator: false,
  endedAt: null,
})

const filled = (orders: Orders, payload: PayloadOf<'execution.order_filled.v1'>, at: string): Orders => {
  const order = orders.open.get(payload.order_id)
  if (order === undefined) return orders
  const price = unitsFrom(payload.fill_price)
  const isWhole = payload.remaining_size === 0
  const tradeId = payload.venue_trade_id
  const after: Order = {
    ...order,
    filled: order.filled + unitsFrom(payload.fill_size),
    fills: order.fills + 1,
    // What is unknown stays so until it was looked up.
    status: isWhole ? 'filled' : order.status === 'unknown' ? 'unknown' : 'partial',
    tradeIds: tradeId === null ? order.tradeIds : [...order.tradeIds, tradeId],
    endedAt: isWhole ? at : null,
  }
  const divergence = Math.abs(Number(price) / Number(order.referencePrice) - 1)
  return placed({ ...orders, lastDivergence: r9(divergence) }, after)
}

const changed = (orders: Orders, id: string, change: Partial<Order>): Orders => {
  const order = orders.open.get(id)
  return order === undefined ? orders : placed(orders, { ...order, ...change })
}

const placed = (orders: Orders, order: Order): Orders => {
  if (!FINAL.has(order.status)) return { ...orders, open: orders.open.set(order.id, order) }
  return {
    open: orders.open.delete(order.id),
    ended: trimmed(orders.ended).set(order.id, order),
    lastDivergence: orders.lastDivergence,
  }
}

const trimmed = (ended: Orders['ended']): Orders['ended'] => {
  if (ended.size < 2 * ENDED_KEPT) return ended
  const keys = [...ended.values()].map(({ id, submittedAt }) => `${submittedAt}|${id}`)
  const surplus = keys.toSorted().slice(0, -ENDED_KEPT)
  return ended.deleteAll(surplus.map((key) => key.slice(key.indexOf('|') + 1)))
}
