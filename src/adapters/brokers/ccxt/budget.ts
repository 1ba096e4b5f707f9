import type { Timer } from '../../../ports/timer.ts'

/** What may be sent to the venue, and when. */
export interface Budget {
  /** Resolves when a request of this weight may be sent; rejects when that would take too long. */
  take(cost: number): Promise<void>
  /** Nothing is sent for so long. */
  hold(waitMs: number): void
}

export interface BudgetDependencies {
  readonly timer: Timer
  readonly signal: AbortSignal
  /** In which a venue allows one request of weight 1. */
  readonly rateLimitMs: number
}

/** The request was held back here, and never sent. */
export class HeldBackError extends Error {
  override readonly name = 'HeldBackError'
}

/**
 * An order that waits for long is an order at another price: what cannot be sent soon is not sent at all, and whoever
 * asked decides anew.
 */
export const createBudget = ({ timer, signal, rateLimitMs }: BudgetDependencies): Budget => {
  /** Until then the venue has work from us; a burst may run ahead of it. */
  let busyUntilMs = Number.NEGATIVE_INFINITY
  let heldUntilMs = Number.NEGATIVE_INFINITY

  return {
    take: async (cost) => {
      signal.throwIfAborted()
      const nowMs = timer.now()
      const waitMs = Math.ceil(Math.max(busyUntilMs - BURST_MS, heldUntilMs) - nowMs)
      if (waitMs > WAIT_MS_MAX)
        throw new HeldBackError(`the venue allows no request for another ${waitMs} ms`)
      busyUntilMs = Math.max(busyUntilMs, nowMs) + cost * rateLimitMs
      if (waitMs > 0) await timer.wait(waitMs, signal)
      signal.throwIfAborted()
      // It may have been told to wait while this one did.
      if (heldUntilMs > timer.now()) throw new HeldBackError('the venue asked to be left alone')
    },
    hold: (waitMs) => {
      heldUntilMs = Math.max(heldUntilMs, timer.now() + waitMs)
    },
  }
}

/** Stops of many positions may have to be sent at once; venues allow a minute's worth. */
const BURST_MS = 10_000
const WAIT_MS_MAX = 5000
