import { executionAlert } from './execution-alert.ts'
import { markNow } from '../signals/prices.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { closedEvents } from './exits.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { canceledEvent } from './cancel.ts'
import type { Order } from './orders.ts'
import { filledEvent, type Fill } from './paper.ts'
import type { Position } from './positions.ts'
import { entryProgress } from './resting-fills.ts'
import { EventBuilder } from './event-builder.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { notionalOf, unitsNumber, type Price, type Quantity, type Usd } from '../shared/money.ts'
import type { TradingFacts } from './evolve.ts'

/** A trade at the venue, under the name it has there. */
export interface VenueFill {
  readonly venueTradeId: string
  readonly price: Price
  readonly quantity: Quantity
  readonly feeUsd: Usd
  readonly atMs: number
}

/** All that the venue knows of an order. */
export interface VenueReport {
  readonly venueOrderId: string
  readonly status: 'open' | 'partial' | 'filled' | 'canceled' | 'rejected'
  readonly filledQuantity: Quantity
  readonly fills: readonly VenueFill[]
}

/** What is new in it. `lookups`: how often was asked, where the order had been unknown. */
export const recordReport = (
  facts: TradingFacts,
  { orderId, report, lookups }: ReportCommand,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  if (order === undefined) return accept()
  const builder = new EventBuilder(facts, context)
  if (order.status === 'unknown') builder.append(reconciledEvent(order, report, lookups ?? 0))
  if (order.venueOrderId === null) {
    builder.append({
      type: 'execution.order_acknowledged.v1',
      source: 'oms',
      payload: { order_id: order.id, venue_order_id: report.venueOrderId },
    })
  }
  for (const fill of newFills(order, report))
    builder.append(...fillEvents(builder.facts, order.id, fill, context))
  const rest = builder.facts.trading.orders.open.get(order.id)
  if (rest !== undefined && hasEnded(report, rest)) builder.append(endEvent(rest, report))
  builder.append(...settled(builder.facts, order))
  return accept(...builder.events)
}

export interface ReportCommand {
  readonly orderId: string
  readonly report: VenueReport
  readonly lookups: number | null
}

/** What follows for a position when one of its orders has ended: it is closed, or its exit has failed. */
export const settled = (
  facts: TradingFacts,
  { id, positionId, symbol, isExit }: Order,
): readonly NewEvent[] => {
  const position = facts.trading.positions.get(positionId)
  if (position === undefined || position.status !== 'closing') return []
  const { exit, quantity } = position.holding
  if (exit === null || facts.trading.orders.open.has(position.terms.orderId)) return []
  if (exit.quantity >= quantity) return closedBy(position)
  if (!isExit || facts.trading.orders.open.has(id)) return []
  const left = unitsNumber(quantity - exit.quantity)
  return [
    executionAlert({
      cause: 'exit_failed',
      message: `An exit of ${symbol} did not succeed: ${left} are still held, it is tried again`,
      symbol,
      orderId: id,
      positionId,
      repeat: exit.attempt - 1,
    }),
  ]
}

const reconciledEvent = (order: Order, { status }: VenueReport, lookups: number): NewEvent => ({
  type: 'execution.order_reconciled.v1',
  source: 'oms',
  payload: { order_id: order.id, found: true, venue_status: status, lookups, action: 'none' },
})

/** In the order in which they happened, each once. */
const newFills = ({ tradeIds }: Order, { fills }: VenueReport): readonly VenueFill[] => {
  const known = new Set(tradeIds)
  const fresh = new Map(
    fills.filter(({ venueTradeId }) => !known.has(venueTradeId)).map((fill) => [fill.venueTradeId, fill]),
  )
  return [...fresh.values()].toSorted(
    (one, other) => one.atMs - other.atMs || (one.venueTradeId < other.venueTradeId ? -1 : 1),
  )
}

const fillEvents = (
  facts: TradingFacts,
  orderId: string,
  told: VenueFill,
  context: DecisionContext,
): readonly NewEvent[] => {
  const order = facts.trading.orders.open.get(orderId)
  // More than was ordered: the venue's position will tell.
  if (order === undefined) return []
  const { price, quantity, feeUsd: fee, venueTradeId } = told
  const fill: Fill = { price, quantity, notional: notionalOf(price, quantity), fee }
  const left = order.quantity - order.filled - quantity
  const remaining = left > 0n ? left : 0n
  const filled = filledEvent(order, fill, { fillNo: order.fills + 1, remaining, venueTradeId })
  if (order.isExit) return [filled]
  const mid = markNow(facts, order.symbol, context)?.price ?? unitsNumber(price)
  return [filled, ...entryProgress(facts, order, fill, { remaining, mid, context })]
}

/** Not before every trade that the order speaks of is recorded. */
const hasEnded = ({ status, filledQuantity }: VenueReport, { filled }: Order): boolean =>
  status !== 'open' && status !== 'partial' && filled >= filledQuantity

const endEvent = (order: Order, { status }: VenueReport): NewEvent =>
  status === 'rejected' && order.filled === 0n
    ? rejectedEvent(order, 'the venue says so')
    : canceledEvent(order, order.cancelReason ?? 'remainder')

export const rejectedEvent = (order: Order, reason: string): NewEvent => ({
  type: 'execution.order_failed.v1',
  source: 'oms',
  payload: {
    order_id: order.id,
    intent_id: order.intentId,
    position_id: order.positionId,
    symbol: order.symbol,
    reasons: ['venue_rejected'],
    details: { position_id: order.positionId, venue_reason: reason },
  },
})

/** Its fills are in the holding already. */
const closedBy = (position: Position): readonly NewEvent[] => {
  const { exit } = position.holding
  if (exit === null) return []
  const { reason, trigger } = exit
  return closedEvents(position, NO_FILL, { reason, trigger })
}

const NO_FILL: Fill = { price: 0n, quantity: 0n, notional: 0n, fee: 0n }
