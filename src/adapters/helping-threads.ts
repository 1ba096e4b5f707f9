import { constants, getPriority, setPriority } from 'node:os'

/** The code of a thread, beside the file that starts it. From source it runs from source too; built, both are JavaScript. */
export const threadFile = (source: `./${string}.ts`, startedBy: string): URL =>
  new URL(startedBy.endsWith('.ts') ? source : source.replace(/\.ts$/, '.js'), startedBy)

/**
 * The first thing a thread does whose work the loop could do itself, or whose work nobody waits for: signing, checking,
 * copying a journal. Where more threads are busy than there are cores, the loop goes first, since prices, stops and
 * callers wait for it. The thread that writes is not such a one: every answer waits for it alone.
 */
export const standBack = (take: (priority: number) => void = setPriority): void => {
  // A priority belongs to the thread that asks only on Linux; elsewhere it is that of the whole process.
  if (process.platform !== 'linux') return
  try {
    take(Math.min(constants.priority.PRIORITY_LOW, getPriority() + STEPS_BEHIND))
  } catch {
    // A sandbox may forbid it. Threads then get their share of the cores like any other.
  }
}

/** A tenth of a core that somebody else wants, and all of one that nobody wants. */
const STEPS_BEHIND = 10
