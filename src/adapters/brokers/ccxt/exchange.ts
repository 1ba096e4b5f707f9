import { isSandbox, SANDBOX } from '../../../core/shared/sandbox.ts'
import type { Timer } from '../../../ports/timer.ts'
import { memberOf } from './values.ts'

/** What the broker uses of the library. Answers are strangers' data: numbers in them are text, and may be missing. */
export interface Exchange {
  readonly has: Readonly<Record<string, unknown>>
  readonly rateLimit: number
  readonly precisionMode: number
  readonly urls: { api: unknown; readonly test?: unknown; readonly demo?: unknown }
  enableDemoTrading(enable: boolean): void
  setSandboxMode(enable: boolean): void
  readonly options: Record<string, unknown>
  number: (value: unknown) => unknown
  throttle: (cost: unknown) => Promise<void>
  milliseconds: () => number
  amountToPrecision: (market: string, amount: string) => string
  priceToPrecision: (market: string, price: string) => string
  loadMarkets(reload: boolean): Promise<unknown>
  fetchTime(): Promise<unknown>
  fetchTicker(market: string): Promise<unknown>
  fetchBalance(): Promise<unknown>
  fetchPositions(): Promise<unknown>
  fetchPositionMode(market: string): Promise<unknown>
  setLeverage(leverage: number, market: string): Promise<unknown>
  fetchFundingHistory(market: undefined, sinceMs: number, limit: number): Promise<unknown>
  createOrder(
    market: string,
    type: 'limit' | 'market',
    side: 'buy' | 'sell',
    amount: string,
    price: string | undefined,
    params: Readonly<Record<string, unknown>>,
  ): Promise<unknown>
  fetchOrder(id: string, market: string, params: Readonly<Record<string, unknown>>): Promise<unknown>
  cancelOrder(id: string, market: string, params: Readonly<Record<string, unknown>>): Promise<unknown>
  fetchMyTrades(
    market: string,
    sinceMs: undefined,
    limit: number,
    params: Readonly<Record<string, unknown>>,
  ): Promise<unknown>
  fetchMyLiquidations(market: undefined, sinceMs: number, limit: number): Promise<unknown>
  /** What a key may do, where the venue tells it. */
  sapiGetAccountApiRestrictions?(): Promise<unknown>
}

export interface BrokerCredentials {
  readonly apiKey: string
  readonly secret: string
  /** Some venues want a third word. */
  readonly password?: string
}

export interface ExchangeOptions {
  readonly id: string
  readonly credentials: BrokerCredentials
  /** Instead of the venue's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl: string | undefined
  readonly requestTimeoutMs: number
  readonly timer: Timer
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

export interface OpenedExchange {
  readonly exchange: Exchange
  /** True for what the library takes for a clear "no" of the venue. */
  readonly isRefusal: (error: unknown) => boolean
  /** True where steps are told as steps, and not as numbers of digits. */
  readonly tellsSteps: boolean
}

/** Loads the library, which is large: nobody pays for it who does not use it. */
export const openExchange = async (options: ExchangeOptions): Promise<OpenedExchange> => {
  const { default: library } = await import('ccxt')
  const id = libraryIdOf(options.id)
  const Constructor = memberOf(library, id)
  if (!library.exchanges.includes(id) || typeof Constructor !== 'function') {
    throw new Error(`execution.venue: ${options.id || '(empty)'} is no exchange that is known`)
  }
  const exchange = new (Constructor as ExchangeConstructor)({
    ...options.credentials,
    timeout: options.requestTimeoutMs,
    fetchImplementation: options.fetch,
    // Currencies are asked for with rights that a trading key need not have. Failures are never retried by the
    // library. An order that is on its way for longer than the window is refused, so it cannot turn up after it
    // was not found.
    options: { fetchCurrencies: false, maxRetriesOnFailure: 0, recvWindow: ORDER_WINDOW_MS },
  })
  exchange.number = String
  exchange.milliseconds = () => options.timer.now()
  // What is sent was moved to the steps of the venue already, in the safe direction: the library rounds prices.
  exchange.amountToPrecision = (_, amount) => amount
  exchange.priceToPrecision = (_, price) => price
  if (options.baseUrl !== undefined) exchange.urls.api = movedTo(options.baseUrl, exchange.urls.api)
  else if (id !== options.id) goToSandbox(exchange, id)
  const refusals = [
    library.InvalidOrder,
    library.InsufficientFunds,
    library.AuthenticationError,
    library.BadRequest,
  ]
  return {
    exchange,
    isRefusal: (error) =>
      refusals.some((kind) => error instanceof kind) && !(error instanceof library.DuplicateOrderId),
    tellsSteps: exchange.precisionMode === library.TICK_SIZE,
  }
}

/** As the library calls it. A name that says sandbox is an account of its own in everything else. */
export const libraryIdOf = (venue: string): string =>
  isSandbox(venue) ? venue.slice(0, -SANDBOX.length) : venue

/** Some venues practise with the demo of their real markets, others on a net of its own. */
const goToSandbox = (exchange: Exchange, id: string): void => {
  if (exchange.urls.demo !== undefined) exchange.enableDemoTrading(true)
  else if (exchange.urls.test !== undefined) exchange.setSandboxMode(true)
  else throw new Error(`execution.venue: ${id} has no sandbox`)
}

const ORDER_WINDOW_MS = 5000

type ExchangeConstructor = new (options: unknown) => Exchange

const movedTo = (baseUrl: string, urls: unknown): unknown => {
  if (typeof urls === 'string') return urls.replace(/^https?:\//, baseUrl)
  if (typeof urls !== 'object' || urls === null) return urls
  return Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, movedTo(baseUrl, url)]))
}
