import { destinationOf } from './destination.ts'
import { executionAlert } from './execution-alert.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { canceledEvent, givenUp } from './cancel.ts'
import { PAPER } from './venue-destination.ts'
import type { Order } from './orders.ts'
import { isOpen } from './positions.ts'
import { EventBuilder } from './event-builder.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { rejectedEvent, settled } from './venue-report.ts'
import type { TradingFacts } from './evolve.ts'

/** Nobody knows any more what the venue made of it. */
export const markOrderUnknown = (
  { trading: { orders } }: TradingFacts,
  orderId: string,
  reason: string,
): Decision => {
  const order = orders.open.get(orderId)
  return order === undefined || order.status === 'unknown' ? accept() : accept(unknownEvent(order, reason))
}

/** After a restart nobody knows it of any order. */
export const markOrdersUnknown = ({ trading: { orders } }: TradingFacts, reason: string): Decision =>
  accept(
    ...[...orders.open.values()]
      .filter(({ venue, status }) => venue !== PAPER && status !== 'unknown')
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map((order) => unknownEvent(order, reason)),
  )

/** The venue said no. */
export const recordRejection = (
  facts: TradingFacts,
  orderId: string,
  reason: string,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  if (order === undefined || order.status !== 'submitting') return accept()
  return accept(...ended(facts, order, rejectedEvent(order, reason.slice(0, 500)), context))
}

/** It was to be sent, and never was. */
export const recordUnsent = (
  facts: TradingFacts,
  orderId: string,
  reason: string,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  if (order === undefined || order.status !== 'submitting') return accept()
  return accept(...ended(facts, order, canceledEvent(order, order.cancelReason ?? reason), context))
}

/** The venue does not have it, asked often enough: it is sent again under the same name, or given up. */
export const recordNotFound = (
  facts: TradingFacts,
  orderId: string,
  lookups: number,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  if (order === undefined || order.status !== 'unknown') return accept()
  const mayResend = order.resends < RESENDS_MAX && order.filled === 0n && isStillWanted(facts, order, context)
  const reconciled = reconciledEvent(order, lookups, mayResend ? 'resend' : 'fail')
  if (mayResend) return accept(reconciled)
  return accept(reconciled, ...ended(facts, order, notFoundEvent(order), context))
}

/** The venue offers no search: it stays as it is until an operator says what became of it. */
export const recordLookupUnsupported = ({ trading: { orders } }: TradingFacts, orderId: string): Decision => {
  const order = orders.open.get(orderId)
  if (order === undefined || order.status !== 'unknown' || order.needsOperator) return accept()
  const { id, symbol, positionId, venue } = order
  return accept(
    reconciledEvent(order, 0, 'operator'),
    executionAlert({
      cause: 'order_unknown',
      message:
        `Nobody knows whether ${venue} has the order ${id} in ${symbol}, and it cannot be looked up: ` +
        'look there, then cancel the order here',
      symbol,
      orderId: id,
      positionId,
      repeat: 0,
    }),
  )
}

export interface CancelRequest {
  readonly orderId: string
  readonly operator: string
  readonly reason: string | null
  readonly surface: 'api' | 'cli'
}

/** By hand, at every level. */
export const cancelOrder = (
  facts: TradingFacts,
  { orderId, operator, reason, surface }: CancelRequest,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  const extras = { order_id: orderId }
  if (order === undefined) {
    const over = facts.trading.orders.ended.get(orderId)
    return over === undefined
      ? refuse('order.not_found', `no order has id ${orderId}`, extras)
      : refuse('order.not_open', `the order is ${over.status}`, { ...extras, order_status: over.status })
  }
  const why = reason ?? 'manual'
  // The operator looked at the venue, which nobody else can.
  const events = order.needsOperator
    ? ended(facts, order, canceledEvent(order, why), context)
    : givenUp(order, why, operator)
  if (events.length === 0) {
    return refuse('order.not_open', 'the venue has been asked to cancel it', {
      ...extras,
      order_status: order.status,
    })
  }
  return accept(...events.map((event, index) => (index === 0 ? { ...event, source: surface } : event)))
}

/** Sent again this often; then it is given up. */
const RESENDS_MAX = 3

const LOCKDOWN = 3
const NOT_FOUND = 'not_found_on_venue'

const isStillWanted = (facts: TradingFacts, order: Order, context: DecisionContext): boolean => {
  const { level } = facts.trading.killSwitch
  if (order.cancelReason !== null) return false
  if (order.isExit) {
    const position = facts.trading.positions.get(order.positionId)
    return position !== undefined && isOpen(position) && (level < LOCKDOWN || order.exitReason === 'manual')
  }
  const { orders } = facts.trading
  const others = {
    ...facts,
    trading: { ...facts.trading, orders: { ...orders, open: orders.open.delete(order.id) } },
  }
  return (
    level < 2 &&
    (order.validUntil === null || context.now <= order.validUntil) &&
    destinationOf(others, order.symbol, context).isAvailable
  )
}

/** The end of an order, and what follows from it for its position. */
const ended = (
  facts: TradingFacts,
  order: Order,
  event: NewEvent,
  context: DecisionContext,
): readonly NewEvent[] => {
  const builder = new EventBuilder(facts, context)
  builder.append(event)
  builder.append(...settled(builder.facts, order))
  return builder.events
}

const unknownEvent = ({ id, symbol }: Order, reason: string): NewEvent => ({
  type: 'execution.order_unknown.v1',
  source: 'oms',
  payload: { order_id: id, symbol, reason: reason.slice(0, 500) },
})

const reconciledEvent = (
  { id }: Order,
  lookups: number,
  action: 'resend' | 'fail' | 'operator',
): NewEvent => ({
  type: 'execution.order_reconciled.v1',
  source: 'oms',
  payload: { order_id: id, found: false, venue_status: null, lookups, action },
})

/** What was filled stays filled. */
const notFoundEvent = (order: Order): NewEvent =>
  order.filled > 0n
    ? canceledEvent(order, NOT_FOUND)
    : {
        type: 'execution.order_failed.v1',
        source: 'oms',
        payload: {
          order_id: order.id,
          intent_id: order.intentId,
          position_id: order.positionId,
          symbol: order.symbol,
          reasons: [NOT_FOUND],
          details: { position_id: order.positionId },
        },
      }
