import type { Timer } from './timer.ts'

export interface ManualTimer extends Timer {
  /** Advances time. Waits end in the order in which they are due, each at its due time. */
  advance(ms: number): Promise<void>
  /** Advances time at once, as after the sleep of a machine. Waits that became due end late. */
  jump(ms: number): Promise<void>
  /** Milliseconds until the next wait is due; null if there is none. */
  untilNextMs(): number | null
}

/** A timer whose time advances only through calls of the test. */
export const createManualTimer = (startMs: number): ManualTimer => {
  let nowMs = startMs
  let pending: readonly PendingWait[] = []

  const endDue = async (untilMs: number, atOwnTime: boolean): Promise<void> => {
    for (;;) {
      const next = earliestOf(pending)
      if (next === undefined || next.dueMs > untilMs) return
      if (atOwnTime) nowMs = Math.max(nowMs, next.dueMs)
      next.end()
      await settle()
    }
  }

  return {
    now: () => nowMs,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal.aborted) {
          resolve()
          return
        }
        const end = (): void => {
          pending = pending.filter((wait) => wait !== self)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const self: PendingWait = { dueMs: nowMs + ms, end }
        pending = [...pending, self]
        signal.addEventListener('abort', end)
      }),
    advance: async (ms) => {
      const untilMs = nowMs + ms
      await settle()
      await endDue(untilMs, true)
      nowMs = untilMs
    },
    jump: async (ms) => {
      await settle()
      nowMs += ms
      await endDue(nowMs, false)
    },
    untilNextMs: () => {
      const next = earliestOf(pending)
      return next === undefined ? null : next.dueMs - nowMs
    },
  }
}

/** Runs everything that waits only for a turn of the event loop. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Advances time in small steps, so that tasks that are due in between run at their time. */
export const passTime = async (timer: ManualTimer, ms: number): Promise<void> => {
  for (let step = 0; step < ms; step += STEP_MS) {
    await timer.advance(Math.min(STEP_MS, ms - step))
    await settle()
  }
  await settle()
}

const STEP_MS = 500

interface PendingWait {
  readonly dueMs: number
  readonly end: () => void
}

/** Finds the next wait; the one that started first, where two are equal. */
const earliestOf = (waits: readonly PendingWait[]): PendingWait | undefined => {
  let earliest: PendingWait | undefined
  for (const wait of waits) {
    if (earliest === undefined || wait.dueMs < earliest.dueMs) earliest = wait
  }
  return earliest
}
