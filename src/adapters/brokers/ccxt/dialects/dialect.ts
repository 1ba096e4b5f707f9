import type { MarginMode } from '../../../../core/shared/venues.ts'
import { sumOf, type Usd } from '../../../../core/shared/money.ts'
import type { BrokerOrder, StopReport } from '../../../../ports/broker.ts'
import { DOLLARS, memberOf, textMemberOf, type VenueError } from '../../../ccxt.ts'
import type { Contract } from '../contracts.ts'
import type { TradingApi } from '../api.ts'
import { usdOf } from '../decimals.ts'
import type { ErrorCodes } from '../request-failure.ts'

/**
 * The parts of a venue that differ from other venues, behind the library's calls. Every method sends requests, reads
 * responses and may throw. The exchange decides from the request itself what a failure means.
 */
export interface Dialect {
  /** Options of the library for this venue. */
  readonly options: Readonly<Record<string, unknown>>
  /** Endpoints that the venue documents and the library lacks. */
  readonly api?: Readonly<Record<string, unknown>>
  /** Client order ids that the venue accepts. */
  readonly clientOrderId: RegExp
  /** Dollar coins whose contracts are traded, earlier ones preferred. Positions in other coins are not listed. */
  readonly dollars: readonly string[]
  /** The error in a response; null for a response without one. */
  readonly errorIn: (body: unknown) => VenueError | null
  readonly codes: ErrorCodes
  /** Adds parts to signed requests that the library leaves out. */
  readonly prepare?: (api: TradingApi) => void
  /** Time of the venue, in milliseconds. */
  readonly time: (api: TradingApi) => Promise<unknown>
  readonly isHedged: (api: TradingApi, market: string) => Promise<boolean>
  /** Permissions of the key; null where the venue does not list them. */
  readonly rights: (api: TradingApi) => Promise<KeyRights | null>
  /** Equity in dollar coins, with unrealized profit. Null if the balance cannot be read. */
  readonly equityIn: (balance: unknown) => Usd | null
  /** Equity without unrealized profit. */
  readonly balanceIn: (balance: unknown) => Usd | null
  readonly margin: (api: TradingApi, contract: Contract, wanted: Margin) => Promise<FoundMargin>
  /** Sets the margin settings that differ. */
  readonly setMargin: (
    api: TradingApi,
    contract: Contract,
    wanted: Margin,
    found: FoundMargin,
  ) => Promise<unknown>
  readonly createOrder: (api: TradingApi, contract: Contract, order: OrderToSend) => Promise<unknown>
  /**
   * The order as the library reports it: `id`, `clientOrderId`, `status`, `amount`, `filled`. Null if it does not
   * exist.
   */
  readonly findOrder: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<unknown>
  readonly cancelOrder: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<unknown>
  /** Trades as the library reports them. Trades of other orders are removed later. */
  readonly tradesOf: (api: TradingApi, contract: Contract, venueOrderId: string) => Promise<unknown>
  /** Orders by which the venue liquidated positions. Null where the venue does not list them. */
  readonly liquidations: ((api: TradingApi, sinceMs: number) => Promise<readonly LiquidationOrder[]>) | null
  readonly stops: StopDialect
}

export interface KeyRights {
  readonly mayTrade: boolean
  readonly mayWithdraw: boolean
}

export interface Margin {
  readonly mode: MarginMode
  /** A whole number. */
  readonly leverage: number
}

export interface FoundMargin {
  readonly mode: string
  /** Null if none is set. */
  readonly leverage: number | null
}

/** An order on the steps of the venue, in its own unit of quantity. */
export interface OrderToSend {
  readonly order: BrokerOrder
  readonly amount: string
  readonly price: string | undefined
  readonly marginMode: MarginMode
}

export interface LiquidationOrder {
  readonly venueOrderId: string
  /** The library's name of the market. */
  readonly market: string
  readonly side: 'buy' | 'sell'
  /** Amount in the venue's unit. */
  readonly amount: unknown
}

export interface StopToSend {
  readonly clientOrderId: string
  readonly side: 'buy' | 'sell'
  readonly amount: string
  readonly triggerPrice: string
  readonly marginMode: MarginMode
}

