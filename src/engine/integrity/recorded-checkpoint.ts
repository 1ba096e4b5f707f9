import type { z } from 'zod'
import { CATALOGUE } from '../../core/events/catalogue.ts'
import type { Head, LogRecord } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { faultBeside, type Fault } from './findings.ts'
import type { SignerKey } from './signer-keys.ts'

/** Interval at which a running process records the newest checkpoint in the log. Each start records it as well. */
export const RECORD_EVERY_MS = 3_600_000

/**
 * Checkpoints are kept in a file beside the log, which can be deleted or put back. The log records that they exist, so a
 * recorded checkpoint that is missing from the file is a fault, unless an operator accepted the loss.
 *
 * Several homes may write to one PostgreSQL log, and each keeps a file of its own: home B never receives the checkpoints
 * that home A signs. A home therefore answers only for what its own key has recorded, or a key that its key replaced.
 * Every process on a SQLite log uses the same file, so there every record counts, whoever signed it.
 */
export const missingCheckpointFault = async (
  log: Pick<EventLog, 'kind' | 'read'>,
  checkpoints: Pick<CheckpointStore, 'read'>,
  { own, head }: { readonly own: SignerKey | null; readonly head: Head },
): Promise<Fault | null> => {
  const recorded = await newestRecorded(log, log.kind === 'postgres' ? (own?.nodeId ?? '') : null)
  if (recorded === null) return null
  // The file is read after the log. A checkpoint is durable before it is recorded, even while a service is running.
  const newest = (await checkpoints.read('newest')).notes.at(-1)
  if (newest !== undefined && newest.frontier.size >= recorded.size) return null
  // The first checkpoint follows the first batch, so a crash in between leaves none.
  if (recorded.size === 0 && (await isFirstBatch(log, head))) return null
  const kept = newest === undefined ? 'there is none' : `the newest one is at ${newest.frontier.size}`
  return faultBeside(
    'checkpoint',
    `the log records a checkpoint at ${recorded.size}, but ${kept}: the file was deleted, replaced, or left behind when store.checkpoint_file was changed`,
  )
}

/**
 * The newest checkpoint that the home of this node has recorded, or any node if `nodeId` is null. Null if the log
 * records none, or if an operator accepted its loss.
 */
const newestRecorded = async (
  log: Pick<EventLog, 'read'>,
  nodeId: string | null,
): Promise<RecordedCheckpoint | null> => {
  const keysOfHome = new Set([nodeId])
  const isOfHome = ({ signer }: LogRecord): boolean => nodeId === null || keysOfHome.has(signer)
  let later: LogRecord | null = null
  for await (const page of readPages(log, { types: TYPES, order: 'desc', limit: PAGE_SIZE })) {
    for (const record of page) {
      if (record.type === 'system.restore.v1') return null
      const found = isOfHome(record) ? checkpointIn(record) : null
      if (found !== null) return found
      if (isRotation(record, later) && keysOfHome.has(nodeIdIn(record))) keysOfHome.add(record.signer)
      later = record
    }
  }
  return null
}

const TYPES = [
  'system.started',
  'system.checkpoint',
  'system.restore',
  'system.key_admitted',
  'system.key_retired',
]

/** True if a key admits its successor: in the next event, which it signs as its last one, it retires itself. */
const isRotation = (record: LogRecord, next: LogRecord | null): boolean =>
  record.type === 'system.key_admitted.v1' &&
  next?.type === 'system.key_retired.v1' &&
  next.seq === record.seq + 1 &&
  next.signer === record.signer &&
  nodeIdIn(next) === record.signer

const nodeIdIn = (record: LogRecord): string => {
  const { node_id: nodeId } = payloadOf(record) ?? {}
  return typeof nodeId === 'string' ? nodeId : ''
}

const PAGE_SIZE = 50

type RecordedCheckpoint = z.infer<(typeof CATALOGUE)['system.checkpoint.v1']>

const checkpointIn = ({ type, payload }: LogRecord): RecordedCheckpoint | null => {
  const json = payloadOf({ payload })
  if (type === 'system.checkpoint.v1') return CATALOGUE[type].safeParse(json).data ?? null
  if (type !== 'system.started.v1') return null
  return CATALOGUE[type].safeParse(json).data?.checkpoint ?? null
}

const isFirstBatch = async (log: Pick<EventLog, 'read'>, head: Head): Promise<boolean> => {
  const [newest] = await log.read({ order: 'desc', limit: 1 })
  const size = Number(newest?.batchSignature?.split(':')[0] ?? 0)
  return newest?.seq === head.seq && size >= head.seq
}
