import type { LogRecord } from '../../../core/log/event.ts'
import type { Row } from './database.ts'
import { textOfMillis } from './time-text.ts'

/**
 * The columns of a record, as `recordFrom` takes them. Bytes become hex inside the database: that is cheapest. The time
 * is read as a double, since damage may have left an integer that none can hold.
 */
export const RECORD_COLUMNS = `events.seq, events.id, events.type, ts, schema_version, source, trace_id, dedupe_key,
  payload, lower(hex(prev_hash)), lower(hex(hash)), lower(hex(signature)), signer, recorded_at + 0.0`

/** @param nodeName the node behind a number in `signer` */
export const recordFrom = (row: Row, nodeName: (id: number) => string): LogRecord => {
  const cells = row as Cells
  return {
    seq: cells[0],
    id: cells[1],
    type: cells[2],
    ts: cells[3],
    schemaVersion: cells[4],
    source: cells[5],
    traceId: cells[6],
    dedupeKey: cells[7],
    payload: cells[8],
    prevHash: cells[9],
    hash: cells[10],
    // The hex of no bytes is an empty text.
    signature: cells[11] === '' ? null : cells[11],
    signer: cells[12] === null ? null : nodeName(cells[12]),
    recordedAt: textOfMillis(cells[13]),
  }
}

type Cells = readonly [
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
  signature: string,
  signer: number | null,
  recordedAt: number,
]
