import type { Timer } from '../../../ports/timer.ts'
import { canFetch, openExchange, type Exchange } from './exchange.ts'
import { resolutionOf, type Resolution } from './history.ts'
import { createFetch } from './http.ts'
import { createLine, type Line } from './line.ts'

/** A venue that can be asked; nothing was asked yet. */
export interface Venue {
  readonly exchange: Exchange
  readonly line: Line
  readonly resolution: Resolution
  /** Of the bars that tell the past of a symbol that has none; null where the venue has none that fit. */
  readonly warmupResolution: Resolution | null
  readonly isRefusal: (error: unknown) => boolean
}

export interface VenueOptions {
  readonly exchangeId: string
  readonly barSeconds: number
  readonly baseUrl: string | undefined
  readonly requestTimeoutMs: number
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Rejects for what no waiting mends. */
export const openVenue = async (options: VenueOptions): Promise<Venue> => {
  const { exchangeId, barSeconds, timer, signal } = options
  // Known only when the exchange is, which needs a way to the network first.
  let line: Line | null = null
  const { exchange, isRefusal } = await openExchange({
    id: exchangeId,
    baseUrl: options.baseUrl,
    requestTimeoutMs: options.requestTimeoutMs,
    fetch: createFetch({
      signal,
      timer,
      timeoutMs: options.requestTimeoutMs,
      onRetryAfter: (waitMs) => line?.hold(waitMs),
    }),
  })
  const resolution = resolutionOf(exchange, barSeconds)
  if (!canFetch(exchange, 'fetchOHLCV') || resolution === null) {
    throw new Error(`market.bar_seconds: ${exchangeId} has no bars of ${barSeconds} seconds`)
  }
  const opened = createLine({ timer, signal, rateLimitMs: Math.max(1, exchange.rateLimit), isRefusal })
  line = opened
  // The library knows what each request weighs; the budget is ours, on our timer.
  exchange.throttle = (cost) => opened.throttle(Number(cost ?? 1))
  const fits = barSeconds < WARMUP_BAR_SECONDS && WARMUP_BAR_SECONDS % barSeconds === 0
  const warmupResolution = fits ? resolutionOf(exchange, WARMUP_BAR_SECONDS) : null
  return { exchange, line: opened, resolution, warmupResolution, isRefusal }
}

const WARMUP_BAR_SECONDS = 900
