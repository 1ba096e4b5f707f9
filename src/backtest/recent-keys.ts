const KEYS_KEPT = 10_000

/** Keys of the newest events. Only recent ones can be repeated, so old keys are dropped, many at a time. */
export class RecentKeys {
  #keys = new Set<string>()
  #older: ReadonlySet<string> = new Set()
  /** By producer, of its newest window, until somebody asks. */
  readonly #ofWindow = new Map<string, string[]>()

  add(key: string): void {
    if (this.#keys.size >= KEYS_KEPT) {
      this.#older = this.#keys
      this.#keys = new Set()
    }
    this.#keys.add(key)
  }

  /** Those of a producer's signals name the window in which it ran: in a later one none of them is repeated. */
  addOfWindow(producer: string, keys: readonly string[], isLater: boolean): void {
    const known = isLater ? undefined : this.#ofWindow.get(producer)
    this.#ofWindow.set(producer, known === undefined ? [...keys] : [...known, ...keys])
  }

  has(key: string): boolean {
    for (const keys of this.#ofWindow.values()) for (const recent of keys) this.add(recent)
    this.#ofWindow.clear()
    return this.#keys.has(key) || this.#older.has(key)
  }
}
