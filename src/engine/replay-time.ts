/**
 * The time of a replay: it stands at the newest time that was reached, by the bars of this process or by the log, and
 * never goes back.
 */
export class ReplayTime {
  #nowMs: number
  #recordedAt: () => string = () => ''

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    this.moveTo(Date.parse(this.#recordedAt()) || 0)
    return this.#nowMs
  }

  moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
  }

  /** Another process may replay: what it records moves the time on here, too. */
  follow(recordedAt: () => string): void {
    this.#recordedAt = recordedAt
  }
}
