/**
 * Runs requests in short turns between which the event loop runs prices, stops and timers. Node would run all requests
 * that arrived together first: 256 clients that read pages would block it for a quarter of a second.
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

  /** Whether requests wait for a turn. */
  get areWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Runs it now, or in one of the next turns if this one is over. First come, first served. */
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

  /** Schedules the next turn, behind everything else that waits in the event loop. */
  readonly #goOn = (): void => {
    if (this.#waiting.length === 0) {
      this.#isOn = false
      return
    }
    setImmediate(this.#begin)
    // One by one, so that the microtasks of each count as part of its turn.
    const others = Math.min(this.#waiting.length - 1, STEPS_MAX)
    for (let step = 0; step < others; step += 1) setImmediate(this.#doNext)
    setImmediate(this.#goOn)
  }

  /** Every turn runs at least one. */
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
