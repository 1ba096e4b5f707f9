import type { Deadline } from '../ports/broker.ts'
import type { Timer } from '../ports/timer.ts'

export interface RateLimiter {
  /** Resolves when a request of this weight may be sent. Rejects when that takes too long, or after a stop. */
  take(cost: number, deadline?: Deadline | null): Promise<void>
  /** Sends nothing for so long. */
  pause(waitMs: number): void
  /** How much longer nothing is sent. */
  pausedMs(): number
}

export interface RateLimit {
  readonly timer: Timer
  readonly signal: AbortSignal
  /** Time in which the exchange allows one request of weight 1. */
  readonly rateLimitMs: number
  /** What may be sent at once after a quiet time, as the time in which the exchange allows it. */
  readonly burstMs: number
  /** A request that would wait longer is rejected unsent. */
  readonly waitMsMax: number
}

/** The request was held back here and never sent. */
export class RateLimitError extends Error {
  override readonly name = 'RateLimitError'
}

export const createRateLimiter = (limit: RateLimit): RateLimiter => {
  const { timer, signal, rateLimitMs, waitMsMax } = limit
  const burstMs = Math.max(limit.burstMs, rateLimitMs)
  /** Until then the exchange is busy with what was sent; a burst may run ahead of it. */
  let busyUntilMs = Number.NEGATIVE_INFINITY
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let latestMs = timer.now()

  /** A clock that is set back takes both times along: requests must not wait for the difference. */
  const now = (): number => {
    const nowMs = timer.now()
    const setBackMs = Math.max(0, latestMs - nowMs)
    busyUntilMs -= setBackMs
    pausedUntilMs -= setBackMs
    latestMs = nowMs
    return nowMs
  }

  const waitFor = async (waitMs: number, deadline: Deadline | null): Promise<void> => {
    if (waitMs > waitMsMax) throw new RateLimitError(`rate limit: no request for another ${waitMs} ms`)
    const ends = deadline === null ? signal : AbortSignal.any([signal, deadline.signal])
    if (waitMs > 0) await timer.wait(waitMs, ends)
    signal.throwIfAborted()
    if (deadline?.isOver() === true) throw new DeadlineError()
  }

  return {
    take: async (cost, deadline = null) => {
      signal.throwIfAborted()
      const nowMs = now()
      // Whole milliseconds: less than one does not move the clock.
      const waitMs = Math.ceil(Math.max(busyUntilMs - burstMs, pausedUntilMs) - nowMs)
      if (waitMs <= waitMsMax) busyUntilMs = Math.max(busyUntilMs, nowMs) + cost * rateLimitMs
      await waitFor(waitMs, deadline)
      // A pause may have been asked for meanwhile.
      while (pausedUntilMs > now()) await waitFor(Math.ceil(pausedUntilMs - now()), deadline)
    },
    pausedMs: () => Math.max(0, Math.ceil(pausedUntilMs - now())),
    pause: (waitMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, now() + waitMs)
    },
  }
}

/** The request was not sent: the time of its attempt was over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor() {
    super('the time for it was over')
  }
}
