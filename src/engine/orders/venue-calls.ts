import type { Command } from '../../core/decide.ts'
import { clientOrderId } from '../../core/trading/orders.ts'
import { isEntry, type Order } from '../../core/trading/orders.ts'
import type { Broker, BrokerOrder, Deadline, LookupResult, OrderName } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'

/** What a call to the venue found: something to record, nothing, or an unclear answer. */
export type Finding =
  | { readonly kind: 'record'; readonly command: Command }
  | { readonly kind: 'nothing-found' }
  | { readonly kind: 'unclear'; readonly reason: string }

export interface VenueConnection {
  readonly broker: Broker
  readonly timer: Timer
  /** The time for one call with all its requests. */
  readonly timeoutMs: number
  /** The symbol as the configuration spells it. */
  readonly spelling: (symbol: string) => string
  /** Leverage of the position that an entry opens. */
  readonly leverageOf: (order: Order) => number
}

/** Sends the order once. What fails without a clear answer may have arrived; after the timeout nothing more is sent. */
export const sendOrder = async (order: Order, venue: VenueConnection): Promise<Command> => {
  const { id: orderId } = order
  const answer = await answered(venue, (deadline) =>
    venue.broker.submit(brokerOrderOf(order, venue), deadline),
  )
  if (answer.kind === 'none') return { kind: 'mark-order-unknown', orderId, reason: answer.reason }
  switch (answer.value.status) {
    case 'accepted':
      return { kind: 'record-report', orderId, report: answer.value.report, lookups: null }
    case 'not_sent':
      return {
        kind: 'record-not-sent',
        orderId,
        reason: answer.value.reason,
        retryAfterMs: answer.value.retryAfterMs,
      }
    case 'rejected':
      return { kind: 'record-rejection', orderId, reason: answer.value.reason }
    case 'unclear':
      return { kind: 'mark-order-unknown', orderId, reason: answer.value.reason }
  }
}

/** An order that has already ended is looked up, for its last fills. */
export const cancelAtVenue = async (order: Order, venue: VenueConnection): Promise<Finding> => {
  const answer = await answered(venue, (deadline) => venue.broker.cancel(nameOf(order, venue), deadline))
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
  const answer = await answered<LookupResult>(venue, (deadline) =>
    venue.broker.lookup(nameOf(order, venue), deadline),
  )
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

/** A broker returns at the deadline; one that does not is not waited for much longer. */
const GRACE_MS = 1000

/** No answer soon after the deadline, or an error, counts as no answer. */
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

const nameOf = (order: Order, { spelling }: VenueConnection): OrderName => ({
  clientOrderId: clientOrderId(order.id),
  symbol: spelling(order.symbol),
  kind: kindOf(order),
})

const kindOf = ({ purpose }: Order): BrokerOrder['kind'] => {
  if (purpose.kind === 'protective_stop') return 'stop_market'
  return purpose.kind === 'exit' || purpose.limitPrice === null ? 'market' : 'immediate_limit'
}

const brokerOrderOf = (order: Order, venue: VenueConnection): BrokerOrder => ({
  ...nameOf(order, venue),
  side: order.side,
  quantity: order.quantity,
  limitPrice: order.purpose.kind === 'entry' ? order.purpose.limitPrice : null,
  triggerPrice: order.purpose.kind === 'protective_stop' ? order.purpose.triggerPrice : null,
  reduceOnly: !isEntry(order),
  leverage: venue.leverageOf(order),
})
