import type { Price, Quantity, Usd } from '../core/shared/money.ts'

/** An order as it goes to a venue. Its name is derived from its cause, so that it can be found again. */
export interface BrokerOrder {
  readonly clientOrderId: string
  /** In the spelling of the configuration. */
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  /** Entries are immediate-or-cancel limits, exits are market orders. */
  readonly kind: 'immediate_limit' | 'market'
  readonly quantity: Quantity
  /** Null for market orders. */
  readonly limitPrice: Price | null
  /** It may make a position smaller, never larger or turned around. */
  readonly reduceOnly: boolean
  /** Of the position that it opens; of no meaning where it makes one smaller. */
  readonly leverage: number
}

/** A trade at the venue. The id of the venue makes it count once. */
export interface BrokerFill {
  readonly venueTradeId: string
  readonly price: Price
  readonly quantity: Quantity
  readonly feeUsd: Usd
  readonly atMs: number
}

/** What the venue knows of an order, with every fill it has so far. */
export interface OrderReport {
  readonly clientOrderId: string
  readonly venueOrderId: string
  readonly status: 'open' | 'partial' | 'filled' | 'canceled' | 'rejected'
  /** What the order itself says was filled. Its trades may be told later: it has not ended before they add up to this. */
  readonly filledQuantity: Quantity
  readonly fills: readonly BrokerFill[]
}

export type SubmitAnswer =
  | { readonly status: 'accepted'; readonly report: OrderReport }
  /** The venue said no, and has no such order. A client order id that is taken is no rejection: then it is unclear. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** Nobody knows whether the venue has it: it must be looked up before anything is sent again. */
  | { readonly status: 'unclear'; readonly reason: string }

export type CancelAnswer =
  | { readonly status: 'canceled'; readonly report: OrderReport }
  /** It had ended, or the venue never had it. */
  | { readonly status: 'not_open' }
  | { readonly status: 'unclear'; readonly reason: string }

export type LookupAnswer =
  | { readonly status: 'found'; readonly report: OrderReport }
  | { readonly status: 'not_found' }
  /** The venue offers no search by client order id. */
  | { readonly status: 'impossible' }
  | { readonly status: 'unclear'; readonly reason: string }

/** A position as the venue tells it. */
export interface VenuePosition {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly quantity: Quantity
  readonly entryPrice: Price
  readonly leverage: number
}

/** What must hold before anything may be sent, each with what was seen. */
export interface BrokerCheck {
  readonly name: 'reachable' | 'markets' | 'permissions' | 'balance' | 'clock' | 'minimum_sizes'
  readonly ok: boolean
  readonly detail: string
}

/** A position, or a part of it, that the venue closed by force. */
export interface Liquidation {
  readonly venueTradeId: string
  readonly symbol: string
  /** Of the position that it ended. */
  readonly direction: 'long' | 'short'
  readonly quantity: Quantity
  readonly price: Price
  readonly feeUsd: Usd
  readonly atMs: number
}

/** What the venue took from the account for holding a position, or gave to it. */
export interface FundingPayment {
  /** Of the venue: it counts once. */
  readonly id: string
  readonly symbol: string
  /** Positive: paid. */
  readonly paidUsd: Usd
  readonly atMs: number
}

export interface BrokerAccount {
  readonly equity: Usd
  readonly positions: readonly VenuePosition[]
  /** Of the last hours, where the venue tells; absent where it does not. */
  readonly liquidations?: readonly Liquidation[]
  /** Of the last days, some of them again and again; absent where the venue does not tell. */
  readonly fundings?: readonly FundingPayment[]
}

/** The smallest order a venue takes, and how fine. Null where the venue does not say. */
export interface OrderSteps {
  readonly quantityStep: Quantity | null
  readonly quantityMin: Quantity | null
  readonly notionalMin: Usd | null
  readonly priceStep: Price | null
}

/** Sends orders to a venue. No method rejects for what a venue or a network does: the answer says it. */
export interface Broker {
  readonly name: string
  /** Loads what it must know of the venue, and says whether orders may be sent. */
  preflight(symbols: readonly string[]): Promise<readonly BrokerCheck[]>
  /** Null for a symbol that the venue does not trade (any more). Known after a preflight. */
  stepsOf(symbol: string): OrderSteps | null
  /** Quantities are cut and limit prices moved to the steps of the venue, never to the worse side. */
  submit(order: BrokerOrder): Promise<SubmitAnswer>
  cancel(order: { readonly clientOrderId: string; readonly symbol: string }): Promise<CancelAnswer>
  lookup(order: { readonly clientOrderId: string; readonly symbol: string }): Promise<LookupAnswer>
  /** Balance and positions, swept over REST. Null when the venue does not answer. */
  account(): Promise<BrokerAccount | null>
  close(): Promise<void>
}
