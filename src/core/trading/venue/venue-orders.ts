import { canonicalSymbol } from '../../shared/symbol.ts'
import { asKnown, type NewEvent, type PayloadOf } from '../../events/catalogue.ts'
import { assert } from '../../shared/assert.ts'
import type { OrderId, PositionId, Timestamp } from '../../shared/brand.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import type { JsonObject } from '../../shared/json.ts'
import {
  minus,
  NO_QUANTITY,
  NO_USD,
  notionalOf,
  priceNumber,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { markNow } from '../../signals/prices.ts'
import { timestampAt } from '../../shared/time.ts'
import { evolveTrading, type TradingFacts, type TradingState } from '../evolve.ts'
import { closedEvents } from '../positions/exits.ts'
import { exitFailedAlert, reasonIn, unprotectedEvents } from '../orders/execution-alerts.ts'
import { filledEvent, type Fill } from '../orders/fills.ts'
import {
  canceledEvent,
  intentOf,
  isEntry,
  isProtectiveStop,
  isUnknown,
  NOT_SENT,
  quantityOpen,
  type OpenOrder,
  type Order,
} from '../orders/orders.ts'
import { entryOrderOf, isOpen } from '../positions/positions.ts'
import { entryProgress } from '../orders/resting-orders.ts'
import { omsEvent } from '../orders/oms-event.ts'

/** A trade at the venue, with its id there. */
export interface VenueFill {
  readonly venueTradeId: string
  readonly price: Price
  readonly quantity: Quantity
  readonly feeUsd: Usd
  readonly atMs: number
}

/** State of an order at the venue. */
export interface VenueReport {
  readonly venueOrderId: string
  readonly status: 'open' | 'partial' | 'filled' | 'canceled' | 'rejected'
  readonly filledQuantity: Quantity
  readonly fills: readonly VenueFill[]
}

export interface ReportCommand {
  readonly orderId: OrderId
  readonly report: VenueReport
  /** Number of look-ups, if the order was unknown. */
  readonly lookups: number | null
}

/**
 * Records what is new in a report: acknowledgement, fills, the end of the order, and the consequences for its position.
 */
export const recordReport = (
  facts: TradingFacts,
  { orderId, report, lookups }: ReportCommand,
  context: DecisionContext,
): Decision => {
  const order = facts.trading.orders.open.get(orderId)
  if (order === undefined) return accept()
  const builder = new EventBuilder(facts, context)
  if (isUnknown(order)) {
    const found = { found: true, venue_status: report.status, lookups: lookups ?? 0, action: 'none' } as const
    builder.append(reconciledEvent(order, found))
  }
  if (order.venueOrderId === null) {
    builder.append(
      omsEvent('execution.order_acknowledged.v1', {
        order_id: order.id,
        venue_order_id: report.venueOrderId,
      }),
    )
  }
  for (const fill of newFills(order, report)) {
    builder.append(...stopTriggeredEvents(builder.facts, order, fill))
    builder.append(...fillEvents(builder.facts, order.id, fill, context))
  }
  const rest = builder.facts.trading.orders.open.get(order.id)
  const end = rest !== undefined && hasEnded(report, rest) ? endEvent(rest, report) : null
  if (end !== null) builder.append(end)
  builder.append(...positionEvents(builder.facts, order, end, context))
  return accept(...builder.events)
}

/** Records that the venue refused the order. */
export const recordRejection = (
  facts: TradingFacts,
  id: OrderId,
  reason: string,
  context: DecisionContext,
): Decision =>
  endAttempt(facts, id, context, (order) => rejectedEvent(order, reason.slice(0, REASON_LENGTH_MAX)))

export interface NotSent {
  readonly orderId: OrderId
  readonly reason: string
  /** Pause that the venue requests; null if it requests none. */
  readonly retryAfterMs: number | null
}

/** Records that the order was not sent, or that the venue rejected it unread. */
export const recordNotSent = (
  facts: TradingFacts,
  { orderId: id, reason, retryAfterMs }: NotSent,
  context: DecisionContext,
): Decision => {
  const details = { reason: reason.slice(0, REASON_LENGTH_MAX) }
  const retryAt =
    retryAfterMs === null ? null : timestampAt(Date.parse(context.now) + Math.ceil(retryAfterMs))
  return endAttempt(facts, id, context, (order) => failedEvent(order, NOT_SENT, details, retryAt))
}

/** Records the decision not to send the order. */
export const recordUnsent = (
  facts: TradingFacts,
  id: OrderId,
  reason: string,
  context: DecisionContext,
): Decision => endAttempt(facts, id, context, (order) => canceledEvent(order, order.cancelReason ?? reason))

/**
 * Ends an order that is being sent. Orders in any other status are left unchanged, because their result is known
 * already.
 */
const endAttempt = (
  facts: TradingFacts,
  id: OrderId,
  context: DecisionContext,
  endOf: (order: OpenOrder) => NewEvent,
): Decision => {
  const order = facts.trading.orders.open.get(id)
  if (order === undefined || order.status !== 'submitting') return accept()
  return accept(...ended(facts, order, endOf(order), context))
}

/** Collects events inside one decision. Each is decided on the state after the ones before it. */
class EventBuilder {
  readonly events: NewEvent[] = []
  facts: TradingFacts
  readonly #now: Timestamp

  constructor(facts: TradingFacts, { now }: DecisionContext) {
    this.facts = facts
    this.#now = now
  }

  append(...events: readonly NewEvent[]): void {
    for (const event of events) {
      this.events.push(event)
      const known = asKnown({
        seq: 0,
        id: '',
        type: event.type,
        ts: event.ts ?? this.#now,
        source: event.source,
        traceId: null,
        dedupeKey: null,
        payload: event.payload as unknown as JsonObject,
        recordedAt: this.#now,
      })
      assert(known !== null, `trading wrote an event of unknown type ${event.type}`)
      this.facts = { ...this.facts, trading: evolveTrading(this.facts.trading, known) }
    }
  }
}

export const REASON_LENGTH_MAX = 500

/** Fills that are not recorded yet, in the order of their times, each once. */
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
  id: OrderId,
  { price, quantity, feeUsd: fee, venueTradeId, atMs }: VenueFill,
  context: DecisionContext,
): readonly NewEvent[] => {
  const order = facts.trading.orders.open.get(id)
  // The order is already filled, so the venue filled more than was ordered. The account sweep detects that.
  if (order === undefined) return []
  const fill: Fill = { price, quantity, notional: notionalOf(price, quantity), fee }
  const left = minus(quantityOpen(order), quantity)
  const remaining = left > 0n ? left : NO_QUANTITY
  const filled = filledEvent({ ...order, intentId: intentOf(order) }, fill, {
    fillNo: order.fills + 1,
    remaining,
    venueTradeId,
  })
  if (!isEntry(order)) return [filled]
  const mid = markNow(facts, canonicalSymbol(order.symbol), context)?.price ?? price
  const progress = entryProgress(facts, order, fill, { remaining, mid, context })
  const ts = timeOfFill(order, atMs, context)
  return [
    filled,
    ...progress.map((event) => (event.type === 'execution.position_opened.v1' ? { ...event, ts } : event)),
  ]
}

