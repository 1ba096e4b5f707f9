import type { Price, Quantity, Usd } from '../core/shared/money.ts'

/** What an order is found by at a venue. */
export interface OrderName {
  readonly clientOrderId: string
  readonly symbol: string
}

/** An order as it is sent to a venue. Its client order id is derived from its cause, so that it can be found again. */
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
  /** It may reduce a position, never increase or reverse it. */
  readonly reduceOnly: boolean
  /** Of the position that it opens; without meaning for a reducing order. */
  readonly leverage: number
}

/** A trade at the venue, counted once by its venue id. */
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
  /** As the order counts it. Its trades may be listed later: it has not ended before they add up to this. */
  readonly filledQuantity: Quantity
  readonly fills: readonly BrokerFill[]
}

/**
 * The end of an attempt, for all of its requests: after it none is sent, and one that is on its way is given up, so that
 * its result is unclear.
 */
export interface Deadline {
  /** Aborted at the deadline. */
  readonly signal: AbortSignal
  /**
   * True from the deadline on, even if the process stood still and the signal comes late; and for an order that may no
   * longer be sent, such as an entry after the kill switch was raised. To be asked before each request leaves.
   */
  isOver(): boolean
}

export type SubmitResult =
  | { readonly status: 'accepted'; readonly report: OrderReport }
  /**
   * The order was not sent, or the venue turned it away unread (rate limit, timestamp). It may be sent later: not before
   * `retryAfterMs` where that is known.
   */
  | { readonly status: 'not_sent'; readonly reason: string; readonly retryAfterMs: number | null }
  /** The venue has no such order. A client order id that is taken is `unclear`, not a rejection. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** The venue may have it: it must be looked up before anything is sent again. */
  | { readonly status: 'unclear'; readonly reason: string }

export type CancelResult =
  | { readonly status: 'canceled'; readonly report: OrderReport }
  /** It had ended, or the venue never had it. */
  | { readonly status: 'not_open' }
  | { readonly status: 'unclear'; readonly reason: string }

export type LookupResult =
  | { readonly status: 'found'; readonly report: OrderReport }
  | { readonly status: 'not_found' }
  /** The venue cannot look up by client order id, or does not list the symbol any more. */
  | { readonly status: 'unsupported' }
  | { readonly status: 'unclear'; readonly reason: string }

/** A position as the venue reports it. */
export interface VenuePosition {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly quantity: Quantity
  readonly entryPrice: Price
  readonly leverage: number
}

/** What a symbol trades at. */
export interface VenueQuote {
  /** In the spelling of the configuration. */
  readonly symbol: string
  readonly price: Price
}

/** A condition for sending orders, with what was found. */
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

/** Funding that the venue charged or paid for holding a position. */
export interface FundingPayment {
  /** Of the venue; counted once. */
  readonly id: string
  readonly symbol: string
  /** Positive: paid. */
  readonly paidUsd: Usd
  readonly atMs: number
}

export interface BrokerAccount {
  readonly equity: Usd
  /** Without unrealized profit; absent where the venue does not report it. */
  readonly balance?: Usd | undefined
  readonly positions: readonly VenuePosition[]
  /** Of the last days, with repetitions; absent where the venue does not report them. */
  readonly fundings?: readonly FundingPayment[]
}

/** Changes of the account that the venue made without an order of ours. */
export interface AccountHistory {
  /** Forced closes of the last day; empty where the venue does not report them. */
  readonly liquidations: readonly Liquidation[]
  /** Payments of the last days, with repetitions; empty where the venue does not report them. */
  readonly fundings: readonly FundingPayment[]
}

/** Steps and minimum sizes of orders. Null where the venue does not report them. */
export interface OrderSteps {
  readonly quantityStep: Quantity | null
  readonly quantityMin: Quantity | null
  readonly notionalMin: Usd | null
  readonly priceStep: Price | null
}

