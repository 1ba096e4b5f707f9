import type { Timer } from './timer.ts'

export interface ManualTimer extends Timer {
  /** Moves time on. Waits end in the order in which they are due, each at its own moment. */
  advance(ms: number): Promise<void>
  /** Moves time without ending a wait on the way, as when a machine sleeps; what is due then ends late. */
  jump(ms: number): Promise<void>
  /** How long until the next wait is due; null if nobody waits. */
  untilNextMs(): number | null
}

/** Time that moves only by hand. */
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

/** Lets everything run that waits for nothing but its turn. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** In small steps, so that what is due in between happens in its turn. */
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

/** The first of equals is the one that began to wait first. */
const earliestOf = (waits: readonly PendingWait[]): PendingWait | undefined => {
  let earliest: PendingWait | undefined
  for (const wait of waits) {
    if (earliest === undefined || wait.dueMs < earliest.dueMs) earliest = wait
  }
  return earliest
}
