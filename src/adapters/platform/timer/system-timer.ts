import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Timer } from '../../../ports/timer.ts'

/** The timers of the machine, by default with its clock. */
export const createSystemTimer = (now: () => number = Date.now): Timer => ({
  now,
  wait: async (ms, signal) => {
    // Many may wait for one signal, and each takes its listener back: no leak to warn of.
    setMaxListeners(0, signal)
    let leftMs = Math.max(0, ms)
    do {
      const partMs = Math.min(leftMs, TIMEOUT_MS_MAX)
      // Rejects only for the signal: then the wait is over.
      await setTimeout(partMs, undefined, { signal }).catch(() => undefined)
      leftMs -= partMs
    } while (leftMs > 0 && !signal.aborted)
  },
})

/** Node fires a longer time-out after one millisecond. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1