/** Resting stops. All trigger at the mark price: liquidations use it too, and no single trade moves it. */
export interface StopDialect {
  readonly place: (api: TradingApi, contract: Contract, stop: StopToSend) => Promise<unknown>
  /** The stop, or null if it does not exist. */
  readonly find: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<FoundStop | null>
  readonly cancel: (api: TradingApi, contract: Contract, stop: FoundStop) => Promise<unknown>
  /** All resting stops in every market of ours. Null stands for a stop that cannot be read. */
  readonly open: (api: TradingApi) => Promise<readonly (ListedStop | null)[]>
}

/** A stop as the venue reports it. */
export interface ListedStop {
  readonly clientOrderId: string
  readonly venueOrderId: string
  /** The venue's name of the market. */
  readonly marketId: string
  readonly side: 'buy' | 'sell'
  readonly status: StopReport['status']
  /** Amount in the venue's unit. */
  readonly amount: unknown
  readonly triggerPrice: unknown
}

export interface FoundStop extends ListedStop {
  /** The order that the trigger sent, as the library reports orders. Null before the trigger. */
  readonly order: unknown
}

/** Sends an order by the library's call. A limit order is immediate-or-cancel. */
export const createOrder = (
  api: TradingApi,
  { market }: Contract,
  { order, amount, price }: OrderToSend,
  params: object = {},
): Promise<unknown> => {
  const type = order.kind === 'market' ? 'market' : 'limit'
  return api.createOrder(market, type, order.side, amount, price, {
    clientOrderId: order.clientOrderId,
    ...params,
    ...(type === 'limit' ? { timeInForce: 'IOC' } : {}),
    ...(order.reduceOnly ? { reduceOnly: true } : {}),
  })
}

/** Reads a stop by the venue's names of its members. A stop placed by another client may have no client order id. */
export const stopReader =
  (
    names: Readonly<Record<keyof Omit<ListedStop, 'side'>, string>>,
    statuses: Readonly<Record<string, ListedStop['status']>>,
  ) =>
  (entry: unknown): ListedStop | null => {
    const clientOrderId = textMemberOf(entry, names.clientOrderId) ?? ''
    const venueOrderId = textMemberOf(entry, names.venueOrderId)
    const marketId = textMemberOf(entry, names.marketId)
    const side = sideIn(memberOf(entry, 'side'))
    const status = statuses[textMemberOf(entry, names.status) ?? '']
    if (venueOrderId === null || marketId === null || side === null || status === undefined) return null
    const [amount, triggerPrice] = [memberOf(entry, names.amount), memberOf(entry, names.triggerPrice)]
    return { clientOrderId, venueOrderId, marketId, side, status, amount, triggerPrice }
  }

/** Calls an endpoint by the name that the library derives from it. */
export const call = (api: TradingApi, endpoint: string, params: object = {}): Promise<unknown> => {
  const method = memberOf(api, endpoint)
  if (typeof method !== 'function') throw new Error(`the library has no ${endpoint}`)
  return (method as (this: TradingApi, params: object) => Promise<unknown>).call(api, params)
}

export const listIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []

/** A list that must be present: an unreadable list is not an empty one. */
export const wholeList = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new Error('the response has no list')
  return value as readonly unknown[]
}

/** Groups entries by a text member. */
export const groupedBy = (
  entries: readonly unknown[],
  name: string,
): readonly (readonly [string, readonly unknown[]])[] => {
  const groups = new Map<string, unknown[]>()
  for (const entry of entries) {
    const key = textMemberOf(entry, name) ?? ''
    groups.set(key, [...(groups.get(key) ?? []), entry])
  }
  return [...groups]
}

export const sideIn = (value: unknown): 'buy' | 'sell' | null => {
  const side = typeof value === 'string' ? value.toLowerCase() : null
  return side === 'buy' || side === 'sell' ? side : null
}

/** Sum of the dollar coins; other coins do not count. Null where the balance has none of them. */
export const dollarTotal = (balance: unknown): Usd | null => {
  const totals = memberOf(balance, 'total')
  return sumOfDollars((dollar) => memberOf(totals, dollar))
}

/** Sum of the dollar coins, from a list with one entry for each coin. */
export const dollarsIn = (coins: readonly unknown[], name: string, amount: string): Usd | null =>
  sumOfDollars((dollar) =>
    memberOf(
      coins.find((coin) => textMemberOf(coin, name) === dollar),
      amount,
    ),
  )

export const sumOfDollars = (amountOf: (dollar: string) => unknown): Usd | null => {
  const amounts = DOLLARS.flatMap((dollar) => usdOf(amountOf(dollar), 'down') ?? [])
  return amounts.length === 0 ? null : sumOf(amounts)
}
