import { DatabaseSync } from '@photostructure/sqlite'
import type { LogRecord } from '../../src/core/log/event.ts'

/** The plainest way to store the same rows: one statement per row, nothing chained, parsed or counted. */
export const rawInsert = (path: string, rows: readonly RawRow[], batchSize: number): void => {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${TABLE}`)
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (let from = 0; from < rows.length; from += batchSize) {
    db.exec('BEGIN IMMEDIATE')
    for (const row of rows.slice(from, from + batchSize)) insert.run(...row)
    db.exec('COMMIT')
  }
  db.close()
}

export type RawRow = readonly (string | number | null | Uint8Array)[]

export const rawRowOf = (record: LogRecord): RawRow => [
  record.seq,
  record.id,
  record.type,
  1,
  record.ts,
  record.schemaVersion,
  record.source,
  record.traceId,
  record.dedupeKey,
  record.payload,
  Buffer.from(record.prevHash, 'hex'),
  Buffer.from(record.hash, 'hex'),
  record.signature === null ? null : Buffer.from(record.signature, 'hex'),
  1,
  Date.parse(record.recordedAt),
]

const TABLE = `
CREATE TABLE events (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, dom INTEGER NOT NULL, ts TEXT NOT NULL,
  schema_version TEXT NOT NULL, source TEXT, trace_id TEXT, dedupe_key TEXT, payload TEXT NOT NULL,
  prev_hash BLOB NOT NULL, hash BLOB NOT NULL, signature BLOB, signer INTEGER, recorded_at INTEGER NOT NULL
);
CREATE INDEX events_dom ON events (dom, seq);`
