import { createSystemTimer } from '../../src/adapters/platform/timer/system-timer.ts'
import type { Timer } from '../../src/ports/timer.ts'

/** Time that runs faster than the machine's: the same in every process that knows when it began. */
export interface Pace {
  readonly beginMs: number
  readonly speed: number
}

export const fastNow = ({ beginMs, speed }: Pace): number =>
  Math.floor(beginMs + (Date.now() - beginMs) * speed)

export const createFastTimer = (pace: Pace): Timer => {
  const timer = createSystemTimer()
  return { now: () => fastNow(pace), wait: (ms, signal) => timer.wait(ms / pace.speed, signal) }
}
