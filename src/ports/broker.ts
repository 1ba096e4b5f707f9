import type { Price, Quantity, Usd } from '../core/shared/money.ts'

/** Identifies an order at a venue. */
export interface OrderName {
  readonly clientOrderId: string
  readonly symbol: string
}

/** An order to send to a venue. Its client order id is derived from its cause, so that it can be found again. */
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
  /** True if the order may only reduce a position, never increase or reverse it. */
  readonly reduceOnly: boolean
  /** Leverage of the position that the order opens. Ignored for a reducing order. */
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

/** State of an order at the venue, with all its fills so far. */
export interface OrderReport {
  readonly clientOrderId: string
  readonly venueOrderId: string
  readonly status: 'open' | 'partial' | 'filled' | 'canceled' | 'rejected'
  /**
   * Filled quantity according to the order. Its trades may be listed later: the order has not ended before they add up
   * to this quantity.
   */
  readonly filledQuantity: Quantity
  readonly fills: readonly BrokerFill[]
}

/**
 * Deadline of an attempt with all its requests. After it no request is sent, and a running one is abandoned, so that
 * its result is unclear.
 */
export interface Deadline {
  /** Aborted at the deadline. */
  readonly signal: AbortSignal
  /**
   * True from the deadline on, even if the process was suspended and the signal is late. Also true for an order that
   * must no longer be sent, such as an entry after the kill switch was raised. Check it before sending each request.
   */
  isOver(): boolean
}

export type SubmitResult =
  | { readonly status: 'accepted'; readonly report: OrderReport }
  /**
   * The order was not sent, or the venue rejected it unread (rate limit, timestamp). It may be sent later, if
   * `retryAfterMs` is known after that time.
   */
  | { readonly status: 'not_sent'; readonly reason: string; readonly retryAfterMs: number | null }
  /** The venue has no such order. A client order id that is taken is `unclear`, not a rejection. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** The venue may have the order. Look it up before anything is sent again. */
  | { readonly status: 'unclear'; readonly reason: string }

export type CancelResult =
  | { readonly status: 'canceled'; readonly report: OrderReport }
  /** The order had ended, or the venue never had it. */
  | { readonly status: 'not_open' }
  | { readonly status: 'unclear'; readonly reason: string }

export type LookupResult =
  | { readonly status: 'found'; readonly report: OrderReport }
  | { readonly status: 'not_found' }
  /** The venue cannot look up by client order id, or no longer lists the symbol. */
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

/** Price of a symbol at the venue. */
export interface VenueQuote {
  /** In the spelling of the configuration. */
  readonly symbol: string
  readonly price: Price
}

/** A condition for sending orders, and its result. */
export interface BrokerCheck {
  readonly name: 'reachable' | 'markets' | 'permissions' | 'balance' | 'clock' | 'minimum_sizes'
  readonly ok: boolean
  readonly detail: string
}

/** A position, or a part of it, that the venue closed by force. */
export interface Liquidation {
  readonly venueTradeId: string
  readonly symbol: string
  /** Direction of the position that was closed. */
  readonly direction: 'long' | 'short'
  readonly quantity: Quantity
  readonly price: Price
  readonly feeUsd: Usd
  readonly atMs: number
}

/** Funding that the venue charged or paid for holding a position. */
export interface FundingPayment {
  /** Id of the payment at the venue. Each id counts once. */
  readonly id: string
  readonly symbol: string
  /** Positive if paid, negative if received. */
  readonly paidUsd: Usd
  readonly atMs: number
}

export interface BrokerAccount {
  readonly equity: Usd
  /** Balance without unrealized profit; absent if the venue does not report it. */
  readonly balance?: Usd | undefined
  readonly positions: readonly VenuePosition[]
  /** Payments of the last days, with repetitions; absent if the venue does not report them. */
  readonly fundings?: readonly FundingPayment[]
}

