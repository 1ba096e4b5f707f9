/** Does its work soon after it is asked to: at once, but not more often than the pace allows. */
export class Pace {
  readonly #everyMs: number
  readonly #work: () => Promise<void>
  readonly #onError: (error: unknown) => void
  #beganMs = Number.NEGATIVE_INFINITY
  #isAsked = false
  #isWorking = false

  constructor(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#everyMs = everyMs
    this.#work = work
    this.#onError = onError
  }

  ask(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    if (!this.#isWorking) this.#schedule()
  }

  #schedule(): void {
    const run = (): void => {
      this.#run().catch(this.#onError)
    }
    const waitMs = this.#everyMs - (performance.now() - this.#beganMs)
    if (waitMs > 0) setTimeout(run, waitMs)
    // Behind everything that came in together with what was asked for.
    else setImmediate(run)
  }

  async #run(): Promise<void> {
    this.#isAsked = false
    this.#isWorking = true
    this.#beganMs = performance.now()
    try {
      await this.#work()
    } finally {
      this.#isWorking = false
      // May be asked again while it works.
      if (this.#isAsked as boolean) this.#schedule()
    }
  }
}
