import type { Lease } from '../ports/leadership.ts'
import type { Timer } from '../ports/timer.ts'

// Shared by the leaderships of all stores: a lease that ends unless its heartbeat is confirmed.

/**
 * How long a lease lasts without a heartbeat. A standby that checks ten times per lease replaces the leader in time.
 */
export const validMsOf = (replacedWithinMs: number): number => replacedWithinMs * 0.8

export interface HeldLease {
  readonly token: number
  /** Clock reading from before the request to the store. */
  readonly takenAt: ClockReading
  readonly validMs: number
  readonly timer: Timer
  /** Extends the lease. False when another leader holds it by now. Rejects when the store is unreachable. */
  readonly renew: () => Promise<boolean>
  readonly giveUp: () => Promise<void>
}

/** Heartbeats until it is released or lost. */
export const keepLease = ({ token, takenAt, validMs, timer, renew, giveUp }: HeldLease): Lease => {
  const over = new AbortController()
  const ended = new Promise<void>((resolve) => {
    over.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const heartbeatMs = validMs / HEARTBEATS
  let confirmedAt = takenAt
  const beat = async (): Promise<number> => {
    // Read before the request: the store counts from a later time, so the lease ends here first.
    const askedAt = readClocks()
    try {
      if (!(await renew())) over.abort()
      confirmedAt = askedAt
      return heartbeatMs
    } catch {
      // The store is unreachable, which other parts report. The lease is not valid until it is confirmed again.
      return heartbeatMs / RETRIES
    }
  }
  const loop = async (): Promise<void> => {
    let pauseMs = heartbeatMs
    while (!over.signal.aborted) {
      await timer.wait(pauseMs, over.signal)
      if (!over.signal.aborted) pauseMs = await beat()
    }
  }
  const beating = loop()
  let releasing: Promise<void> | null = null
  const release = async (): Promise<void> => {
    const isHeld = !over.signal.aborted
    over.abort()
    await beating
    // If the store is unreachable, the lease expires by itself.
    if (isHeld) await giveUp().catch(() => undefined)
  }
  return {
    token,
    ended,
    isValid: () => !over.signal.aborted && elapsedMsSince(confirmedAt) < validMs,
    release: () => (releasing ??= release()),
  }
}

const HEARTBEATS = 3
const RETRIES = 4

/** Measured by two clocks: the steady one stands still while a machine sleeps, the other may be set back. */
export interface ClockReading {
  readonly steadyMs: number
  readonly wallMs: number
}

export const readClocks = (): ClockReading => ({ steadyMs: performance.now(), wallMs: Date.now() })

const elapsedMsSince = ({ steadyMs, wallMs }: ClockReading): number =>
  Math.max(performance.now() - steadyMs, Date.now() - wallMs)