/** Largest assumed difference between the clock of a venue and ours. */
export const VENUE_CLOCK_MS_MAX = 5000

/**
 * Time at which a position opens: that of its first fill, however late it is reported, because charges of the venue
 * from then on belong to it. Impossible times, before the order or after now, are replaced.
 */
const timeOfFill = ({ submittedAt }: Order, atMs: number, { now }: DecisionContext): Timestamp => {
  if (atMs < Date.parse(submittedAt) - VENUE_CLOCK_MS_MAX) return submittedAt
  const at = timestampAt(atMs)
  return at < now ? at : now
}

/** Event for the first fill of a stop that rested at the venue, after which the position is closing. */
const stopTriggeredEvents = (
  { trading }: TradingFacts,
  { id, positionId, purpose }: Order,
  { atMs }: VenueFill,
): readonly NewEvent[] => {
  const position = trading.positions.get(positionId)
  if (purpose.kind !== 'protective_stop' || position === undefined) return []
  if (!isOpen(position) || position.status === 'closing') return []
  const trigger = { kind: 'venue', price: priceNumber(purpose.triggerPrice), ts: timestampAt(atMs) } as const
  return [omsEvent('execution.venue_stop_triggered.v1', { order_id: id, position_id: positionId, trigger })]
}

/** An order has ended once all trades that the report counts are recorded. */
const hasEnded = ({ status, filledQuantity }: VenueReport, { filled }: Order): boolean =>
  status !== 'open' && status !== 'partial' && filled >= filledQuantity

