import { type Price, type Quantity } from '../core/shared/money.ts'
import type {
  Broker,
  BrokerFill,
  BrokerOrder,
  Deadline,
  OrderName,
  RestingStops,
  StopOrder,
} from './broker.ts'
import type { Timer } from './timer.ts'

/** A broker and the simulated venue behind it, which works until a fault is added. */
export interface BrokerFixture {
  /** Trades BTC and ETH perpetuals, and is not preflighted yet. BTC costs 60,000 USD, the account has 10,000 USD. */
  readonly broker: PatientBroker
  /** Returns a deadline this far from now. */
  readonly within: (ms: number) => Deadline
  /** Makes the next requests of this kind fail in this way. */
  readonly addFault: (at: RequestKind, fault: BrokerFault, times?: number) => void
  /** Random faults for a share of all requests, repeatable by seed; null ends them. */
  readonly randomFaults: (schedule: { readonly seed: number; readonly share: number } | null) => void
  /** Content of the response to a new order: the whole order, or its ids only. */
  readonly acknowledges: 'orders' | 'ids'
  /** Pauses that the venue requests after a limit and after a ban. */
  readonly pauseMs: Readonly<Record<'limit' | 'ban', number>>
  /** Sets the price, and sends the orders of stops that it reaches. */
  readonly setPrice: (symbol: string, price: bigint) => void
  /** Margin mode and leverage that the venue has for a symbol. */
  readonly marginOf: (symbol: string) => { readonly mode: string; readonly leverage: number }
  /** From then on the venue accepts changes of margin mode and leverage without making them. */
  readonly stickMargins: () => void
  /** Client order ids of the stops that rest at the venue. */
  readonly restingStops: () => readonly string[]
  /** Trades of the order that a stop sent. */
  readonly tradesOfStop: (clientOrderId: string) => readonly VenueTrade[]
  /** Makes the venue stop trading the symbol. */
  readonly delist: (symbol: string) => void
  /** Fills the rest of an open order. */
  readonly fillRest: (clientOrderId: string) => void
  /** Makes the venue close the position by force. */
  readonly liquidate: (symbol: string) => void
  /** Number of requests that have reached the venue. */
  readonly requests: () => number
  readonly now: () => number
  /** Orders that the venue accepted, in order. */
  readonly orders: () => readonly VenueOrder[]
  readonly tradesOf: (clientOrderId: string) => readonly VenueTrade[]
  /** Advances time. */
  readonly pass: (ms: number) => Promise<void>
  /** Advances time until the promise is settled. */
  readonly run: <T>(promise: Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export type RequestKind =
  | 'submit'
  | 'lookup'
  | 'cancel'
  | 'trades'
  | 'account'
  | 'leverage'
  | 'place_stop'
  | 'lookup_stop'
  | 'cancel_stop'
  | 'any'

export type BrokerFault =
  | 'drop_before'
  | 'drop_after'
  | 'silence_before'
  | 'silence_after'
  /** Executed, and answered 4.5 s later. */
  | 'late'
  | 'broken_off'
  | 'page_before'
  | 'page_after'
  | 'server_error_before'
  | 'server_error_after'
  | 'unknown_after'
  | 'limit'
  | 'limit_of_a_proxy'
  | 'ban'
  | 'refusal'
  | 'wrong_precision'
  /** Accepted, but never stored by the venue. */
  | 'lost'
  /** Not found by the first lookups. */
  | 'hidden'
  | 'part_then_canceled'
  | 'part_then_open'
  | 'late_trades'
  | 'repeated_trades'
  | 'shuffled_trades'

export interface VenueOrder {
  readonly clientOrderId: string
  readonly quantity: bigint
  readonly limitPrice: bigint | null
  readonly executed: bigint
}

export type VenueTrade = Pick<BrokerFill, 'venueTradeId' | 'price' | 'quantity'>

/** A broker whose calls have no time limit by default. */
export interface PatientBroker extends Broker {
  submit(order: BrokerOrder, deadline?: Deadline): ReturnType<Broker['submit']>
  cancel(order: BrokerOrder, deadline?: Deadline): ReturnType<Broker['cancel']>
  lookup(order: BrokerOrder, deadline?: Deadline): ReturnType<Broker['lookup']>
  readonly stops: PatientStops | null
}

export interface PatientStops extends RestingStops {
  place(stop: StopOrder, deadline?: Deadline): ReturnType<RestingStops['place']>
  cancel(stop: OrderName, deadline?: Deadline): ReturnType<RestingStops['cancel']>
  lookup(stop: OrderName, deadline?: Deadline): ReturnType<RestingStops['lookup']>
}

export const patient = (broker: Broker): PatientBroker => ({
  ...broker,
  submit: (order, deadline = NO_DEADLINE) => broker.submit(order, deadline),
  cancel: (order, deadline = NO_DEADLINE) => broker.cancel(order, deadline),
  lookup: (order, deadline = NO_DEADLINE) => broker.lookup(order, deadline),
  stops: broker.stops === null ? null : patientStops(broker.stops),
})

const patientStops = (stops: RestingStops): PatientStops => ({
  ...stops,
  place: (stop, deadline = NO_DEADLINE) => stops.place(stop, deadline),
  cancel: (stop, deadline = NO_DEADLINE) => stops.cancel(stop, deadline),
  lookup: (stop, deadline = NO_DEADLINE) => stops.lookup(stop, deadline),
})

const NO_DEADLINE: Deadline = { signal: new AbortController().signal, isOver: () => false }

export const deadlineIn = (timer: Timer, ms: number): Deadline => {
  const over = new AbortController()
  const overMs = timer.now() + ms
  const end = (): void => over.abort()
  void timer.wait(ms, new AbortController().signal).then(end, end)
  return { signal: over.signal, isOver: () => timer.now() >= overMs }
}

/** An entry that fills at once by default. */
export const entryOf = (clientOrderId: string, changes: Partial<BrokerOrder> = {}): BrokerOrder => ({
  clientOrderId,
  symbol: 'BTC',
  side: 'buy',
  kind: 'immediate_limit',
  quantity: units(0.05) as Quantity,
  limitPrice: units(60_300) as Price,
  reduceOnly: false,
  leverage: 3,
  ...changes,
})

export const exitOf = (clientOrderId: string, changes: Partial<BrokerOrder> = {}): BrokerOrder =>
  entryOf(clientOrderId, { side: 'sell', kind: 'market', limitPrice: null, reduceOnly: true, ...changes })

/** A stop two thousand dollars below the price of BTC. */
export const stopOf = (clientOrderId: string, changes: Partial<StopOrder> = {}): StopOrder => ({
  clientOrderId,
  symbol: 'BTC',
  side: 'sell',
  quantity: units(0.05) as Quantity,
  triggerPrice: units(58_000) as Price,
  ...changes,
})

export const units = (value: number): bigint => BigInt(Math.round(value * 100_000_000))

/** Fills in the form of the venue's trades. */
export const tradesIn = (fills: readonly BrokerFill[]): readonly VenueTrade[] =>
  fills.map(({ venueTradeId, price, quantity }) => ({ venueTradeId, price, quantity }))

export const sumOf = (parts: readonly { readonly quantity: bigint }[]): bigint =>
  parts.reduce((sum, { quantity }) => sum + quantity, 0n)
