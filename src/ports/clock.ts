/** The only source of time and randomness of the engine. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** UUIDv7, strictly increasing inside the process. */
  newId(): string
}

/** Time that advances with the elapsed time, independent of changes to the clock of the machine. */
export interface SteadyTime {
  /** Milliseconds since 1970, UTC: the clock of the machine at the start, plus the time elapsed since. */
  now(): number
  /** Clock of the machine, which can be set and may be wrong. */
  wallNow(): number
  /** Corrects a small difference between the two. Time pauses for a moment rather than going back. */
  slew(ms: number): void
}
