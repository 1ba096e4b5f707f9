import type { FeedListener } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { backoffMs } from './backoff.ts'
import { canFetch, closeSockets, type Exchange } from './exchange.ts'
import type { Line } from './line.ts'
import type { Watched } from './markets.ts'
import type { ErrorReports } from './errors.ts'
import { memberOf, messageOf, positiveOf } from './values.ts'

export interface TickFollowerDependencies {
  readonly exchange: Exchange
  readonly line: Line
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly listener: FeedListener
  readonly troubles: ErrorReports
  readonly barMs: number
}

/**
 * Prices between bars, until the feed stops: from sockets where the venue has them, by request while it has none or one
 * says nothing. A socket that is open and mute is as good as closed, so only what arrives counts.
 */
export const followTicks = async (
  parts: TickFollowerDependencies,
  watched: readonly Watched[],
): Promise<void> => {
  const tell = createTeller(parts, watched)
  let closing: Promise<void> | null = null
  const sockets: Sockets = {
    isClosing: () => closing !== null,
    close: async () => {
      closing ??= closeSockets(parts.exchange).finally(() => (closing = null))
      await closing
    },
  }
  await Promise.all(
    sourcesOf(parts.exchange, watched).map((source) => followSource(parts, source, sockets, tell)),
  )
}

/** Markets whose prices come the same way. */
interface Source {
  readonly markets: readonly string[]
  /** The next prices of the socket; null where there is none. */
  readonly listen: (() => Promise<unknown>) | null
}

/** All that are open: the library closes them together. */
interface Sockets {
  isClosing(): boolean
  close(): Promise<void>
}

type Tell = (tickers: unknown) => void

const followSource = async (
  parts: TickFollowerDependencies,
  { markets, listen }: Source,
  sockets: Sockets,
  tell: Tell,
): Promise<void> => {
  const { exchange, timer, signal, troubles } = parts
  const cause = `socket of ${markets.join(', ')}`
  const silentMsMax = Math.max(SILENT_BARS_MAX * parts.barMs, SILENT_MS_MIN)
  let quietSinceMs = timer.now()
  let isBroken = listen === null

  const fail = (why: string): void => {
    if (!isBroken) troubles.raise(cause, `prices come by request, as the ${cause} ${why}`)
    isBroken = true
  }

  const hear = async (next: () => Promise<unknown>): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      try {
        const tickers = await next()
        if (signal.aborted) return
        tell(tickers)
        // Of prices that came together the call tells only one.
        tell(exchange.tickers)
        quietSinceMs = timer.now()
        isBroken = false
        failures = 0
        troubles.clear(cause)
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        // Another one was silent, and this one was closed along with it.
        if (!sockets.isClosing()) fail(`broke: ${messageOf(error)}`)
        await timer.wait(backoffMs(failures), signal)
      }
    }
  }

  /** Looks after the socket, and asks while it says nothing. */
  const guard = async (): Promise<void> => {
    while (!signal.aborted) {
      await timer.wait(Math.max(POLL_MS_MIN, parts.barMs / 6), signal)
      if (signal.aborted) return
      if (listen !== null && timer.now() - quietSinceMs >= silentMsMax) {
        fail('is silent')
        // The next one has as much time to say something.
        quietSinceMs = timer.now()
        await sockets.close()
      }
      if (isBroken) await poll(parts, markets, tell)
    }
  }

  await Promise.all(listen === null ? [guard()] : [guard(), hear(listen)])
}

const SILENT_BARS_MAX = 2
const SILENT_MS_MIN = 30_000
const POLL_MS_MIN = 5000

/** One call for all markets of a kind where the venue can, as each may open a socket of its own. */
const sourcesOf = (exchange: Exchange, watched: readonly Watched[]): readonly Source[] => {
  const kinds = [true, false].map((isSpot) => [
    ...new Set(watched.filter((entry) => entry.isSpot === isSpot).map(({ market }) => market)),
  ])
  if (exchange.has['watchTickers'] === true) {
    return kinds
      .filter(({ length }) => length > 0)
      .map((markets) => ({ markets, listen: () => exchange.watchTickers(markets) }))
  }
  const hasSockets = exchange.has['watchTicker'] === true
  return kinds.flat().map((market) => ({
    markets: [market],
    listen: hasSockets ? async () => ({ [market]: await exchange.watchTicker(market) }) : null,
  }))
}

const poll = async (
  { exchange, line, signal, troubles }: TickFollowerDependencies,
  markets: readonly string[],
  tell: Tell,
): Promise<void> => {
  if (!canFetch(exchange, 'fetchTicker')) return
  for (const market of markets) {
    const cause = `price of ${market}`
    try {
      const ticker = await line.ask(() => exchange.fetchTicker(market))
      if (signal.aborted) return
      tell({ [market]: ticker })
      troubles.clear(cause)
    } catch (error) {
      if (signal.aborted) return
      troubles.raise(cause, `no ${cause} for now: ${messageOf(error)}`)
    }
  }
}

/** Tells what is new of the universe: each price once, and none that is older than the last. */
const createTeller = ({ listener }: TickFollowerDependencies, watched: readonly Watched[]): Tell => {
  const newestMs = new Map<string, number>()
  return (tickers) => {
    for (const { symbol, market } of watched) {
      const ticker = memberOf(tickers, market)
      const price = positiveOf(memberOf(ticker, 'last'))
      const atMs = positiveOf(memberOf(ticker, 'timestamp'))
      // A price without a time could be of any age.
      if (price === null || atMs === null || atMs <= (newestMs.get(symbol) ?? 0)) continue
      newestMs.set(symbol, atMs)
      listener.onTick({ symbol, price, atMs })
    }
  }
}
