import type { Timestamp } from '../core/shared/brand.ts'
import type { SteadyTime } from '../ports/clock.ts'
import type { Timer } from '../ports/timer.ts'

export interface ClockMonitorDependencies {
  readonly time: SteadyTime
  readonly timer: Pick<Timer, 'wait'>
  /** Latest `recorded_at` of the log. */
  readonly logTime: () => Timestamp
  /** Largest difference that is not a jump. */
  readonly jumpMsMax: () => number
  /** Called for a jump. If it rejects, the jump is reported again. */
  readonly onJump: (jump: DetectedClockJump) => Promise<void>
  readonly onError: (what: string, error: unknown) => void
}

export interface DetectedClockJump {
  readonly cause: 'wall_clock' | 'log_ahead'
  /** Positive if the clock of the machine jumped ahead. */
  readonly jumpMs: number
  /** Time of the machine's clock. */
  readonly wallMs: number
  readonly logTime: Timestamp
}

export interface ClockMonitor {
  close(): Promise<void>
}

/**
 * Compares the clock of the machine with the elapsed time and with the log. Small differences are corrected slowly. A
 * jump is reported but not followed, because only an operator knows which clock is right. The next start uses the clock
 * of that time. Resolves after the first check.
 */
export const watchClock = async (dependencies: ClockMonitorDependencies): Promise<ClockMonitor> => {
  const { time, timer, logTime, jumpMsMax, onJump, onError } = dependencies
  const closing = new AbortController()
  /** Sum of the jumps so far. */
  let offsetMs = 0
  let reportedLogTime: Timestamp | null = null

  const lookAtClock = async (): Promise<void> => {
    const wallMs = time.wallNow()
    const differenceMs = wallMs - offsetMs - time.now()
    if (Math.abs(differenceMs) <= jumpMsMax()) {
      time.slew(Math.max(-SLEW_MS_MAX, Math.min(SLEW_MS_MAX, differenceMs)))
      return
    }
    await onJump({ cause: 'wall_clock', jumpMs: differenceMs, wallMs, logTime: logTime() })
    offsetMs += differenceMs
  }
  const lookAtLog = async (): Promise<void> => {
    const newest = logTime()
    const aheadMs = Date.parse(newest) - time.now()
    // An empty log has no time. The comparison is then false.
    if (!(aheadMs > jumpMsMax()) || newest === reportedLogTime) return
    await onJump({ cause: 'log_ahead', jumpMs: -aheadMs, wallMs: time.wallNow(), logTime: newest })
    reportedLogTime = newest
  }
  const look = async (): Promise<void> => {
    try {
      await lookAtClock()
      await lookAtLog()
    } catch (error) {
      onError('could not record a jump of the clock', error)
    }
  }
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await timer.wait(EVERY_MS, closing.signal)
      if (!closing.signal.aborted) await look()
    }
  }

  await look()
  const running = loop()
  return {
    close: async () => {
      closing.abort()
      await running
    },
  }
}

const EVERY_MS = 1000
/** Largest correction at once: one part in twenty, so that time keeps advancing. */
const SLEW_MS_MAX = 50
