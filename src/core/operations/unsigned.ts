/**
 * Stored events that nobody who may write here has signed where they stand, as stretches of seqs: oldest first, both
 * ends included. They change nothing else, and readers do not show them as true.
 */
export type UnsignedEvents = readonly UnsignedStretch[]

export interface UnsignedStretch {
  readonly from: number
  readonly to: number
}

/** The type under which such an event is folded and published. No stored event has it. */
export const UNSIGNED_TYPE = 'unsigned'

/** Whoever forges more stretches than these gets everything in between called unsigned, never less. */
export const STRETCHES_MAX = 1000

export const withUnsigned = (unsigned: UnsignedEvents, seq: number): UnsignedEvents => {
  const last = unsigned.at(-1)
  if (last === undefined || (last.to + 1 < seq && unsigned.length < STRETCHES_MAX))
    return [...unsigned, { from: seq, to: seq }]
  return [...unsigned.slice(0, -1), { from: last.from, to: seq }]
}

/** The stretch that an event is in; undefined if it is signed. */
export const stretchOf = (unsigned: UnsignedEvents, seq: number): UnsignedStretch | undefined =>
  unsigned.find(({ from, to }) => from <= seq && seq <= to)
