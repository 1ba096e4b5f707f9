import type { FeedListener } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { connect, loadCcxt, memberOf, redirectUrls } from '../../ccxt.ts'
import type { RateLimiter } from '../../rate-limiter.ts'

/** Members of the library that the feed uses. Responses are untrusted: numbers are text, and may be missing. */
export interface MarketDataApi {
  readonly has: Readonly<Record<string, unknown>>
  readonly rateLimit: number
  readonly timeframes?: Readonly<Record<string, unknown>>
  readonly features?: unknown
  /** The newest ticker of each market that arrived over a socket. */
  readonly tickers?: unknown
  readonly clients?: Readonly<Record<string, { readonly connection?: { terminate(): void } }>>
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

/** A bar length that the exchange offers, and its name there. */
export interface Resolution {
  readonly seconds: number
  readonly timeframe: string
}

/** An open exchange, before its first request. */
export interface Exchange {
  readonly api: MarketDataApi
  /** Runs a call. After failures in a row, all requests wait longer and longer. */
  readonly request: <T>(call: () => Promise<T>) => Promise<T>
  /** True where the exchange supports the method, or the library emulates it. */
  readonly supports: (method: string) => boolean
  /** True for an error response of the exchange, false for failures that may be temporary. */
  readonly isRefusal: (error: unknown) => boolean
  readonly resolution: Resolution
  /** Resolution of the warm-up bars; null where the exchange offers none that fits. */
  readonly warmupResolution: Resolution | null
  closeSockets(): Promise<void>
}

export interface ExchangeOptions {
  /** The library's name of the exchange: `binance`. */
  readonly exchange: string
  readonly barSeconds: number
  /** Names of the two settings in error messages. Default: the settings of the feed. */
  readonly names?: { readonly exchange: string; readonly barSeconds: string }
  /** Replaces the exchange's own hosts. Each of them becomes the first part of a path here. */
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Rejects only for errors that waiting does not fix: a wrong configuration, or a missing library. */
export const openExchange = async (options: ExchangeOptions): Promise<Exchange> => {
  const { exchange: id, barSeconds, signal } = options
  const limits = { ...options, burstMs: BURST_MS, waitMsMax: Infinity }
  const { api, isRefusal, limiter } = await connect(limits, (settings) => loadApi(options, settings))
  const resolution = resolutionOf(api, barSeconds)
  const supports = (method: string): boolean => api.has[method] === true || api.has[method] === 'emulated'
  if (!supports('fetchOHLCV') || resolution === null) {
    throw new Error(`${namesIn(options).barSeconds}: ${id} has no bars of ${barSeconds} seconds`)
  }
  const isWarmupAligned = barSeconds < WARMUP_BAR_SECONDS && WARMUP_BAR_SECONDS % barSeconds === 0
  return {
    api,
    request: createRequest(limiter, signal, isRefusal),
    supports,
    isRefusal,
    resolution,
    warmupResolution: isWarmupAligned ? resolutionOf(api, WARMUP_BAR_SECONDS) : null,
    closeSockets: async () => {
      const connections = Object.values(api.clients ?? {}).map(({ connection }) => connection)
      const closed = api.close()
      // Closes without a closing handshake, which a silent exchange would not answer.
      for (const connection of connections) connection?.terminate()
      await closed
    },
  }
}

const WARMUP_BAR_SECONDS = 900
const BURST_MS = 1000

const resolutionOf = (api: MarketDataApi, seconds: number): Resolution | null => {
  const timeframe = Object.keys(api.timeframes ?? {}).find((name) => api.parseTimeframe(name) === seconds)
  return timeframe === undefined ? null : { seconds, timeframe }
}

/** Wait after a failure: one second, doubled with each consecutive failure, at most a minute. */
export const backoffMs = (failures: number): number =>
  failures <= 0 ? 0 : Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 16))

export const createRequest = (
  limiter: Pick<RateLimiter, 'pause'>,
  signal: AbortSignal,
  isRefusal: (error: unknown) => boolean,
): Exchange['request'] => {
  let failures = 0
  let outages = 0
  return async (call) => {
    const outagesBefore = outages
    try {
      const value = await call()
      failures = 0
      return value
    } catch (error) {
      // Requests that fail side by side are one outage. A refusal shows that the exchange works.
      if (!signal.aborted && !isRefusal(error) && outages === outagesBefore) {
        outages += 1
        failures += 1
        limiter.pause(backoffMs(failures))
      }
      throw error
    }
  }
}

const namesIn = ({ names = SETTING_NAMES }: ExchangeOptions) => names

const SETTING_NAMES = { exchange: 'market.exchange', barSeconds: 'market.bar_seconds' }

const loadApi = async (options: ExchangeOptions, settings: object) => {
  const { exchange: id, baseUrl } = options
  const library = await loadCcxt()
  const Api = [memberOf(library.pro, id), memberOf(library, id)].find((found) => typeof found === 'function')
  if (!library.exchanges.includes(id) || Api === undefined) {
    throw new Error(`${namesIn(options).exchange}: ${id || '(empty)'} is not an exchange that ccxt knows`)
  }
  const api = new (Api as new (settings: object) => MarketDataApi)({
    ...settings,
    // Reconnecting waits on the feed's own timer. Without throttling, the library sends nothing on a socket that has
    // closed, whose failure could not be caught.
    options: { ws: { backoff: { base: 0 }, throttle: undefined } },
  })
  api.number = String
  if (baseUrl !== undefined) {
    api.urls.api = redirectUrls(api.urls.api, baseUrl)
    // Without this the library opens no unencrypted socket.
    await api.loadHttpProxyAgent()
  }
  return { api, isRefusal: (error: unknown) => error instanceof library.ExchangeError }
}

/** Current problems. Each cause is reported when it begins, and again only after it was cleared. */
export interface ErrorReports {
  /** Reports that the feed does not work. Its state is `failing` until this cause is cleared. */
  raise(cause: string, message: string): void
  /** Reports a problem with which the feed still works. */
  warn(cause: string, message: string): void
  clear(cause: string): void
  /** Reports a single event. */
  report(message: string): void
  /** The most recent error. */
  current(): string | null
}

export const createErrorReports = (listener: FeedListener, signal: AbortSignal): ErrorReports => {
  const raised = new Map<string, string>()
  const warned = new Set<string>()
  const report = (message: string): void => {
    if (!signal.aborted) listener.onError(message)
  }
  return {
    raise: (cause, message) => {
      const isNew = !raised.has(cause)
      raised.set(cause, message)
      if (isNew) report(message)
    },
    warn: (cause, message) => {
      if (!warned.has(cause)) report(message)
      warned.add(cause)
    },
    clear: (cause) => {
      raised.delete(cause)
      warned.delete(cause)
    },
    report,
    current: () => [...raised.values()].at(-1) ?? null,
  }
}

/** One line, shortened: a broken proxy may send a whole page. */
export const messageOf = (error: unknown): string => {
  const line = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').trim()
  return line.length > MESSAGE_LENGTH_MAX ? `${line.slice(0, MESSAGE_LENGTH_MAX)}…` : line
}

const MESSAGE_LENGTH_MAX = 300
