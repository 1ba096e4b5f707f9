/** The only source of time and randomness of the engine. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** UUIDv7, strictly increasing inside the process. */
  newId(): string
}

/** Time that goes on by what has passed, whatever happens to the clock of the machine. */
export interface SteadyTime {
  /** Milliseconds since 1970, UTC: the clock of the machine at the start and the time that has passed since. */
  now(): number
  /** The clock of the machine, which can be set and may be wrong. */
  wallNow(): number
  /** Corrects a small difference between the two. Time stands still for a moment rather than going back. */
  slew(ms: number): void
}
