/** For what can only be a bug. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** An event that does not fit the events before it: a bug while deciding, a changed log while replaying. */
export class ContradictionError extends Error {}

export function assertFold(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ContradictionError(`the event contradicts the log: ${message}`)
}
