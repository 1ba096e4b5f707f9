import type { Price } from '../../core/shared/money.ts'
import type { Command } from '../../core/decide.ts'
import { isExit, type Order } from '../../core/trading/orders.ts'
import type { Broker, BrokerOrder, LookupResult } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'

/** What a call to the venue found: something to record, nothing, or an unclear answer. */
export type Finding =
  | { readonly kind: 'record'; readonly command: Command }
  | { readonly kind: 'nothing-found' }
  | { readonly kind: 'unclear'; readonly reason: string }

export interface VenueConnection {
  readonly broker: Broker
  readonly timer: Timer
  readonly timeoutMs: number
  /** The symbol as the configuration spells it. */
  readonly spelling: (symbol: string) => string
  /** Leverage of the position that an entry opens. */
  readonly leverageOf: (order: Order) => number
}

/** Sends the order once; any failure is an unclear answer. */
export const sendOrder = async (order: Order, venue: VenueConnection): Promise<Command> => {
  const { id: orderId } = order
  const answer = await answered(venue, venue.broker.submit(brokerOrderOf(order, venue)))
  if (answer.kind === 'none') return { kind: 'mark-order-unknown', orderId, reason: answer.reason }
  switch (answer.value.status) {
    case 'accepted':
      return { kind: 'record-report', orderId, report: answer.value.report, lookups: null }
    case 'rejected':
      return { kind: 'record-rejection', orderId, reason: answer.value.reason }
    case 'unclear':
      return { kind: 'mark-order-unknown', orderId, reason: answer.value.reason }
  }
}

/** An order that has already ended is looked up, for its last fills. */
export const cancelAtVenue = async (order: Order, venue: VenueConnection): Promise<Finding> => {
  const answer = await answered(venue, venue.broker.cancel(nameOf(order, venue)))
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
): Promise<Finding> => {
  const answer = await answered<LookupResult>(venue, venue.broker.lookup(nameOf(order, venue)))
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
): Finding => ({ kind: 'record', command: { kind: 'record-report', orderId, report, lookups } })

type Answered<Value> =
  | { readonly kind: 'answer'; readonly value: Value }
  | { readonly kind: 'none'; readonly reason: string }

/** A timeout or an error counts as no answer. */
const answered = async <Value>(
  { timer, timeoutMs }: VenueConnection,
  asking: Promise<Value>,
): Promise<Answered<Value>> => {
  const answerArrived = new AbortController()
  const late = timer
    .wait(timeoutMs, answerArrived.signal)
    .then((): Answered<Value> => ({ kind: 'none', reason: `no answer in ${timeoutMs} ms` }))
  const answer = asking.then(
    (value): Answered<Value> => ({ kind: 'answer', value }),
    (error: unknown): Answered<Value> => ({
      kind: 'none',
      reason: error instanceof Error ? error.message : String(error),
    }),
  )
  const first = await Promise.race([answer, late])
  answerArrived.abort()
  return first
}

const nameOf = ({ clientOrderId, symbol }: Order, { spelling }: VenueConnection) => ({
  clientOrderId,
  symbol: spelling(symbol),
})

const brokerOrderOf = (order: Order, venue: VenueConnection): BrokerOrder => ({
  ...nameOf(order, venue),
  side: order.side,
  kind: limitPriceOf(order) === null ? 'market' : 'immediate_limit',
  quantity: order.quantity,
  limitPrice: limitPriceOf(order),
  reduceOnly: isExit(order),
  leverage: venue.leverageOf(order),
})

const limitPriceOf = ({ purpose }: Order): Price | null =>
  purpose.kind === 'entry' ? purpose.limitPrice : null
