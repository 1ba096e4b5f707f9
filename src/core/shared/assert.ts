/** Throws if a condition is false that only a bug can violate. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** An event that does not fit the events before it. During a decision this is a bug, during a replay a changed log. */
export class ContradictionError extends Error {}

export function assertFold(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ContradictionError(`the event contradicts the log: ${message}`)
}
