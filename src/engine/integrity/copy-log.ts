import { sameBytes } from '../../core/log/bytes.ts'
import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { EMPTY_HEAD, headOf, type Head } from '../../core/log/event.ts'
import { EMPTY_FRONTIER, eventLeaf, extendFrontier, rootOf, type Frontier } from '../../core/log/merkle.ts'
import type { LogDraft } from '../../ports/log-target.ts'
import { storedFrontier } from '../proofs/stored-tree.ts'
import { examineCopy, type ExaminedCopy, type OfflineOptions } from './offline.ts'
import { sha256 } from '../sha256.ts'

/** Thrown if the copy is not a complete and intact log. */
export class DamagedCopyError extends Error {
  override readonly name = 'DamagedCopyError'
}

export interface CopiedIn extends ExaminedCopy {
  readonly head: Head
  /** Root of the tree over event hashes, which checkpoints sign. */
  readonly root: Uint8Array
}

/**
 * Copies a backup or an export into a draft, page by page, and verifies chain, signatures and checkpoints on the way.
 * At the end, head and tree of the draft must match the records that were read. Throws DamagedCopyError; the caller
 * discards the draft.
 */
export const copyInto = async (
  draft: LogDraft,
  lines: AsyncIterable<string>,
  options: Omit<OfflineOptions, 'onPage'>,
): Promise<CopiedIn> => {
  let head: Head = EMPTY_HEAD
  let tree: Frontier = EMPTY_FRONTIER
  const examined = await examineCopy(lines, {
    ...options,
    onPage: async (records) => {
      const last = records.at(-1)
      if (last === undefined) return
      if (records[0]?.seq !== head.seq + 1) throw new DamagedCopyError(PARTIAL)
      await draft.append(records, head)
      head = headOf(last)
      tree = extendFrontier(
        tree,
        records.map(({ hash }) => eventLeaf(hash, sha256)),
        sha256,
      )
    },
  })
  const { report, checkpoint } = examined
  if (report.checked === 0 && report.ok) throw new DamagedCopyError('there is no event in it')
  if (!report.ok) throw new DamagedCopyError(report.detail)
  const root = rootOf(tree, sha256)
  await assertStored(draft, head, root)
  assertSigned(checkpoint, head, root)
  return { ...examined, head, root }
}

const PARTIAL = 'it does not begin with the first event: a log can only be copied as a whole'

const assertStored = async (draft: LogDraft, head: Head, root: Uint8Array): Promise<void> => {
  const stored = await draft.head()
  const frontier = await storedFrontier(draft, head.seq)
  if (stored.hash === head.hash && frontier !== null && sameBytes(rootOf(frontier, sha256), root)) return
  throw new Error('the store did not keep what was copied into it')
}

/** Checks the tree over event hashes. The tree over records, which the checkpoint also signs, was compared before. */
const assertSigned = (checkpoint: SignedCheckpoint | null, head: Head, root: Uint8Array): void => {
  if (checkpoint === null) return
  const { eventRoot, frontier } = checkpoint
  if (frontier.size !== head.seq)
    throw new DamagedCopyError(
      `it holds ${head.seq} events, but its checkpoint is of ${frontier.size}: something was added to the backup`,
    )
  if (eventRoot !== null && !sameBytes(eventRoot, root))
    throw new DamagedCopyError('its events do not give the tree that its checkpoint has signed')
}
