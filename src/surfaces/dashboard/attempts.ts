const MINUTE_MS = 60_000

/** Strangers that are remembered at once; when there are more, all of them are forgotten but the count goes on. */
const ADDRESSES_MAX = 10_000

interface Count {
  readonly sinceMs: number
  readonly failures: number
}

/** Counts wrong tokens per address and minute, so that guessing is slow. */
export class Attempts {
  readonly #perMinute: number
  readonly #counts = new Map<string, Count>()

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Seconds until this address may try again; 0 = now. */
  waitSeconds(address: string, nowMs: number): number {
    const count = this.#counts.get(address)
    if (count === undefined || count.failures < this.#perMinute) return 0
    const leftMs = count.sinceMs + MINUTE_MS - nowMs
    return Math.max(0, Math.ceil(leftMs / 1000))
  }

  failed(address: string, nowMs: number): void {
    const count = this.#counts.get(address)
    const isNew = count === undefined || nowMs - count.sinceMs >= MINUTE_MS
    if (isNew && this.#counts.size >= ADDRESSES_MAX) this.#counts.clear()
    this.#counts.set(address, {
      sinceMs: isNew ? nowMs : count.sinceMs,
      failures: isNew ? 1 : count.failures + 1,
    })
  }

  succeeded(address: string): void {
    this.#counts.delete(address)
  }
}
