import type { Timer } from '../../../ports/timer.ts'

/** The clock and the timers of the machine. */
export const createSystemTimer = (): Timer => ({ now: Date.now, wait: waitAtLeast })

const waitAtLeast = async (ms: number, signal: AbortSignal): Promise<void> => {
  let leftMs = Math.max(0, ms)
  do {
    const partMs = Math.min(leftMs, TIMEOUT_MS_MAX)
    await waitOnce(partMs, signal)
    leftMs -= partMs
  } while (leftMs > 0 && !signal.aborted)
}

/** Node fires a longer time-out after one millisecond. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1

const waitOnce = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const finish = (): void => {
      clearTimeout(timeout)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timeout = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
  })
