/** The only way to wait, so that tests can control time. */
export interface Timer {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Resolves at once when `ms` is 0 or less, early when aborted; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}
