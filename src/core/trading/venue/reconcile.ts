import { canonicalSymbol } from '../../shared/symbol.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import type { OrderId } from '../../shared/brand.ts'
import { accept, refuse, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { blocksEntries, blocksExits } from '../../shared/level.ts'
import { hasPassed } from '../../shared/time.ts'
import { destinationOf } from './destination.ts'
import type { TradingFacts } from '../evolve.ts'
import {
  byId,
  cancelEvents,
  canceledEvent,
  isManualExit,
  isUnknown,
  PAPER,
  type OpenOrder,
  type Order,
} from '../orders/orders.ts'
import { isOpen } from '../positions/positions.ts'
import { executionAlert, exitFailedAlert } from '../orders/execution-alerts.ts'
import { ended, failedEvent, REASON_LENGTH_MAX, reconciledEvent } from './venue-orders.ts'
import { omsEvent } from '../orders/oms-event.ts'

/** Records that the state of the order at the venue is unknown. */
export const markOrderUnknown = (
  { trading: { orders } }: TradingFacts,
  id: OrderId,
  reason: string,
): Decision => {
  const order = orders.open.get(id)
  return order === undefined || isUnknown(order) ? accept() : accept(unknownEvent(order, reason))
}

/** Marks every open order at a venue as unknown, after a restart. */
export const markOrdersUnknown = ({ trading: { orders } }: TradingFacts, reason: string): Decision =>
  accept(
    ...[...orders.open.values()]
      .filter((order) => order.venue !== PAPER && !isUnknown(order))
      .toSorted(byId)
      .map((order) => unknownEvent(order, reason)),
  )

/** Records that repeated look-ups did not find the order. It is sent again under the same client id, or fails. */
export const recordNotFound = (
  facts: TradingFacts,
  id: OrderId,
  lookups: number,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(id)
  if (order === undefined || !isUnknown(order)) return accept()
  const mayResend = order.resends < RESENDS_MAX && order.filled === 0n && isStillWanted(facts, order, context)
  const action = mayResend ? 'resend' : 'fail'
  const reconciled = reconciledEvent(order, { found: false, venue_status: null, lookups, action })
  if (mayResend) return accept(reconciled)
  return accept(reconciled, ...ended(facts, order, notFoundEvent(order), context))
}

/**
 * Records that the venue does not report the state of an exit. Until it does, the position may still be held, and
 * nothing more is sent.
 */
export const recordUnclearLookup = (
  { trading }: TradingFacts,
  { orderId: id, reason }: { readonly orderId: OrderId; readonly reason: string },
  context: DecisionContext,
): Decision => {
  const order = trading.orders.open.get(id)
  const position = order === undefined ? undefined : trading.positions.get(order.positionId)
  if (order === undefined || !isUnknown(order) || position?.status !== 'closing') return accept()
  if (position.exit.orderId !== id || !hasPassed(UNCLEAR_MS, order.submittedAt, context.now)) return accept()
  const said = reason.slice(0, REASON_LENGTH_MAX)
  return accept(...exitFailedAlert(trading, position, { order, reason: said }, context))
}

/** Most lookups are answered within this time. */
const UNCLEAR_MS = 60_000

/** Records that the venue offers no look-up. The order stays unknown until an operator reports its result. */
export const recordLookupUnsupported = ({ trading: { orders } }: TradingFacts, id: OrderId): Decision => {
  const order = orders.open.get(id)
  if (order === undefined || !isUnknown(order) || order.needsOperator) return accept()
  const { symbol, positionId, venue } = order
  return accept(
    reconciledEvent(order, { found: false, venue_status: null, lookups: 0, action: 'operator' }),
    executionAlert({
      cause: 'order_unknown',
      message:
        `It is not known whether ${venue} has order ${id} in ${symbol}, and ${venue} cannot look it up: ` +
        'check there, then cancel the order here',
      symbol,
      orderId: id,
      positionId,
    }),
  )
}

export interface CancelRequest {
  readonly orderId: OrderId
  readonly operator: string
  readonly reason: string | null
  readonly surface: 'api' | 'cli'
}

/** Cancels an order manually, at every level of the kill switch. */
export const cancelOrder = (
  facts: TradingFacts,
  { orderId: id, operator, reason, surface }: CancelRequest,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(id)
  const extras = { order_id: id }
  if (order === undefined) {
    const past = facts.trading.orders.ended.get(id)
    return past === undefined
      ? refuse('order.not_found', `no order has id ${id}`, extras)
      : refuse('order.not_open', `the order is ${past.status}`, { ...extras, order_status: past.status })
  }
  const why = reason ?? 'manual'
  // The operator has checked the order at the venue, which the engine cannot do.
  const events =
    isUnknown(order) && order.needsOperator
      ? ended(facts, order, canceledEvent(order, why), context)
      : cancelEvents(order, why, operator)
  if (events.length === 0) {
    return refuse('order.not_open', 'the venue has been asked to cancel it', {
      ...extras,
      order_status: order.status,
    })
  }
  return accept(...events.map((event, index) => (index === 0 ? { ...event, source: surface } : event)))
}

/** Limit of resends. After it the order fails. */
const RESENDS_MAX = 3
const NOT_FOUND = 'not_found_on_venue'

const isStillWanted = (facts: TradingFacts, order: OpenOrder, context: DecisionContext): boolean => {
  const { killSwitch, orders, positions } = facts.trading
  const { purpose } = order
  if (order.cancelReason !== null) return false
  if (purpose.kind !== 'entry') {
    const position = positions.get(order.positionId)
    if (position === undefined || !isOpen(position)) return false
    return !blocksExits(killSwitch.level) || isManualExit(order)
  }
  const others = {
    ...facts,
    trading: { ...facts.trading, orders: { ...orders, open: orders.open.delete(order.id) } },
  }
  return (
    !blocksEntries(killSwitch.level) &&
    (purpose.validUntil === null || context.now <= purpose.validUntil) &&
    destinationOf(others, canonicalSymbol(order.symbol), context).isAvailable
  )
}

const unknownEvent = ({ id, symbol }: Order, reason: string): NewEvent =>
  omsEvent('execution.order_unknown.v1', { order_id: id, symbol, reason: reason.slice(0, REASON_LENGTH_MAX) })

/** Ends an order that was not found. Fills that were recorded remain. */
const notFoundEvent = (order: Order): NewEvent =>
  order.filled > 0n ? canceledEvent(order, NOT_FOUND) : failedEvent(order, NOT_FOUND, {})
