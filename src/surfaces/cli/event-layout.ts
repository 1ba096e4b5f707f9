import type { LogRecord } from '../../core/log/event.ts'
import { eventRecordText } from '../../core/views/event-record.ts'
import { csvLine } from './csv.ts'

export const EXPORT_FORMATS = ['jsonl', 'json', 'csv'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** How records become a file, piece by piece. */
export interface EventLayout {
  readonly opening: string
  readonly between: string
  readonly closing: (written: number) => string
  readonly textOf: (record: LogRecord) => string
}

const nothing = (): string => ''

export const EVENT_LAYOUTS: Readonly<Record<ExportFormat, EventLayout>> = {
  jsonl: { opening: '', between: '', closing: nothing, textOf: (record) => `${eventRecordText(record)}\n` },
  json: {
    opening: '[',
    between: ',',
    closing: (written) => (written === 0 ? ']\n' : '\n]\n'),
    textOf: (record) => `\n  ${eventRecordText(record)}`,
  },
  csv: {
    opening: csvLine([
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
    ]),
    between: '',
    closing: nothing,
    textOf: (record) =>
      csvLine([
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
      ]),
  },
}
