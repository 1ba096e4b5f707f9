import type { Command } from '../../core/decide.ts'
import { NO_QUANTITY, type Price } from '../../core/shared/money.ts'
import { isEntry, type Order } from '../../core/trading/orders/orders.ts'
import type {
  Broker,
  BrokerOrder,
  CancelResult,
  Deadline,
  LookupResult,
  OrderName,
  OrderReport,
  StopReport,
  SubmitResult,
} from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'

/** Result of a call to the venue: a command to record, nothing found, or an unclear answer. */
export type VenueCallResult =
  | { readonly kind: 'record'; readonly command: Command }
  | { readonly kind: 'nothing-found' }
  | { readonly kind: 'unclear'; readonly reason: string }

export interface VenueConnection {
  readonly broker: Broker
  readonly timer: Timer
  /** Time limit for one call with all its requests. */
  readonly timeoutMs: number
  /** Symbol in the spelling of the configuration. */
  readonly spelling: (symbol: string) => string
  /** Leverage of the position that an entry opens. */
  readonly leverageOf: (order: Order) => number
}

/**
 * Sends the order once. A failure without a clear answer means that the order may have arrived. Nothing more is sent
 * after the timeout, or once something forbids the order: a venue may need seconds to set its leverage first.
 */
export const sendOrder = async (
  order: Order,
  venue: VenueConnection,
  reasonNotToSend: () => string | null,
): Promise<Command> => {
  const { id: orderId } = order
  const answer = await answered(venue, (deadline) =>
    callsFor(order, venue).submit({
      signal: deadline.signal,
      isOver: () => deadline.isOver() || reasonNotToSend() !== null,
    }),
  )
  if (answer.kind === 'none') return { kind: 'mark-order-unknown', orderId, reason: answer.reason }
  switch (answer.value.status) {
    case 'accepted':
      return { kind: 'record-report', orderId, report: answer.value.report, lookups: null }
    case 'not_sent': {
      const forbidden = reasonNotToSend()
      if (forbidden !== null) return { kind: 'record-unsent', orderId, reason: forbidden }
      return {
        kind: 'record-not-sent',
        orderId,
        reason: answer.value.reason,
        retryAfterMs: answer.value.retryAfterMs,
      }
    }
    case 'rejected':
      return { kind: 'record-rejection', orderId, reason: answer.value.reason }
    case 'unclear':
      return { kind: 'mark-order-unknown', orderId, reason: answer.value.reason }
  }
}

/** Cancels an order. One that has already ended is looked up, for its last fills. */
export const cancelAtVenue = async (order: Order, venue: VenueConnection): Promise<VenueCallResult> => {
  const answer = await answered(venue, callsFor(order, venue).cancel)
  if (answer.kind === 'none') return { kind: 'unclear', reason: answer.reason }
  switch (answer.value.status) {
    case 'canceled':
      return reported(order, answer.value.report, null)
    case 'not_open':
      return lookUp(order, venue, null)
    case 'unclear':
      return { kind: 'unclear', reason: answer.value.reason }
  }
}

export const lookUp = async (
  order: Order,
  venue: VenueConnection,
  lookups: number | null,
): Promise<VenueCallResult> => {
  const answer = await answered(venue, callsFor(order, venue).lookup)
  if (answer.kind === 'none') return { kind: 'unclear', reason: answer.reason }
  switch (answer.value.status) {
    case 'found':
      return reported(order, answer.value.report, lookups)
    case 'not_found':
      return { kind: 'nothing-found' }
    case 'unsupported':
      return { kind: 'record', command: { kind: 'record-lookup-unsupported', orderId: order.id } }
    case 'unclear':
      return { kind: 'unclear', reason: answer.value.reason }
  }
}

const reported = (
  { id: orderId }: Order,
  report: Extract<Command, { kind: 'record-report' }>['report'],
  lookups: number | null,
): VenueCallResult => ({ kind: 'record', command: { kind: 'record-report', orderId, report, lookups } })

type Answered<Value> =
  | { readonly kind: 'answer'; readonly value: Value }
  | { readonly kind: 'none'; readonly reason: string }

/** Brokers return at the deadline. One that does not is given only this much longer. */
const GRACE_MS = 1000

