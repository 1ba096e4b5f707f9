import type { Broker, BrokerFill, BrokerOrder } from './broker.ts'

/** A broker, and the venue behind it, which is open, healthy and told to misbehave. */
export interface BrokerStage {
  /** Trades BTC and ETH perpetuals, and is not preflighted yet. BTC costs 60,000 USD, the account has 10,000 USD. */
  readonly broker: Broker
  /** Requests of this kind go wrong in this way, so often. */
  readonly trouble: (at: RequestKind, trouble: Trouble, times?: number) => void
  /** A random trouble for a share of all requests, the same for the same seed; null for none any more. */
  readonly storm: (weather: { readonly seed: number; readonly share: number } | null) => void
  readonly setPrice: (symbol: string, price: bigint) => void
  /** The venue does not trade it any more. */
  readonly delist: (symbol: string) => void
  /** Lets an order that rests at the venue fill. */
  readonly fillRest: (clientOrderId: string) => void
  /** The venue closes the position by force. */
  readonly liquidate: (symbol: string) => void
  /** What the venue really has: every order it accepted, in order. */
  readonly orders: () => readonly TrueOrder[]
  readonly tradesOf: (clientOrderId: string) => readonly TrueTrade[]
  /** Lets so much time pass. */
  readonly pass: (ms: number) => Promise<void>
  /** Lets time pass until it is there. */
  readonly run: <T>(promise: Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export type RequestKind = 'submit' | 'lookup' | 'cancel' | 'trades' | 'account' | 'leverage' | 'any'

export type Trouble =
  | 'drop_before'
  | 'drop_after'
  | 'silence_before'
  | 'silence_after'
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
  /** Accepted, they say, and never there. */
  | 'lost'
  /** Not found for a while. */
  | 'hidden'
  | 'part_then_canceled'
  | 'part_then_open'
  | 'late_trades'
  | 'repeated_trades'
  | 'shuffled_trades'

export interface TrueOrder {
  readonly clientOrderId: string
  readonly quantity: bigint
  readonly limitPrice: bigint | null
  readonly executed: bigint
}

export type TrueTrade = Pick<BrokerFill, 'venueTradeId' | 'price' | 'quantity'>

/** An entry that fills at once unless told otherwise. */
export const entryOf = (clientOrderId: string, changes: Partial<BrokerOrder> = {}): BrokerOrder => ({
  clientOrderId,
  symbol: 'BTC',
  side: 'buy',
  kind: 'immediate_limit',
  quantity: units(0.05),
  limitPrice: units(60_300),
  reduceOnly: false,
  leverage: 3,
  ...changes,
})

export const exitOf = (clientOrderId: string, changes: Partial<BrokerOrder> = {}): BrokerOrder =>
  entryOf(clientOrderId, { side: 'sell', kind: 'market', limitPrice: null, reduceOnly: true, ...changes })

export const units = (value: number): bigint => BigInt(Math.round(value * 100_000_000))

/** Venue trades as the venue has them, to be compared with those that were told. */
export const tradesIn = (fills: readonly BrokerFill[]): readonly TrueTrade[] =>
  fills.map(({ venueTradeId, price, quantity }) => ({ venueTradeId, price, quantity }))

export const sumOf = (parts: readonly { readonly quantity: bigint }[]): bigint =>
  parts.reduce((sum, { quantity }) => sum + quantity, 0n)
