import type { SignedCheckpoint } from '../core/log/checkpoint.ts'

/** Signed statements about a log, stored outside of its database so that both cannot be rolled back together. */
export interface CheckpointStore {
  /** Location of the notes, for people. */
  readonly location: string
  /** The kept notes, smallest size first. `newest` may leave out all but the last ones written. */
  read(which: 'newest' | 'all'): Promise<StoredCheckpoints>
  /** Resolves after the note is durable. Several processes may append. */
  append(note: string): Promise<void>
  /** Moves all notes aside, permanently. Returns their new location, or null if there are none. */
  setAside(at: string): Promise<string | null>
}

export interface StoredCheckpoints {
  readonly notes: readonly SignedCheckpoint[]
  /** Number of pieces that are not a complete note. A piece at the end is a write that a crash interrupted. */
  readonly unreadable: number
}
