/** Calls to the venue at the same time. */
const LANES_MAX = 8

/** One thing at a time in each symbol, and only so many at all. */
export class Lanes {
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #activity = new Map<string, number>()
  readonly #onFree: () => void

  constructor(onFree: () => void) {
    this.#onFree = onFree
  }

  isFree(symbol: string): boolean {
    return !this.#underWay.has(symbol) && this.#underWay.size < LANES_MAX
  }

  /** Does nothing where none is free: it is asked for again when one is. */
  start(symbol: string, work: () => Promise<void>): void {
    if (!this.isFree(symbol)) return
    this.#count(symbol)
    const done = work().finally(() => {
      this.#underWay.delete(symbol)
      this.#count(symbol)
      this.#onFree()
    })
    this.#underWay.set(symbol, done)
  }

  activityIn(symbol: string): number {
    return this.#activity.get(symbol) ?? 0
  }

  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }

  #count(symbol: string): void {
    this.#activity.set(symbol, this.activityIn(symbol) + 1)
  }
}
