import { domainOf } from '../../src/core/log/event.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { Raw } from './tampered-log.fixture.ts'

/** Manual edits of a log. */

export const sql =
  (...statements: readonly string[]) =>
  (raw: Raw): void => {
    for (const statement of statements) raw.exec(statement)
  }

export const modify = (column: string, value: string, seq = 15): ((raw: Raw) => void) =>
  sql(`UPDATE events SET ${column} = ${value} WHERE seq = ${seq}`)

/** Removes the NOT NULL rule first, as a determined attacker would. */
export const setNull =
  (column: string, seq = 15) =>
  (raw: Raw): void => {
    raw.enableDefensive(false)
    raw.exec(`PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'events';
      PRAGMA writable_schema = RESET;
      UPDATE events SET ${column} = NULL WHERE seq = ${seq}`)
  }

export const swap = (column: string, one = 15, two = 16): ((raw: Raw) => void) => {
  if (column === 'seq') return sql(renumber(one, -1), renumber(two, one), renumber(-1, two))
  const aside = `CREATE TEMP TABLE aside AS SELECT seq, ${column} AS value FROM events WHERE seq IN (${one}, ${two})`
  const valueOf = (seq: number): string => `(SELECT value FROM aside WHERE seq = ${seq})`
  return sql(
    aside,
    // Two events may not share an id, not even for a moment.
    ...(column === 'id' ? [`UPDATE events SET id = 'aside' WHERE seq = ${one}`] : []),
    `UPDATE events SET ${column} = ${valueOf(one)} WHERE seq = ${two}`,
    `UPDATE events SET ${column} = ${valueOf(two)} WHERE seq = ${one}`,
  )
}

export const remove = (where: string): ((raw: Raw) => void) => sql(`DELETE FROM events WHERE ${where}`)

/** Removes events, and the counts and refs that would reveal a missing end. */
export const removeAndRecount = (where: string): ((raw: Raw) => void) =>
  sql(
    `DELETE FROM events WHERE ${where}`,
    'UPDATE counters SET n = (SELECT count(*) FROM events WHERE events.dom = counters.dom)',
    'DELETE FROM about WHERE seq NOT IN (SELECT seq FROM events)',
  )

/** Copies an event to another seq, with changes as SQL by column. */
export const copy = (
  from: number,
  to: number,
  changes: Readonly<Record<string, string>> = {},
): ((raw: Raw) => void) => {
  const all = {
    ...Object.fromEntries(ALL_COLUMNS.map((column) => [column, column])),
    seq: String(to),
    ...changes,
  }
  return sql(
    `INSERT INTO events (${Object.keys(all).join(', ')}) SELECT ${Object.values(all).join(', ')} FROM events WHERE seq = ${from}`,
  )
}

/** Writes the records over the rows with the same seq, or after them. */
export const overwrite =
  (records: readonly LogRecord[]) =>
  (raw: Raw): void => {
    for (const record of records) raw.prepare(OVERWRITE).run(...valuesOf(record))
  }

const renumber = (from: number, to: number): string => `UPDATE events SET seq = ${to} WHERE seq = ${from}`

const ALL_COLUMNS = [
  'seq',
  'id',
  'type',
  'dom',
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
  'batch_signature',
  'commands',
]

const OVERWRITE = `REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const valuesOf = (record: LogRecord): readonly (string | number | null)[] => [
  record.seq,
  record.id,
  record.type,
  domainOf(record.type),
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
  record.batchSignature,
  record.commands,
]
