import { memberOf } from './values.ts'

/** What the feed uses of the library. Answers are strangers' data: numbers in them are text, and may be missing. */
export interface Exchange {
  readonly has: Readonly<Record<string, unknown>>
  readonly rateLimit: number
  readonly timeframes?: Readonly<Record<string, unknown>>
  readonly features?: unknown
  /** The newest of each market that came over a socket. */
  readonly tickers?: unknown
  readonly clients?: Readonly<Record<string, SocketClient>>
  readonly urls: { api: unknown }
  number: (value: unknown) => unknown
  throttle: (cost: unknown) => Promise<void>
  loadHttpProxyAgent(): Promise<unknown>
  parseTimeframe(timeframe: string): number
  loadMarkets(reload: boolean): Promise<unknown>
  fetchTime(): Promise<unknown>
  fetchOHLCV(symbol: string, timeframe: string, sinceMs: number, limit: number): Promise<unknown>
  fetchTicker(symbol: string): Promise<unknown>
  fetchOrderBook(symbol: string, limit?: number): Promise<unknown>
  fetchFundingRate(symbol: string): Promise<unknown>
  fetchFundingRateHistory(symbol: string, sinceMs: undefined, limit: number): Promise<unknown>
  fetchOpenInterest(symbol: string): Promise<unknown>
  watchTicker(symbol: string): Promise<unknown>
  watchTickers(symbols: readonly string[]): Promise<unknown>
  close(): Promise<unknown>
}

export interface ExchangeOptions {
  readonly id: string
  /** Instead of the venue's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl: string | undefined
  readonly requestTimeoutMs: number
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

export interface OpenedExchange {
  readonly exchange: Exchange
  /** True for an answer of the venue that says no, false for failures that may pass. */
  readonly isRefusal: (error: unknown) => boolean
}

/** Loads the library, which is large: nobody pays for it who does not use it. */
export const openExchange = async (options: ExchangeOptions): Promise<OpenedExchange> => {
  const { default: library } = await import('ccxt')
  if (!library.exchanges.includes(options.id)) {
    throw new Error(`market.exchange: ${options.id || '(empty)'} is no exchange that is known`)
  }
  const constructors = [memberOf(library.pro, options.id), memberOf(library, options.id)]
  const Constructor = constructors.find((found) => typeof found === 'function') as ExchangeConstructor
  const exchange = new Constructor({
    timeout: options.requestTimeoutMs,
    fetchImplementation: options.fetch,
    // Reconnecting waits on the feed's own timer. Messages that the library holds back are sent even after the
    // socket has closed, and then nobody catches the failure.
    options: { ws: { backoff: { base: 0 }, throttle: undefined } },
  })
  exchange.number = String
  if (options.baseUrl !== undefined) {
    exchange.urls.api = redirected(exchange.urls.api, options.baseUrl)
    // The library opens no socket without encryption before this.
    await exchange.loadHttpProxyAgent()
  }
  return { exchange, isRefusal: (error) => error instanceof library.ExchangeError }
}

/** True where the venue can be asked so, or the library makes it up from what else the venue tells. */
export const canFetch = ({ has }: Exchange, method: string): boolean =>
  has[method] === true || has[method] === 'emulated'

/** Sockets end at once: a venue that went silent would not answer a polite goodbye either. */
export const closeSockets = async (exchange: Exchange): Promise<void> => {
  const connections = Object.values(exchange.clients ?? {}).map(({ connection }) => connection)
  const closed = exchange.close()
  for (const connection of connections) connection?.terminate()
  await closed
}

interface SocketClient {
  readonly connection?: { terminate(): void }
}

type ExchangeConstructor = new (options: unknown) => Exchange

const redirected = (urls: unknown, baseUrl: string): unknown => {
  if (typeof urls === 'string') return redirectedUrl(urls, baseUrl)
  if (typeof urls !== 'object' || urls === null) return urls
  return Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, redirected(url, baseUrl)]))
}

const redirectedUrl = (url: string, baseUrl: string): string =>
  url.replace(/^https?:\/\//, `${baseUrl}/`).replace(/^wss?:\/\//, `${baseUrl.replace(/^http/, 'ws')}/`)
