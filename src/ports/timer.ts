/** Waiting, handed in: what runs by the clock can be driven by hand. */
export interface Timer {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** At once when `ms` is 0 or less, early when aborted; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}
