/** Lets one in at a time, in the order in which they came. */
export class Lane {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Resolves with how to leave it again. */
  async enter(): Promise<() => void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isTaken = true
    return () => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#isTaken = false
      else next()
    }
  }
}
