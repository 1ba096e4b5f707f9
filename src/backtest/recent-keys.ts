const KEYS_KEPT = 10_000

/** Keys of the newest events. Only recent ones can be repeated, so old keys are dropped, many at a time. */
export class RecentKeys {
  #keys = new Set<string>()
  #older: ReadonlySet<string> = new Set()

  add(key: string): void {
    if (this.#keys.size >= KEYS_KEPT) {
      this.#older = this.#keys
      this.#keys = new Set()
    }
    this.#keys.add(key)
  }

  has(key: string): boolean {
    return this.#keys.has(key) || this.#older.has(key)
  }
}
