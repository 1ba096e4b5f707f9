import { HASH_BYTES, NUMBER_COUNT, NUMBERS, SIGNATURE_BYTES, type Batch } from './batch.ts'
import { INSERT, ROWS_AT_ONCE } from './bulk-insert.ts'
import { prepare, type Database, type Value } from './database.ts'

/** Inserts the records of a batch. Domains and signers have the numbers given for their places in its lists. */
export type InsertEvents = (
  batch: Batch,
  names: { readonly domains: readonly number[]; readonly signers: readonly number[] },
) => void

/**
 * The database cuts the rows out of the blocks of the batch by itself: one text after the other would cost more on the
 * way into it than the row costs there.
 */
export const prepareInsertEvents = (db: Database): InsertEvents => {
  const statements = ROWS_AT_ONCE.map((rows) => ({ rows, statement: prepare(db, insertOf(rows)) }))
  return (batch, { domains, signers }) => {
    const { count, texts, hashes, signatures, numbers, expected } = batch
    const startOf = (place: number): number =>
      place === count ? texts.length : (numbers[place * NUMBER_COUNT + NUMBERS.start] ?? 0)
    let from = 0
    for (const { rows, statement } of statements) {
      for (; from + rows <= count; from += rows) {
        const to = from + rows
        const start = startOf(from)
        const values: Value[] = [
          texts.subarray(start, startOf(to)),
          hashes.subarray(from * HASH_BYTES, (to + 1) * HASH_BYTES),
          signatures.subarray(from * SIGNATURE_BYTES, to * SIGNATURE_BYTES),
          expected.seq + 1 + from,
          start - 1,
        ]
        for (let at = from * NUMBER_COUNT; at < to * NUMBER_COUNT; at += NUMBER_COUNT) {
          // Numbers that are nothing are NaN, which the database takes for NULL.
          for (let number = NUMBERS.start; number <= NUMBERS.signature; number += 1)
            values.push(numbers[at + number] as number)
          values.push(
            domains[numbers[at + NUMBERS.domain] as number] as number,
            signers[numbers[at + NUMBERS.signer] as number] ?? null,
            numbers[at + NUMBERS.recordedAtMs] as number,
          )
        }
        statement.run(...values)
      }
    }
  }
}

const insertOf = (rows: number): string => {
  // The five that all rows share stand first; the others have no numbers: with numbers the driver searches for each.
  const values = Array.from({ length: rows }, (_, place) => `(${place}${', ?'.repeat(NAMES.length)})`)
  const named = NAMES.map((name, index) => `column${index + 2} AS ${name}`)
  return `
${INSERT} events (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload, prev_hash, hash,
  signature, signer, recorded_at)
SELECT ?4 + place,
  ${textAt('start', 'id')},
  ${textAt('start + id', 'type')},
  dom,
  ${textAt('start + id + type', 'ts')},
  ${textAt('start + id + type + ts', 'schema_version')},
  ${textAt('behind_payload', 'source')},
  ${textAt('behind_payload + ifnull(source, 0)', 'trace_id')},
  ${textAt('behind_payload + ifnull(source, 0) + ifnull(trace_id, 0)', 'dedupe_key')},
  ${textAt('behind_payload - payload', 'payload')},
  substr(?2, place * ${HASH_BYTES} + 1, iif(?4 + place = 1, 0, ${HASH_BYTES})),
  substr(?2, place * ${HASH_BYTES} + ${HASH_BYTES + 1}, ${HASH_BYTES}),
  substr(?3, place * ${SIGNATURE_BYTES} + 1, signature),
  signer,
  recorded_at
FROM (
  SELECT *, start + id + type + ts + schema_version + payload AS behind_payload
  FROM (SELECT column1 AS place, ${named.join(', ')} FROM (VALUES ${values.join(', ')}))
)`
}

/** In the order of `NUMBERS`. */
const NAMES = [
  'start',
  'id',
  'type',
  'ts',
  'schema_version',
  'payload',
  'source',
  'trace_id',
  'dedupe_key',
  'signature',
  'dom',
  'signer',
  'recorded_at',
] as const

const textAt = (start: string, length: string): string => `CAST(substr(?1, ${start} - ?5, ${length}) AS TEXT)`
