export interface StreamLimits {
  /** A client is written to at most once in this time. */
  readonly tickMs: number
  /** How long clients are served before everything else in the process has its turn. */
  readonly sliceMs: number
  /** How many are served between two looks at the clock: a look takes part of the time that a write takes. */
  readonly clientsPerLook: number
  /** What they are given may be large; then the clock is looked at sooner. */
  readonly bytesPerLook: number
  /** How often connections are looked after: keep-alive, tokens, clients that do not move. */
  readonly careMs: number
  /** A client that did not take a write in this time is gone. */
  readonly stuckMsMax: number
  /** What is kept in memory of the newest events, at most. */
  readonly ringEventsMax: number
  readonly ringBytesMax: number
  /** A write ends with the event that reaches this size. */
  readonly writeBytesMax: number
  /** Events that are read from the log at once for one client. */
  readonly pageEventsMax: number
  /** Clients that read from the log at the same time. */
  readonly readsMax: number
}

export const STREAM_LIMITS: StreamLimits = {
  tickMs: 5,
  sliceMs: 1,
  clientsPerLook: 16,
  bytesPerLook: 64 * 1024,
  careMs: 500,
  stuckMsMax: 60_000,
  ringEventsMax: 65_536,
  ringBytesMax: 64 * 1024 * 1024,
  writeBytesMax: 256 * 1024,
  pageEventsMax: 500,
  readsMax: 4,
}