const endEvent = (order: Order, { status }: VenueReport): NewEvent =>
  status === 'rejected' && order.filled === 0n
    ? rejectedEvent(order, 'the venue says so')
    : canceledEvent(order, order.cancelReason ?? 'remainder')

/** Events for the end of an order, and the consequences for its position. */
export const ended = (
  facts: TradingFacts,
  order: OpenOrder,
  event: NewEvent,
  context: DecisionContext,
): readonly NewEvent[] => {
  const builder = new EventBuilder(facts, context)
  builder.append(event)
  builder.append(...positionEvents(builder.facts, order, event, context))
  return builder.events
}

/** Consequences for a position when one of its orders has ended: it is closed, or its exit has failed. */
const positionEvents = (
  { trading }: TradingFacts,
  order: Order,
  end: NewEvent | null,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { id, positionId } = order
  const position = trading.positions.get(positionId)
  if (position === undefined || !isOpen(position)) return []
  if (position.status !== 'closing') return unprotectedEvents(trading, position, order)
  const entry = entryOrderOf(position)
  if (entry !== null && trading.orders.open.has(entry)) return []
  const { exit, holding } = position
  if (exit.quantity >= holding.quantity) {
    return closedEvents(position, NO_FILL, { reason: exit.reason, trigger: exit.trigger })
  }
  if (id !== exit.orderId || trading.orders.open.has(id)) return []
  // A rejected exit may have had nothing to reduce, because the stop at the venue filled first. That is looked up
  // before an alert is raised.
  const isRejected = trading.orders.ended.get(id)?.status === 'rejected'
  if (isRejected && exit.attempt === 1 && hasProtectiveStop(trading, positionId)) return []
  return exitFailedAlert(trading, position, { order, reason: reasonIn(end) }, context)
}

const hasProtectiveStop = ({ orders }: TradingState, id: PositionId): boolean =>
  orders.open.some((order) => order.positionId === id && isProtectiveStop(order))

/** The fills of the exit are already part of its progress. */
const NO_FILL: Fill = { price: 0n as Price, quantity: NO_QUANTITY, notional: NO_USD, fee: NO_USD }

export const reconciledEvent = (
  { id }: Order,
  result: Omit<PayloadOf<'execution.order_reconciled.v1'>, 'order_id'>,
): NewEvent => omsEvent('execution.order_reconciled.v1', { order_id: id, ...result })

const rejectedEvent = (order: Order, reason: string): NewEvent =>
  failedEvent(order, 'venue_rejected', { venue_reason: reason })

export const failedEvent = (
  order: Order,
  reason: string,
  details: JsonObject,
  retryAt: Timestamp | null = null,
): NewEvent =>
  omsEvent('execution.order_failed.v1', {
    order_id: order.id,
    intent_id: intentOf(order),
    position_id: order.positionId,
    symbol: order.symbol,
    reasons: [reason],
    details: { position_id: order.positionId, ...details },
    ...(retryAt === null ? {} : { retry_at: retryAt }),
  })
