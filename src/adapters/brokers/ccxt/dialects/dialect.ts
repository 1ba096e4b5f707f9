import type { MarginMode } from '../../../../core/shared/venues.ts'
import { sumOf, type Usd } from '../../../../core/shared/money.ts'
import type { BrokerOrder, StopReport } from '../../../../ports/broker.ts'
import { DOLLARS, memberOf, textMemberOf, type VenueError } from '../../../ccxt.ts'
import type { Contract } from '../contracts.ts'
import type { TradingApi } from '../api.ts'
import { usdOf } from '../decimals.ts'
import type { ErrorCodes } from '../verdict.ts'

/**
 * What a venue does in its own way, behind the calls of the library. Every method sends requests and reads responses,
 * and may throw; the exchange decides from the request itself what a failure means.
 */
export interface Dialect {
  /** Of the library, for this venue. */
  readonly options: Readonly<Record<string, unknown>>
  /** Endpoints that the venue documents and the library lacks. */
  readonly api?: Readonly<Record<string, unknown>>
  /** Client order ids that the venue accepts. */
  readonly clientOrderId: RegExp
  /** Dollar coins whose contracts are traded, earlier ones preferred: positions in others are not listed. */
  readonly dollars: readonly string[]
  /** The error in a response; null for a response without one. */
  readonly errorIn: (body: unknown) => VenueError | null
  readonly codes: ErrorCodes
  /** What signing adds to a request that the library does not. */
  readonly prepare?: (api: TradingApi) => void
  /** In milliseconds. */
  readonly time: (api: TradingApi) => Promise<unknown>
  readonly isHedged: (api: TradingApi, market: string) => Promise<boolean>
  /** What the key may do; null where the venue does not list it. */
  readonly rights: (api: TradingApi) => Promise<KeyRights | null>
  /** Of the dollar coins, with unrealized profit; null where the balance cannot be read. */
  readonly equityIn: (balance: unknown) => Usd | null
  /** The same without unrealized profit. */
  readonly balanceIn: (balance: unknown) => Usd | null
  readonly margin: (api: TradingApi, contract: Contract, wanted: Margin) => Promise<FoundMargin>
  /** Sets what differs. */
  readonly setMargin: (
    api: TradingApi,
    contract: Contract,
    wanted: Margin,
    found: FoundMargin,
  ) => Promise<unknown>
  readonly createOrder: (api: TradingApi, contract: Contract, order: OrderToSend) => Promise<unknown>
  /** As the library reports orders: `id`, `clientOrderId`, `status`, `amount`, `filled`. Null: there is none. */
  readonly findOrder: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<unknown>
  readonly cancelOrder: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<unknown>
  /** As the library reports trades; others than those of the order are left out later. */
  readonly tradesOf: (api: TradingApi, contract: Contract, venueOrderId: string) => Promise<unknown>
  /** Orders by which the venue closed positions by force. Null where it does not list them. */
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
  /** Null: none is set. */
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
  /** As the library names it. */
  readonly market: string
  readonly side: 'buy' | 'sell'
  /** In the unit of the venue. */
  readonly amount: unknown
}

export interface StopToSend {
  readonly clientOrderId: string
  readonly side: 'buy' | 'sell'
  readonly amount: string
  readonly triggerPrice: string
  readonly marginMode: MarginMode
}

/** Resting stops. All trigger at the mark price: it is what liquidations go by, and no single trade moves it. */
export interface StopDialect {
  readonly place: (api: TradingApi, contract: Contract, stop: StopToSend) => Promise<unknown>
  /** Null: there is none. */
  readonly find: (api: TradingApi, contract: Contract, clientOrderId: string) => Promise<FoundStop | null>
  readonly cancel: (api: TradingApi, contract: Contract, stop: FoundStop) => Promise<unknown>
  /** All that rest, in every market of ours; null for one that cannot be read. */
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
  /** In the unit of the venue. */
  readonly amount: unknown
  readonly triggerPrice: unknown
}

export interface FoundStop extends ListedStop {
  /** The order that the trigger sent, as the library reports orders; null before. */
  readonly order: unknown
}

/** Sends an order by the library's call: a limit is immediate-or-cancel. */
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

/** Reads a stop by what the venue calls its members. One that was not placed by us may have no client order id. */
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

/** A list that must be there: none is not the same as one that cannot be read. */
export const wholeList = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new Error('the response has no list')
  return value as readonly unknown[]
}

/** Entries by a text member. */
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

/** The same of a list with an entry for each coin. */
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
