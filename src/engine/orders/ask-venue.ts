import type { Command } from '../../core/decide.ts'
import { clientOrderId } from '../../core/trading/entry.ts'
import type { Order } from '../../core/trading/orders.ts'
import type { Broker, BrokerOrder, LookupAnswer } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'

/** What came of asking: something to record, or how the search went. */
export type Finding =
  | { readonly kind: 'record'; readonly command: Command }
  | { readonly kind: 'nothing-found' }
  | { readonly kind: 'unclear'; readonly reason: string }

export interface VenueLine {
  readonly broker: Broker
  readonly timer: Timer
  readonly timeoutMs: number
  /** The symbol as the configuration spells it. */
  readonly spelling: (symbol: string) => string
  /** Of the position that an entry is to open. */
  readonly leverageOf: (order: Order) => number
}

/** Once, and whatever happens is an answer. */
export const sendOrder = async (order: Order, line: VenueLine): Promise<Command> => {
  const { id: orderId } = order
  const answer = await answered(line, line.broker.submit(brokerOrderOf(order, line)))
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

/** An order that had ended already is looked up: its last fills are told there. */
export const cancelAtVenue = async (order: Order, line: VenueLine): Promise<Finding> => {
  const answer = await answered(line, line.broker.cancel(nameOf(order, line)))
  if (answer.kind === 'none') return { kind: 'unclear', reason: answer.reason }
  switch (answer.value.status) {
    case 'canceled':
      return reported(order, answer.value.report, null)
    case 'not_open':
      return lookUp(order, line, null)
    case 'unclear':
      return { kind: 'unclear', reason: answer.value.reason }
  }
}

export const lookUp = async (order: Order, line: VenueLine, lookups: number | null): Promise<Finding> => {
  const answer = await answered<LookupAnswer>(line, line.broker.lookup(nameOf(order, line)))
  if (answer.kind === 'none') return { kind: 'unclear', reason: answer.reason }
  switch (answer.value.status) {
    case 'found':
      return reported(order, answer.value.report, lookups)
    case 'not_found':
      return { kind: 'nothing-found' }
    case 'impossible':
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

/** No answer in time is none, and neither is one that breaks. */
const answered = async <Value>(
  { timer, timeoutMs }: VenueLine,
  asking: Promise<Value>,
): Promise<Answered<Value>> => {
  const enough = new AbortController()
  const late = timer
    .wait(timeoutMs, enough.signal)
    .then((): Answered<Value> => ({ kind: 'none', reason: `no answer in ${timeoutMs} ms` }))
  const told = asking.then(
    (value): Answered<Value> => ({ kind: 'answer', value }),
    (error: unknown): Answered<Value> => ({
      kind: 'none',
      reason: error instanceof Error ? error.message : String(error),
    }),
  )
  const first = await Promise.race([told, late])
  enough.abort()
  return first
}

const nameOf = ({ id, symbol }: Order, { spelling }: VenueLine) => ({
  clientOrderId: clientOrderId(id),
  symbol: spelling(symbol),
})

const brokerOrderOf = (order: Order, line: VenueLine): BrokerOrder => ({
  ...nameOf(order, line),
  side: order.side,
  kind: order.limitPrice === null ? 'market' : 'immediate_limit',
  quantity: order.quantity,
  limitPrice: order.limitPrice,
  reduceOnly: order.isExit,
  leverage: line.leverageOf(order),
})
