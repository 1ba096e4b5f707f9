import type { Leadership } from '../../../ports/leadership.ts'

/** A log in memory has one process. */
export const soleLeadership = (): Leadership => ({
  tryToLead: () => {
    const over = new AbortController()
    const ended = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve())
    })
    return Promise.resolve({
      ended,
      release: () => {
        over.abort()
        return ended
      },
    })
  },
})
