/**
 * Stored events without a valid signature for their place in the log, as ranges of seqs, oldest first, both ends
 * included. They change nothing else in the state, and readers do not show them as true.
 */
export type UnsignedEvents = readonly UnsignedStretch[]

export interface UnsignedStretch {
  readonly from: number
  readonly to: number
}

/** Type under which an unsigned event is folded and published. No stored event has it. */
export const UNSIGNED_TYPE = 'unsigned'

/**
 * Limit of separate ranges. Beyond it the last range grows and also covers the signed events in between; no unsigned
 * event is left out.
 */
export const STRETCHES_MAX = 1000

export const withUnsigned = (unsigned: UnsignedEvents, seq: number): UnsignedEvents => {
  const last = unsigned.at(-1)
  if (last === undefined || (last.to + 1 < seq && unsigned.length < STRETCHES_MAX))
    return [...unsigned, { from: seq, to: seq }]
  return [...unsigned.slice(0, -1), { from: last.from, to: seq }]
}

/** The range that contains the event; undefined if the event is signed. */
export const stretchOf = (unsigned: UnsignedEvents, seq: number): UnsignedStretch | undefined =>
  unsigned.find(({ from, to }) => from <= seq && seq <= to)
