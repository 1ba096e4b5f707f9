import { parseSignedCheckpoint, SIGNATURE_MARK, type SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import type { StoredCheckpoints } from '../../../ports/checkpoints.ts'

// Two line ends first: they close a piece that a crash left without one, so it spoils nothing but itself.
export const asEntry = (note: string): string => `\n\n${note}`

/** Finds the whole notes in a file, or in the end of one. */
export const readEntries = (content: string): StoredCheckpoints => {
  const notes: SignedCheckpoint[] = []
  let unreadable = 0
  let body: string | null = null
  for (const block of content.split(BLANK_LINES)) {
    if (block === '') continue
    if (!block.startsWith(SIGNATURE_MARK)) {
      if (body !== null) unreadable += 1
      body = block
      continue
    }
    const [signature, ...rest] = block.split('\n')
    const note = body === null ? null : parseSignedCheckpoint(`${body}\n\n${signature}\n`)
    if (note !== null) notes.push(note)
    if (note === null || rest.some((line) => line !== '')) unreadable += 1
    body = null
  }
  if (body !== null) unreadable += 1
  return { notes: notes.sort((left, right) => left.frontier.size - right.frontier.size), unreadable }
}

const BLANK_LINES = /\n{2,}/