/** An error, or no answer soon after the deadline, counts as no answer. */
const answered = async <Value>(
  { timer, timeoutMs }: VenueConnection,
  ask: (deadline: Deadline) => Promise<Value>,
): Promise<Answered<Value>> => {
  const ended = new AbortController()
  const over = new AbortController()
  const overMs = timer.now() + timeoutMs
  const late = timer
    .wait(timeoutMs, ended.signal)
    .then(() => {
      over.abort()
      return timer.wait(GRACE_MS, ended.signal)
    })
    .then((): Answered<Value> => ({ kind: 'none', reason: `no answer in ${timeoutMs} ms` }))
  const deadline = { signal: over.signal, isOver: () => over.signal.aborted || timer.now() >= overMs }
  const answer = ask(deadline).then(
    (value): Answered<Value> => ({ kind: 'answer', value }),
    (error: unknown): Answered<Value> => ({
      kind: 'none',
      reason: error instanceof Error ? error.message : String(error),
    }),
  )
  const first = await Promise.race([answer, late])
  ended.abort()
  return first
}

/** Calls for one order. Venues have separate calls for stops and for other orders. */
interface OrderCalls {
  readonly submit: (deadline: Deadline) => Promise<SubmitResult>
  readonly cancel: (deadline: Deadline) => Promise<CancelResult>
  readonly lookup: (deadline: Deadline) => Promise<LookupResult>
}

const callsFor = (order: Order, venue: VenueConnection): OrderCalls => {
  const { purpose } = order
  if (purpose.kind === 'protective_stop') return stopCalls(order, purpose.triggerPrice, venue)
  const name = nameOf(order, venue)
  const limitPrice = purpose.kind === 'entry' ? purpose.limitPrice : null
  const brokerOrder: BrokerOrder = {
    ...name,
    side: order.side,
    kind: limitPrice === null ? 'market' : 'immediate_limit',
    quantity: order.quantity,
    limitPrice,
    reduceOnly: !isEntry(order),
    leverage: venue.leverageOf(order),
  }
  return {
    submit: (deadline) => venue.broker.submit(brokerOrder, deadline),
    cancel: (deadline) => venue.broker.cancel(name, deadline),
    lookup: (deadline) => venue.broker.lookup(name, deadline),
  }
}

const stopCalls = (order: Order, triggerPrice: Price, venue: VenueConnection): OrderCalls => {
  const { stops } = venue.broker
  if (stops === null) return NO_STOPS
  const name = nameOf(order, venue)
  const { side, quantity } = order
  return {
    submit: async (deadline) => {
      const result = await stops.place({ ...name, side, quantity, triggerPrice }, deadline)
      return result.status === 'accepted' ? { status: 'accepted', report: stopReport(result.stop) } : result
    },
    cancel: async (deadline) => {
      const result = await stops.cancel(name, deadline)
      return result.status === 'canceled' ? { status: 'canceled', report: canceledReport(order) } : result
    },
    lookup: async (deadline) => {
      const result = await stops.lookup(name, deadline)
      return result.status === 'found' ? { status: 'found', report: stopReport(result.stop) } : result
    },
  }
}

/** Calls for a stop at a venue that no longer supports stops. */
const NO_STOPS: OrderCalls = {
  submit: () =>
    Promise.resolve({ status: 'not_sent', reason: 'stops cannot rest at the venue', retryAfterMs: null }),
  cancel: () => Promise.resolve({ status: 'not_open' }),
  lookup: () => Promise.resolve({ status: 'unsupported' }),
}

/**
 * Represents a stop as an order that rests until it is triggered, with the fills of the order that the trigger sent.
 */
const stopReport = ({ clientOrderId, venueOrderId, status, order }: StopReport): OrderReport => {
  const unfilled = { clientOrderId, venueOrderId, filledQuantity: NO_QUANTITY, fills: [] }
  switch (status) {
    case 'resting':
      return { ...unfilled, status: 'open' }
    case 'triggered':
      return order === null ? { ...unfilled, status: 'open' } : { ...order, venueOrderId }
    case 'canceled':
    case 'rejected':
      return { ...unfilled, ...order, venueOrderId, status }
  }
}

const canceledReport = ({ clientOrderId, venueOrderId, filled }: Order): OrderReport => ({
  clientOrderId,
  venueOrderId: venueOrderId ?? '',
  status: 'canceled',
  filledQuantity: filled,
  fills: [],
})

const nameOf = ({ clientOrderId, symbol }: Order, { spelling }: VenueConnection): OrderName => ({
  clientOrderId,
  symbol: spelling(symbol),
})
