import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { r9 } from '../vocabulary/numbers.ts'
import { unitsFrom, type Price, type Quantity } from '../vocabulary/money.ts'

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
  readonly quantity: Quantity
  readonly filled: Quantity
  readonly fills: number
  readonly referencePrice: Price
  readonly submittedAt: string
  readonly validUntil: string | null
  readonly status: OrderStatus
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
    case 'execution.order_acknowledged.v1':
      return changed(orders, event.payload.order_id, 'open')
    case 'execution.order_filled.v1':
      return filled(orders, event.payload)
    case 'execution.order_canceled.v1':
      return changed(orders, event.payload.order_id, 'canceled')
    case 'execution.order_failed.v1':
      return changed(
        orders,
        event.payload.order_id,
        event.payload.reasons.includes('venue_rejected') ? 'rejected' : 'failed',
      )
    case 'execution.order_reconciled.v1':
      return changed(orders, event.payload.order_id, STATUS_AFTER[event.payload.action])
    default:
      return orders
  }
}

const FINAL: ReadonlySet<OrderStatus> = new Set(['filled', 'canceled', 'rejected', 'failed'])

/** A failed search is followed by an event that says so: until then nothing is known. */
const STATUS_AFTER = { none: null, resend: 'submitting', fail: 'unknown', operator: 'unknown' } as const

const submitted = (payload: PayloadOf<'execution.order_submitted.v1'>, submittedAt: string): Order => ({
  id: payload.order_id,
  positionId: payload.position_id,
  intentId: payload.intent_id,
  venue: payload.venue,
  symbol: payload.symbol,
  side: payload.side,
  isExit: payload.reduce_only,
  quantity: unitsFrom(payload.quantity),
  filled: 0n,
  fills: 0,
  referencePrice: unitsFrom(payload.reference_price),
  submittedAt,
  validUntil: payload.valid_until,
  status: 'submitting',
})

const filled = (orders: Orders, payload: PayloadOf<'execution.order_filled.v1'>): Orders => {
  const order = orders.open.get(payload.order_id)
  if (order === undefined) return orders
  const price = unitsFrom(payload.fill_price)
  const after: Order = {
    ...order,
    filled: order.filled + unitsFrom(payload.fill_size),
    fills: order.fills + 1,
    status: payload.remaining_size === 0 ? 'filled' : 'partial',
  }
  const divergence = Math.abs(Number(price) / Number(order.referencePrice) - 1)
  return placed({ ...orders, lastDivergence: r9(divergence) }, after)
}

const changed = (orders: Orders, id: string, status: OrderStatus | null): Orders => {
  const order = orders.open.get(id)
  return order === undefined || status === null ? orders : placed(orders, { ...order, status })
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
