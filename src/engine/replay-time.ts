/** The time of a replay: the latest time that the bars of this process or the log have reached. It never goes back. */
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

  /** Follows the log too, because another process may replay: the events of that process advance the time here. */
  follow(recordedAt: () => string): void {
    this.#recordedAt = recordedAt
  }
}
