import type { Timer } from '../../../ports/timer.ts'
import { backoffMs } from './backoff.ts'

/** The one way to a venue: all requests of a feed share its budget, and are held back together after a failure. */
export interface Line {
  /** Resolves when a request of this weight may be sent; rejects when the feed stops. */
  throttle(cost: number): Promise<void>
  /** Nothing is sent for so long. */
  hold(waitMs: number): void
  /** Counts what the call comes to: failures in a row hold the line back longer and longer. */
  ask<T>(call: () => Promise<T>): Promise<T>
}

export interface LineDependencies {
  readonly timer: Timer
  readonly signal: AbortSignal
  /** In which a venue allows one request of weight 1. */
  readonly rateLimitMs: number
  /** True for an answer that says no: the venue is well, and asking again changes nothing. */
  readonly isRefusal: (error: unknown) => boolean
}

export const createLine = ({ timer, signal, rateLimitMs, isRefusal }: LineDependencies): Line => {
  const tokensMax = Math.max(1, BURST_MS / rateLimitMs)
  let tokens = tokensMax
  let refilledMs = timer.now()
  let heldUntilMs = Number.NEGATIVE_INFINITY
  let failures = 0
  let outages = 0
  let queue: Promise<void> = Promise.resolve()

  const refill = (): void => {
    const nowMs = timer.now()
    tokens = Math.min(tokensMax, tokens + Math.max(0, nowMs - refilledMs) / rateLimitMs)
    refilledMs = nowMs
  }

  const turn = async (cost: number): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      refill()
      // A request may cost more than the bucket holds: it is sent from what is there, and the next ones wait for it.
      const waitMs = Math.max(heldUntilMs - timer.now(), -tokens * rateLimitMs)
      if (waitMs <= 0) {
        tokens -= cost
        return
      }
      // Whole milliseconds: less than one does not move the clock.
      await timer.wait(Math.ceil(waitMs), signal)
    }
  }

  const hold = (waitMs: number): void => {
    heldUntilMs = Math.max(heldUntilMs, timer.now() + waitMs)
  }

  return {
    throttle: (cost) => {
      const mine = queue.then(() => turn(cost))
      // Whoever asked hears of it; the next in the queue looks for itself.
      queue = mine.catch(() => undefined)
      return mine
    },
    hold,
    ask: async (call) => {
      const outagesBefore = outages
      try {
        const answer = await call()
        failures = 0
        return answer
      } catch (error) {
        // Requests that failed side by side are one outage.
        if (!signal.aborted && !isRefusal(error) && outages === outagesBefore) {
          outages += 1
          failures += 1
          hold(backoffMs(failures))
        }
        throw error
      }
    },
  }
}

/** What may be sent at once after a pause, as time in which the venue would allow it. */
const BURST_MS = 1000
