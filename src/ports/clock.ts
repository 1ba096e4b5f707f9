/** The only source of time and randomness of the engine. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** UUIDv7, strictly increasing inside the process. */
  newId(): string
}
