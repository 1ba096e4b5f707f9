import { parseSignedCheckpoint, type SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import type { CheckpointStore } from '../../../ports/checkpoints.ts'

/** Checkpoints of a log in memory: they end with it, but proofs that were made of them stay valid. */
export const memoryCheckpoints = (): CheckpointStore => {
  let notes: readonly SignedCheckpoint[] = []
  return {
    location: 'memory',
    read: async () => ({ notes, unreadable: 0 }),
    append: async (note) => {
      const parsed = parseSignedCheckpoint(note)
      if (parsed === null) throw new Error('this is no checkpoint')
      notes = [...notes, parsed]
        .sort((one, other) => one.frontier.size - other.frontier.size)
        .slice(-NOTES_KEPT)
    },
    setAside: async () => {
      const isEmpty = notes.length === 0
      notes = []
      return isEmpty ? null : 'nowhere: they were in memory only'
    },
  }
}

const NOTES_KEPT = 100
