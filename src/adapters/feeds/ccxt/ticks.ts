import type { FeedListener } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { memberOf, positiveOf } from '../../ccxt.ts'
import type { ExchangeClock } from './exchange-clock.ts'
import { backoffMs, messageOf, type ErrorReports, type Exchange } from './exchange.ts'
import type { WatchedSymbol } from './markets.ts'

export interface TickFollowerDependencies {
  readonly exchange: Exchange
  readonly clock: ExchangeClock
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly listener: FeedListener
  readonly errors: ErrorReports
}

/**
 * Follows prices between bars until the feed stops. Prices come from sockets where the exchange has them. They are
 * polled while there is no socket, or while it is broken or silent.
 */
export const followTicks = async (
  dependencies: TickFollowerDependencies,
  watched: readonly WatchedSymbol[],
): Promise<void> => {
  const { exchange, listener, clock } = dependencies
  const onTickers = createTickFilter(listener, watched, clock)
  let closing: Promise<void> | null = null
  const sockets: Sockets = {
    isClosing: () => closing !== null,
    close: async () => {
      closing ??= exchange.closeSockets().finally(() => (closing = null))
      await closing
    },
  }
  await Promise.all(
    sourcesOf(exchange, watched).map((source) => followSource(dependencies, source, sockets, onTickers)),
  )
}

/** Markets whose prices arrive over the same call. */
interface Source {
  readonly markets: readonly string[]
  /** Returns the next prices of the socket; null where the exchange has none. */
  readonly nextTickers: (() => Promise<unknown>) | null
}

/** All open sockets: the library closes them together. */
interface Sockets {
  isClosing(): boolean
  close(): Promise<void>
}

type TickersListener = (tickers: unknown) => void

const followSource = async (
  dependencies: TickFollowerDependencies,
  { markets, nextTickers }: Source,
  sockets: Sockets,
  onTickers: TickersListener,
): Promise<void> => {
  const { exchange, timer, signal, errors } = dependencies
  const barMs = exchange.resolution.seconds * 1000
  const cause = `socket of ${markets.join(', ')}`
  const silentMsMax = Math.max(SILENT_BARS_MAX * barMs, SILENT_MS_MIN)
  let lastTickMs = timer.now()
  let isBroken = nextTickers === null

  const fail = (why: string): void => {
    if (!isBroken) errors.raise(cause, `the ${cause} ${why}: polling prices instead`)
    isBroken = true
  }

  const followSocket = async (next: () => Promise<unknown>): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      try {
        const tickers = await next()
        if (signal.aborted) return
        onTickers(tickers)
        // If several prices arrive together, the call returns only one of them.
        onTickers(exchange.api.tickers)
        lastTickMs = timer.now()
        isBroken = false
        failures = 0
        errors.clear(cause)
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        // Replacing a silent socket closes this one too, which is no failure.
        if (!sockets.isClosing()) fail(`broke (${messageOf(error)})`)
        await timer.wait(backoffMs(failures), signal)
      }
    }
  }

  /** Replaces a silent socket, and polls while there is none. */
  const guard = async (): Promise<void> => {
    while (!signal.aborted) {
      await timer.wait(Math.max(POLL_MS_MIN, barMs / 6), signal)
      if (signal.aborted) return
      if (nextTickers !== null && timer.now() - lastTickMs >= silentMsMax) {
        fail('is silent')
        // The next socket gets the same time to send its first price.
        lastTickMs = timer.now()
        await sockets.close()
      }
      if (isBroken) await poll(dependencies, markets, onTickers)
    }
  }

  await Promise.all(nextTickers === null ? [guard()] : [guard(), followSocket(nextTickers)])
}

const SILENT_BARS_MAX = 2
const SILENT_MS_MIN = 30_000
const POLL_MS_MIN = 5000

/** One call for all markets of a kind where the exchange has one, as each call may open its own socket. */
const sourcesOf = ({ api }: Exchange, watched: readonly WatchedSymbol[]): readonly Source[] => {
  const kinds = [true, false].map((isSpot) => [
    ...new Set(watched.filter((entry) => entry.isSpot === isSpot).map(({ market }) => market)),
  ])
  if (api.has['watchTickers'] === true) {
    return kinds
      .filter(({ length }) => length > 0)
      .map((markets) => ({ markets, nextTickers: () => api.watchTickers(markets) }))
  }
  const hasSockets = api.has['watchTicker'] === true
  return kinds.flat().map((market) => ({
    markets: [market],
    nextTickers: hasSockets ? async () => ({ [market]: await api.watchTicker(market) }) : null,
  }))
}

const poll = async (
  { exchange, signal, errors }: TickFollowerDependencies,
  markets: readonly string[],
  onTickers: TickersListener,
): Promise<void> => {
  if (!exchange.supports('fetchTicker')) return
  for (const market of markets) {
    const cause = `price of ${market}`
    try {
      const ticker = await exchange.request(() => exchange.api.fetchTicker(market))
      if (signal.aborted) return
      onTickers({ [market]: ticker })
      errors.clear(cause)
    } catch (error) {
      if (signal.aborted) return
      errors.raise(cause, `could not poll the ${cause}, will retry: ${messageOf(error)}`)
    }
  }
}

/**
 * Passes on new prices of watched symbols: each once, and none older than the last. Some exchanges (Kraken, Bitfinex,
 * Hyperliquid) send prices without a time; the time of arrival is used for them. It also replaces a time that is far
 * ahead, which would otherwise hold back all later prices.
 */
export const createTickFilter = (
  listener: Pick<FeedListener, 'onTick'>,
  watched: readonly WatchedSymbol[],
  clock: Pick<ExchangeClock, 'now'>,
): TickersListener => {
  const last = new Map<string, { readonly ticker: unknown; readonly price: number; readonly atMs: number }>()
  return (tickers) => {
    const nowMs = clock.now()
    for (const { symbol, market } of watched) {
      const ticker = memberOf(tickers, market)
      const price = positiveOf(memberOf(ticker, 'last'))
      const before = last.get(symbol)
      // The library keeps the last price of each market and repeats it with the prices of other markets.
      if (price === null || (before?.ticker === ticker && before?.price === price)) continue
      const statedMs = positiveOf(memberOf(ticker, 'timestamp'))
      const atMs = statedMs === null || statedMs > nowMs + AHEAD_MS_MAX ? nowMs : statedMs
      const isNewer = before === undefined || atMs > before.atMs
      last.set(symbol, { ticker, price, atMs: isNewer ? atMs : before.atMs })
      if (isNewer) listener.onTick({ symbol, price, atMs })
    }
  }
}

const AHEAD_MS_MAX = 60_000
