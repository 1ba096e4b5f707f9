import { FIELD_COUNT, FIELDS, valueOf } from './batch.ts'
import { ROWS_AT_ONCE } from './bulk-insert.ts'
import { prepare, type Database, type Value } from './database.ts'

/** What the writer knows of a row besides the pieces of its record. */
export interface RowNumbers {
  readonly domain: number
  readonly signer: number | null
  readonly recordedAtMs: number
}

/** Inserts the records of a batch behind `previous`. */
export type InsertEvents = (
  pieces: readonly string[],
  numbers: readonly RowNumbers[],
  previous: { readonly seq: number; readonly hash: string },
) => void

export const prepareInsertEvents = (db: Database): InsertEvents => {
  const statements = ROWS_AT_ONCE.map((count) => ({
    count,
    statement: prepare(db, `${INSERT} ${Array.from({ length: count }, () => ROW).join(', ')}`),
  }))
  return (pieces, numbers, previous) => {
    let at = 0
    let prevHash = previous.hash
    for (const { count, statement } of statements) {
      for (; at + count <= numbers.length; at += count) {
        const values: Value[] = []
        for (let index = at; index < at + count; index += 1) {
          pushRow(values, previous.seq + 1 + index, prevHash, pieces, index, numbers[index] as RowNumbers)
          prevHash = pieces[index * FIELD_COUNT + FIELDS.hash] as string
        }
        statement.run(...values)
      }
    }
  }
}

const pushRow = (
  values: Value[],
  seq: number,
  prevHash: string,
  pieces: readonly string[],
  index: number,
  { domain, signer, recordedAtMs }: RowNumbers,
): void => {
  const at = index * FIELD_COUNT
  values.push(
    seq,
    pieces[at + FIELDS.id] as string,
    pieces[at + FIELDS.type] as string,
    domain,
    pieces[at + FIELDS.ts] as string,
    pieces[at + FIELDS.schemaVersion] as string,
    valueOf(pieces[at + FIELDS.source]),
    valueOf(pieces[at + FIELDS.traceId]),
    valueOf(pieces[at + FIELDS.dedupeKey]),
    pieces[at + FIELDS.payload] as string,
    prevHash,
    pieces[at + FIELDS.hash] as string,
    valueOf(pieces[at + FIELDS.signature]),
    signer,
    recordedAtMs,
  )
}

// In the order in which `pushRow` pushes them. Parameters have no numbers: with numbers the driver searches for each.
const INSERT = `INSERT INTO events (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
  prev_hash, hash, signature, signer, recorded_at) VALUES`
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?), unhex(?), ?, ?)'