/**
 * A stop that rests at the venue: when the mark price reaches the trigger, the venue sends a market order that may
 * reduce the position and never increase or reverse it. It works while this process is dead.
 */
export interface StopOrder {
  /** Of its own: never that of an order. A stop that moves gets another one. */
  readonly clientOrderId: string
  /** In the spelling of the configuration. */
  readonly symbol: string
  /** Of the order that ends the position: `sell` below a long, `buy` above a short. */
  readonly side: 'buy' | 'sell'
  readonly quantity: Quantity
  readonly triggerPrice: Price
}

/** What the venue knows of a stop. */
export interface StopReport extends StopOrder {
  readonly venueOrderId: string
  readonly status: 'resting' | 'triggered' | 'canceled' | 'rejected'
  /** The order that the trigger sent, with its fills; null before, and while the venue does not list it yet. */
  readonly order: OrderReport | null
}

export type PlaceStopResult =
  /** The venue has it, with these numbers. */
  | { readonly status: 'accepted'; readonly stop: StopReport }
  /** The venue has no such stop. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** Nothing reached the venue, or it was turned away unread. */
  | { readonly status: 'not_sent'; readonly reason: string; readonly retryAfterMs: number | null }
  /** The venue may have it: it must be looked up before anything is sent again. */
  | { readonly status: 'unclear'; readonly reason: string }

export type CancelStopResult =
  | { readonly status: 'canceled' }
  /** It was triggered, had ended, or the venue never had it: look it up to learn which. */
  | { readonly status: 'not_open' }
  | { readonly status: 'unclear'; readonly reason: string }

export type LookupStopResult =
  | { readonly status: 'found'; readonly stop: StopReport }
  | { readonly status: 'not_found' }
  /** The venue does not list the symbol any more. */
  | { readonly status: 'unsupported' }
  | { readonly status: 'unclear'; readonly reason: string }

/**
 * Protective stops at the venue. To move one, place the new one under a new client order id first, and cancel the old
 * one then: the position is never without, and as both only reduce it, both together close it once.
 */
export interface RestingStops {
  /** Rounds the quantity down and the trigger towards the entry, never further from it. */
  place(stop: StopOrder, deadline: Deadline): Promise<PlaceStopResult>
  cancel(stop: OrderName, deadline: Deadline): Promise<CancelStopResult>
  lookup(stop: OrderName, deadline: Deadline): Promise<LookupStopResult>
  /** Every stop that rests at the venue, also those of others. Null when it does not respond. */
  open(): Promise<readonly StopReport[] | null>
}

/** Sends orders to a venue. No method rejects for a failure of the venue or the network: the result has it. */
export interface Broker {
  readonly name: string
  /** Loads the markets, and checks whether orders may be sent. */
  preflight(symbols: readonly string[]): Promise<readonly BrokerCheck[]>
  /** Null for a symbol that the venue does not trade (any more). Known after a preflight. */
  stepsOf(symbol: string): OrderSteps | null
  /** Rounds quantity and limit price to the venue's steps, never to the worse side. Returns soon after the deadline. */
  submit(order: BrokerOrder, deadline: Deadline): Promise<SubmitResult>
  cancel(order: OrderName, deadline: Deadline): Promise<CancelResult>
  lookup(order: OrderName, deadline: Deadline): Promise<LookupResult>
  /** Null where stops cannot rest at the venue. */
  readonly stops: RestingStops | null
  /** Balance and positions. Null when the venue does not respond. */
  account(): Promise<BrokerAccount | null>
  /**
   * Forced closes and funding, read now. They are the most expensive lists of a venue, and are asked for when the account
   * holds less than the log explains. Null when the venue does not respond.
   */
  history(): Promise<AccountHistory | null>
  /** The venue's own price of each symbol; without those that it does not tell now. */
  quotes(symbols: readonly string[]): Promise<readonly VenueQuote[]>
  close(): Promise<void>
}
