import type { LogRecord } from '../../core/log/event.ts'
import { eventRecordText } from '../../core/views/log.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { layoutsOf } from './export-layout.ts'
import type { Exportable } from './exporting.ts'
import type { Progress } from './progress.ts'

/** The records as they are stored, in the order of the log. */
export const EVENTS: Exportable<LogRecord> = {
  plural: 'events',
  pages: (log, progress) => recordPages(log, progress),
  momentOf: ({ ts }) => ts,
  layouts: layoutsOf({
    jsonOf: eventRecordText,
    columns: [
      'seq',
      'id',
      'type',
      'ts',
      'schema_version',
      'source',
      'trace_id',
      'dedupe_key',
      'payload',
      'prev_hash',
      'hash',
      'signature',
      'signer',
      'recorded_at',
    ],
    cellsOf: (record) => [
      record.seq,
      record.id,
      record.type,
      record.ts,
      record.schemaVersion,
      record.source,
      record.traceId,
      record.dedupeKey,
      record.payload,
      record.prevHash,
      record.hash,
      record.signature,
      record.signer,
      record.recordedAt,
    ],
  }),
}

async function* recordPages(
  log: EventLog,
  progress: Progress | undefined,
): AsyncIterable<readonly LogRecord[]> {
  const { seq: upTo } = await log.head()
  for await (const records of log.scan({ after: 0, upTo })) {
    yield records
    progress?.update(records.at(-1)?.seq ?? 0, upTo)
  }
}
