import type { Head } from '../../core/log/event.ts'
import type { RecordedCheckpoints } from '../../core/operations/checkpoints.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { faultBeside, type IntegrityFault } from './findings.ts'
import type { SignerKey } from './signer-keys.ts'

/** Interval at which a running process records the newest checkpoint in the log. Each start records it as well. */
export const RECORD_EVERY_MS = 3_600_000

/**
 * Checkpoints are kept in a file beside the log, which can be deleted or put back. The log records that they exist, so a
 * recorded checkpoint that is missing from the file is a fault, unless an operator accepted the loss. What the log records
 * comes from its verified fold: a column by which events are found could hide a record, and is not asked.
 *
 * Several homes may write to one PostgreSQL log, and each keeps a file of its own: home B never receives the checkpoints
 * that home A signs. A home therefore answers only for what its own key has recorded, or a key that its key replaced.
 * Every process on a SQLite log uses the same file, so there every record counts, whoever signed it.
 */
export const missingCheckpointFault = async (
  log: Pick<EventLog, 'kind' | 'read'>,
  checkpoints: Pick<CheckpointStore, 'read'>,
  {
    recorded,
    own,
    head,
  }: { readonly recorded: RecordedCheckpoints; readonly own: SignerKey | null; readonly head: Head },
): Promise<IntegrityFault | null> => {
  const ofHome = (): number | null => (own === null ? null : (recorded.byNode.get(own.nodeId) ?? null))
  const size = log.kind === 'postgres' ? ofHome() : recorded.newest
  if (size === null) return null
  // The file is read after the log: a checkpoint is durable before it is recorded, also while a service is running.
  const newest = (await checkpoints.read('newest')).notes.at(-1)
  if (newest !== undefined && newest.frontier.size >= size) return null
  // The first checkpoint follows the first batch: a crash in between leaves none.
  if (size === 0 && (await isFirstBatch(log, head))) return null
  const kept = newest === undefined ? 'there is none' : `the newest one is at ${newest.frontier.size}`
  return faultBeside(
    'checkpoint',
    `the log records a checkpoint at ${size}, but ${kept}: the file was deleted, replaced, or left behind when store.checkpoint_file was changed`,
  )
}

const isFirstBatch = async (log: Pick<EventLog, 'read'>, head: Head): Promise<boolean> => {
  const [newest] = await log.read({ order: 'desc', limit: 1 })
  const size = Number(newest?.batchSignature?.split(':')[0] ?? 0)
  return newest?.seq === head.seq && size >= head.seq
}
