/**
 * Requests that came together take turns with everything else that waits for this process: prices, stops, timers.
 * Node hands over all that arrived before it looks at anything else, and 256 clients that read pages would keep it
 * busy for a quarter of a second.
 */
export class Turns {
  readonly #turnMs: number
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #isOn = false
  #endsAt = 0

  constructor(turnMs: number, now: () => number = () => performance.now()) {
    this.#turnMs = turnMs
    this.#now = now
  }

  /** Does it now, or in one of the next turns if this one was long enough. First come, first served. */
  take(work: () => void): void {
    if (!this.#isOn) {
      this.#isOn = true
      this.#endsAt = this.#now() + this.#turnMs
      setImmediate(this.#goOn)
    } else if (this.#isOver() || this.#waiting.length > 0) {
      this.#waiting.push(work)
      return
    }
    work()
  }

  /** Those who wait get the next turn, which comes after everything else had its own. */
  readonly #goOn = (): void => {
    if (this.#waiting.length === 0) {
      this.#isOn = false
      return
    }
    setImmediate(this.#begin)
    // One by one: what each leaves to be done right after it counts as part of its turn.
    const others = Math.min(this.#waiting.length - 1, STEPS_MAX)
    for (let step = 0; step < others; step += 1) setImmediate(this.#doNext)
    setImmediate(this.#goOn)
  }

  /** However short turns are, the first in line has one. */
  readonly #begin = (): void => {
    this.#endsAt = this.#now() + this.#turnMs
    this.#waiting.shift()?.()
  }

  readonly #doNext = (): void => {
    if (!this.#isOver()) this.#waiting.shift()?.()
  }

  #isOver(): boolean {
    return this.#now() >= this.#endsAt
  }
}

/** More than a turn has time for. */
const STEPS_MAX = 64
