import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Timer } from '../ports/timer.ts'

/** A feed's clock that nobody waits for: a wait is over at once, and it is that much later. */
export class RecordedTime implements Timer {
  #nowMs: number
  #turnedMs = performance.now()

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  async wait(ms: number): Promise<void> {
    this.#nowMs += Math.max(0, ms)
    // The process has other things to do than to run through years: a signal to stop, a bar of progress.
    if (performance.now() - this.#turnedMs < TURN_MS) return
    await nextTurn()
    this.#turnedMs = performance.now()
  }
}

const TURN_MS = 20
