/** Time and chance, handed in: the only places where the engine meets either. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** UUIDv7, strictly increasing inside the process. */
  newId(): string
}
