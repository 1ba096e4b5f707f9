import type { Timer } from '../ports/timer.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'

/** A timer without waiting: each wait ends at once and moves the time on. */
export class RecordedTimer implements Timer {
  #nowMs: number
  #yieldedMs = performance.now()

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  async wait(ms: number): Promise<void> {
    this.#nowMs += Math.max(0, ms)
    // Signals and the progress bar need the event loop.
    if (performance.now() - this.#yieldedMs < YIELD_MS) return
    await yieldToEventLoop()
    this.#yieldedMs = performance.now()
  }
}

const YIELD_MS = 20
