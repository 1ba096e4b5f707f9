import { uptime } from 'node:os'
import type { SteadyTime } from '../../../ports/clock.ts'

export interface TimeSources {
  /** The clock of the machine. */
  readonly wallMs: () => number
  /** Only ever goes on, from any beginning. */
  readonly elapsedMs: () => number
  /** The same, and counts the time in which the machine sleeps; null where `elapsedMs` does so itself. */
  readonly uptimeMs: (() => number) | null
}

/** Begins at the clock of the machine and goes on by the time that passes. */
export const createSteadyTime = (sources: TimeSources = MACHINE): SteadyTime => {
  const { wallMs, elapsedMs, uptimeMs } = sources
  const beganMs = elapsedMs()
  const beganUptimeMs = uptimeMs?.() ?? 0
  let baseMs = wallMs() - beganMs
  let asleepMs = 0
  let lookedMs = beganMs
  let latestMs = 0

  /** Reading it costs far more than a clock, so it is read once a second. */
  const countSleep = (nowMs: number): void => {
    if (uptimeMs === null || nowMs - lookedMs < LOOK_EVERY_MS) return
    lookedMs = nowMs
    const countedMs = uptimeMs() - beganUptimeMs - (nowMs - beganMs)
    if (countedMs - asleepMs < SLEEP_MS_MIN) return
    baseMs += countedMs - asleepMs
    asleepMs = countedMs
  }

  return {
    now: () => {
      const nowMs = elapsedMs()
      countSleep(nowMs)
      latestMs = Math.max(latestMs, Math.floor(baseMs + nowMs))
      return latestMs
    },
    wallNow: wallMs,
    slew: (ms) => {
      baseMs += ms
    },
  }
}

/** Linux stops its monotonic clock while the machine sleeps; macOS and Windows do not. */
const MACHINE: TimeSources = {
  wallMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  uptimeMs: process.platform === 'linux' ? () => uptime() * 1000 : null,
}

const LOOK_EVERY_MS = 1000
/** Less is the coarse grain of the uptime. */
const SLEEP_MS_MIN = 1000
