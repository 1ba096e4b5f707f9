import type { Deadline } from '../ports/broker.ts'
import type { Timer } from '../ports/timer.ts'

export interface RateLimiter {
  /** Resolves when a request of this weight may be sent. Rejects when that takes too long, or after a stop. */
  take(cost: number, deadline?: Deadline | null): Promise<void>
  /** Sends nothing for this long. */
  pause(waitMs: number): void
  /** Remaining time of the current pause. */
  pausedMs(): number
}

export interface RateLimit {
  readonly timer: Timer
  readonly signal: AbortSignal
  /** Time in which the exchange allows one request of weight 1. */
  readonly rateLimitMs: number
  /** Size of the burst after a quiet time, as the time in which the exchange allows that many requests. */
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
  /** Time until which the exchange is busy with the requests sent so far. A burst may run ahead of it. */
  let busyUntilMs = Number.NEGATIVE_INFINITY
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let latestMs = timer.now()

  /** If the clock is set back, both times move with it: requests must not wait for the difference. */
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
      // Rounded up to whole milliseconds: a shorter wait does not advance the clock.
      const waitMs = Math.ceil(Math.max(busyUntilMs - burstMs, pausedUntilMs) - nowMs)
      if (waitMs <= waitMsMax) busyUntilMs = Math.max(busyUntilMs, nowMs) + cost * rateLimitMs
      await waitFor(waitMs, deadline)
      // Another caller may have started a pause meanwhile.
      while (pausedUntilMs > now()) await waitFor(Math.ceil(pausedUntilMs - now()), deadline)
    },
    pausedMs: () => Math.max(0, Math.ceil(pausedUntilMs - now())),
    pause: (waitMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, now() + waitMs)
    },
  }
}

/** The request was not sent, because the deadline of its attempt had passed. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor() {
    super('the time for it was over')
  }
}
