import type { Leadership } from '../../../ports/leadership.ts'
import type { MemoryStore } from './memory-store.ts'

/** A log in memory has one process: its lease lasts until it is released. */
export const memoryLeadership = (store: MemoryStore): Leadership => ({
  tryToLead: (above) => {
    if (store.isLed) return Promise.resolve(null)
    const token = Math.max(store.leaderToken, above) + 1
    store.leaderToken = token
    store.isLed = true
    const over = new AbortController()
    const ended = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    return Promise.resolve({
      token,
      ended,
      isValid: () => !over.signal.aborted,
      release: () => {
        if (!over.signal.aborted) store.isLed = false
        over.abort()
        return ended
      },
    })
  },
  close: () => Promise.resolve(),
})
