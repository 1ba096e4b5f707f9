import type { Leadership } from '../../../ports/leadership.ts'

/** A log in memory has one process. */
export const soleLeadership = (): Leadership => ({
  tryToLead: () => {
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    return Promise.resolve({
      ended,
      release: () => {
        end()
        return ended
      },
    })
  },
})