/** Changes of the account that the venue made without an order of ours. */
export interface AccountHistory {
  /** Forced closes of the last day; empty if the venue does not report them. */
  readonly liquidations: readonly Liquidation[]
  /** Payments of the last days, with repetitions; empty if the venue does not report them. */
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
 * A stop that rests at the venue. When the mark price reaches the trigger, the venue sends a market order that only
 * reduces the position. It works even while this process is down.
 */
export interface StopOrder {
  /** Client order id of the stop, which no order shares. A moved stop gets another id. */
  readonly clientOrderId: string
  /** In the spelling of the configuration. */
  readonly symbol: string
  /** Side of the order that closes the position: `sell` below a long, `buy` above a short. */
  readonly side: 'buy' | 'sell'
  readonly quantity: Quantity
  readonly triggerPrice: Price
}

/** State of a stop at the venue. */
export interface StopReport extends StopOrder {
  readonly venueOrderId: string
  readonly status: 'resting' | 'triggered' | 'canceled' | 'rejected'
  /**
   * The order that the trigger sent, with its fills. Null before the trigger, and while the venue does not list the
   * order yet.
   */
  readonly order: OrderReport | null
}

export type PlaceStopResult =
  /** The venue has the stop, with these numbers. */
  | { readonly status: 'accepted'; readonly stop: StopReport }
  /** The venue has no such stop. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** Nothing reached the venue, or the venue rejected the request unread. */
  | { readonly status: 'not_sent'; readonly reason: string; readonly retryAfterMs: number | null }
  /** The venue may have the stop. Look it up before anything is sent again. */
  | { readonly status: 'unclear'; readonly reason: string }

export type CancelStopResult =
  | { readonly status: 'canceled' }
  /** The stop was triggered, had ended, or the venue never had it. A lookup tells which. */
  | { readonly status: 'not_open' }
  | { readonly status: 'unclear'; readonly reason: string }

export type LookupStopResult =
  | { readonly status: 'found'; readonly stop: StopReport }
  | { readonly status: 'not_found' }
  /** The venue no longer lists the symbol. */
  | { readonly status: 'unsupported' }
  | { readonly status: 'unclear'; readonly reason: string }

/**
 * Protective stops at the venue. To move one, first place the new one under another client order id, then cancel the
 * old one. The position is never without a stop, and since both only reduce, both together close it once.
 */
export interface RestingStops {
  /** Places a stop. Rounds the quantity down, and the trigger towards the entry. */
  place(stop: StopOrder, deadline: Deadline): Promise<PlaceStopResult>
  cancel(stop: OrderName, deadline: Deadline): Promise<CancelStopResult>
  lookup(stop: OrderName, deadline: Deadline): Promise<LookupStopResult>
  /** All stops that rest at the venue, including foreign ones. Null if the venue does not respond. */
  open(): Promise<readonly StopReport[] | null>
}

/** Sends orders to a venue. No method rejects for a failure of the venue or the network, which the result reports. */
export interface Broker {
  readonly name: string
  /** Loads the markets, and checks whether orders may be sent. */
  preflight(symbols: readonly string[]): Promise<readonly BrokerCheck[]>
  /** Null for a symbol that the venue does not trade (any more). Available after a preflight. */
  stepsOf(symbol: string): OrderSteps | null
  /** Rounds quantity and limit price to the venue's steps, never to the worse side. Returns soon after the deadline. */
  submit(order: BrokerOrder, deadline: Deadline): Promise<SubmitResult>
  cancel(order: OrderName, deadline: Deadline): Promise<CancelResult>
  lookup(order: OrderName, deadline: Deadline): Promise<LookupResult>
  /** Null if stops cannot rest at the venue. */
  readonly stops: RestingStops | null
  /** Balance and positions. Null if the venue does not respond. */
  account(): Promise<BrokerAccount | null>
  /**
   * Reads forced closes and funding. These are the most expensive lists of a venue, so they are read only if the
   * account holds less than the log explains. Null if the venue does not respond.
   */
  history(): Promise<AccountHistory | null>
  /** The venue's price of each symbol. Symbols without a current price are left out. */
  quotes(symbols: readonly string[]): Promise<readonly VenueQuote[]>
  close(): Promise<void>
}
