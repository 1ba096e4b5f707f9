import type { Head, LogRecord } from '../../../core/log/event.ts'
import { assertLinked } from '../../../ports/event-log.ts'

/** Records on their way to the writing thread: one text, which is copied at once, instead of thousands of values. */
export interface Batch {
  /** What the head has to be. The numbers and previous hashes of the records follow from it. */
  readonly expected: Pick<Head, 'seq' | 'hash'>
  readonly count: number
  readonly text: string
}

/** A record in the writing thread: the position of its first piece tells the rest. */
export const FIELDS = {
  id: 0,
  type: 1,
  ts: 2,
  schemaVersion: 3,
  source: 4,
  traceId: 5,
  dedupeKey: 6,
  payload: 7,
  hash: 8,
  signature: 9,
  signer: 10,
  recordedAt: 11,
} as const
export const FIELD_COUNT = 12

export const encodeBatch = (records: readonly LogRecord[], { seq, hash }: Head): Batch => {
  assertLinked(records, { seq, hash, recordedAt: '' })
  const pieces: string[] = []
  for (const record of records) {
    if (!HASH.test(record.hash)) throw new Error(`record ${record.seq} has no SHA-256 in hex`)
    if (record.signature !== null && !SIGNATURE.test(record.signature)) {
      throw new Error(`record ${record.seq} has no Ed25519 signature in hex`)
    }
    if (!record.payload.startsWith('{') || !record.payload.endsWith('}'))
      throw new Error(`record ${record.seq} has no JSON object`)
    // In the order of FIELDS. One long join copies each text once; joining record by record would copy it twice.
    pieces.push(
      record.id,
      record.type,
      record.ts,
      record.schemaVersion,
      orNothing(record.source),
      orNothing(record.traceId),
      orNothing(record.dedupeKey),
      record.payload,
      record.hash,
      orNothing(record.signature),
      orNothing(record.signer),
      record.recordedAt,
    )
  }
  const text = pieces.join(END)
  // The driver cuts texts at NUL, and half a surrogate pair has no UTF-8.
  if (text.includes('\0') || !text.isWellFormed())
    throw new Error('a record holds text that cannot be stored')
  return { expected: { seq, hash }, count: records.length, text }
}

/** Two batches as one, if the second follows on the first; else null. */
export const joinedBatch = (first: Batch, second: Batch): Batch | null => {
  if (first.count === 0 || second.count === 0) return null
  const { seq, hash } = second.expected
  if (first.expected.seq + first.count !== seq || lastHashOf(first) !== hash) return null
  return {
    expected: first.expected,
    count: first.count + second.count,
    text: `${first.text}${END}${second.text}`,
  }
}

/** The pieces of all records, one after the other; `FIELDS` says which is which. */
export const decodeBatch = ({ text, count }: Batch): readonly string[] => {
  const pieces = count === 0 ? [] : text.split(END)
  if (pieces.length !== count * FIELD_COUNT) throw new Error('a record holds a control character')
  return pieces
}

export const valueOf = (piece: string | undefined): string | null =>
  piece === NOTHING || piece === undefined ? null : piece

export const lastHashOf = ({ text }: Batch): string => {
  let end = text.length
  for (let field = FIELD_COUNT - 1; field > FIELDS.hash; field -= 1) end = text.lastIndexOf(END, end - 1)
  return text.slice(text.lastIndexOf(END, end - 1) + 1, end)
}

// Neither stands in canonical JSON, which escapes control characters, nor in any hashed field.
const END = '\u001f'
const NOTHING = '\u001e'

const orNothing = (value: string | null): string => {
  if (value === NOTHING) throw new Error('a record holds a control character')
  return value ?? NOTHING
}

const HASH = /^[0-9a-f]{64}$/
const SIGNATURE = /^[0-9a-f]{128}$/
