import type { SignedCheckpoint } from '../core/log/checkpoint.ts'

/** What a log promised about itself, kept outside of its database so that both cannot be turned back together. */
export interface CheckpointStore {
  /** Where the notes lie, for people. */
  readonly location: string
  /** The kept notes, smallest size first. `newest` may leave out all but the last ones written. */
  read(which: 'newest' | 'all'): Promise<StoredCheckpoints>
  /** Resolves after the note is durable. Several processes may append. */
  append(note: string): Promise<void>
  /** Moves everything out of the way, for good. Null when there is nothing; else where it lies now. */
  setAside(at: string): Promise<string | null>
}

export interface StoredCheckpoints {
  readonly notes: readonly SignedCheckpoint[]
  /** Pieces that are no whole note: at the end they are a write that a crash cut off. */
  readonly unreadable: number
}
