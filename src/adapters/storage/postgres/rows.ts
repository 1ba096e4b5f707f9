import type { CustomTypesConfig } from 'pg'
import type { LogRecord } from '../../../core/log/event.ts'

/** The columns of a record, in the order of `recordOf`. */
export const COLUMNS =
  'seq, id, type, ts, schema_version, source, trace_id, dedupe_key, payload, prev_hash, hash, signature, signer, recorded_at'

export type RecordRow = readonly [
  seq: number,
  id: string,
  type: string,
  ts: string,
  schemaVersion: string,
  source: string | null,
  traceId: string | null,
  dedupeKey: string | null,
  payload: string,
  prevHash: string,
  hash: string,
  signature: string | null,
  signer: string | null,
  recordedAt: string,
]

export const recordOf = (row: RecordRow): LogRecord => ({
  seq: row[0],
  id: row[1],
  type: row[2],
  ts: row[3],
  schemaVersion: row[4],
  source: row[5],
  traceId: row[6],
  dedupeKey: row[7],
  payload: row[8],
  prevHash: row[9],
  hash: row[10],
  signature: row[11],
  signer: row[12],
  recordedAt: row[13],
})

/** Bytes stay the hex digits that the server sends; numbers of events fit a double for ever. */
export const COLUMN_TYPES: CustomTypesConfig = {
  getTypeParser: (type: number) => (type === BIGINT ? Number : type === BYTEA ? withoutMark : unchanged),
}

const BIGINT = 20
const BYTEA = 17

const withoutMark = (text: string): string => text.slice('\\x'.length)
const unchanged = (text: string): string => text
