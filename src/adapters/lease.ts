import type { Lease } from '../ports/leadership.ts'
import type { Timer } from '../ports/timer.ts'

// What the leaderships of all stores share: a lease that ends unless its heartbeat is confirmed.

/** How long a lease lasts without a heartbeat. A standby that looks ten times as often replaces the leader in time. */
export const validMsOf = (replacedWithinMs: number): number => replacedWithinMs * 0.8

export interface HeldLease {
  readonly token: number
  /** From before the store was asked. */
  readonly takenAt: ClockReading
  readonly validMs: number
  readonly timer: Timer
  /** Puts the end of the lease off. False when it belongs to another leader by now; rejects when the store is away. */
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
    // Before the store is asked: it counts from later on, so the lease ends here first.
    const askedAt = readClocks()
    try {
      if (!(await renew())) over.abort()
      confirmedAt = askedAt
      return heartbeatMs
    } catch {
      // The store is away: others report it. The lease is not valid until it is confirmed again.
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
    // Where the store is away, it runs out by itself.
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

/** By both clocks: the steady one stands still while a machine sleeps, the other may be set back. */
export interface ClockReading {
  readonly steadyMs: number
  readonly wallMs: number
}

export const readClocks = (): ClockReading => ({ steadyMs: performance.now(), wallMs: Date.now() })

const elapsedMsSince = ({ steadyMs, wallMs }: ClockReading): number =>
  Math.max(performance.now() - steadyMs, Date.now() - wallMs)
