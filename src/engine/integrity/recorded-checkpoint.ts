import type { z } from 'zod'
import { CATALOGUE } from '../../core/events/catalogue.ts'
import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { Head, LogRecord } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { faultBeside, type Fault } from './findings.ts'

/** How often the newest checkpoint is recorded in the log while a process runs; each start records it as well. */
export const RECORD_EVERY_MS = 3_600_000

/**
 * Checkpoints are kept in a file beside the log, which can be deleted or put back. Their existence stands in the log: what
 * is missing from the file is a fault, unless an operator accepted the loss.
 */
export const missingCheckpointFault = async (
  log: Pick<EventLog, 'read'>,
  newest: SignedCheckpoint | undefined,
  head: Head,
): Promise<Fault | null> => {
  const recorded = await newestRecorded(log)
  const size = newest?.frontier.size ?? 0
  if (recorded === null || (newest !== undefined && size >= recorded.size)) return null
  // The first checkpoint follows the first batch: a crash in between leaves none.
  if (recorded.size === 0 && (await isFirstBatch(log, head))) return null
  const kept = newest === undefined ? 'there is none' : `the newest one is at ${size}`
  return faultBeside(
    'checkpoint',
    `the log records a checkpoint at ${recorded.size}, but ${kept}: the file was deleted, replaced, or left behind when store.checkpoint_file was changed`,
  )
}

/** Null where the log records none, or where an operator accepted its loss. */
const newestRecorded = async (log: Pick<EventLog, 'read'>): Promise<RecordedCheckpoint | null> => {
  const types = ['system.started', 'system.checkpoint', 'system.restore']
  for await (const page of readPages(log, { types, order: 'desc', limit: PAGE_SIZE })) {
    for (const record of page) {
      if (record.type === 'system.restore.v1') return null
      const found = checkpointIn(record)
      if (found !== null) return found
    }
  }
  return null
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
