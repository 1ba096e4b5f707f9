import type { LogRecord } from '../core/log/event.ts'

export const COLUMNS_BEHIND_SEQ =
  'id, type, ts, schema_version, source, trace_id, dedupe_key, payload, prev_hash, hash, signature, signer, recorded_at, batch_signature, commands'

/** The columns of a record, in the order of `recordFrom`. */
export const RECORD_COLUMNS = `seq, ${COLUMNS_BEHIND_SEQ}`

type RecordRow = readonly [
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
  batchSignature: string | null,
  commands: string | null,
]

/** A row of the table `events`, which every database names alike. */
export const recordFrom = (cells: readonly unknown[]): LogRecord => {
  const row = cells as RecordRow
  return {
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
    batchSignature: row[14],
    commands: row[15],
  }
}
