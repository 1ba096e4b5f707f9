import type { FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { beginSession, type Session } from './session.ts'

export interface CcxtFeedDependencies {
  /** As the library names it: `binance`. */
  readonly exchange: string
  readonly barSeconds: number
  /** Past on the first start of a symbol. */
  readonly warmupHours: number
  readonly timer: Timer
  /** Instead of the venue's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
}

/**
 * A real venue. A start rejects for what no waiting mends: an unknown exchange, or one without bars of that length. A
 * venue that is down is trouble: the start resolves, and the feed goes on trying and then tells what was missed.
 */
export const createCcxtFeed = (parts: CcxtFeedDependencies): MarketFeed => {
  let session: Session | null = null
  let stopped = false
  return {
    name: `ccxt:${parts.exchange}`,
    producers: [],
    start: async (from, listener) => {
      if (session !== null || stopped) throw new Error('a feed is started once')
      session = beginSession({
        exchangeId: parts.exchange,
        barSeconds: parts.barSeconds,
        warmupHours: parts.warmupHours,
        timer: parts.timer,
        baseUrl: parts.baseUrl,
        requestTimeoutMs: parts.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
        from,
        listener,
      })
      await session.started
    },
    status: () => session?.status() ?? (stopped ? STOPPED : IDLE),
    stop: async () => {
      stopped = true
      await session?.stop()
    },
  }
}

const REQUEST_TIMEOUT_MS = 10_000
const IDLE: FeedStatus = { state: 'idle', lastBarAtMs: null, clockOffsetMs: null, trouble: null }
const STOPPED: FeedStatus = { ...IDLE, state: 'stopped' }
