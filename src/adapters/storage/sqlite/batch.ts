import { domainOf, type Head, type LogRecord } from '../../../core/log/event.ts'
import { refKey, refsInText } from '../../../core/log/refs.ts'
import { assertLinked } from '../../../ports/event-log.ts'
import { dedupeHash } from './dedupe-hash.ts'
import { millisOf } from './time-text.ts'

/**
 * Records on their way to the writing thread: a few blocks of memory that change hands instead of thousands of values,
 * and numbers in place of every text that the writer would have to look into.
 */
export interface Batch {
  /** What the head has to be. The numbers of the records follow from it. */
  readonly expected: Pick<Head, 'seq' | 'hash'>
  readonly count: number
  /** All texts of all records in UTF-8, with nothing between them. */
  readonly texts: Uint8Array
  /** The hash of the head, or zeros for an empty log; then those of the records. */
  readonly hashes: Uint8Array
  /** Those of the records, zeros where there is none. */
  readonly signatures: Uint8Array
  /** `NUMBERS` of each record. NaN stands for nothing, here as in the database. */
  readonly numbers: Float64Array
  /** What the records are about: the place of the record in the batch and the key, one pair after the other. */
  readonly refs: Float64Array
  /** Domains and signers; a record names them by their place in these lists. */
  readonly domains: readonly string[]
  readonly signers: readonly string[]
}

/** Where each number of a record stands. */
export const NUMBERS = {
  /** Where its texts begin. */
  start: 0,
  /** Then the length of each, in the order in which they stand there. */
  id: 1,
  type: 2,
  ts: 3,
  schemaVersion: 4,
  payload: 5,
  source: 6,
  traceId: 7,
  dedupeKey: 8,
  /** Its length, or nothing. */
  signature: 9,
  domain: 10,
  signer: 11,
  recordedAtMs: 12,
  /** Only of signals. */
  tsMs: 13,
  dedupeHash: 14,
} as const
export const NUMBER_COUNT = 15

export const HASH_BYTES = 32
export const SIGNATURE_BYTES = 64

export const encodeBatch = (records: readonly LogRecord[], expected: Head): Batch => {
  assertLinked(records, expected)
  const domains = new Places()
  const signers = new Places()
  const refs: number[] = []
  const numbers = new Float64Array(records.length * NUMBER_COUNT)
  const { texts, lengthOf } = encodeTexts(records)
  let start = 0
  const put = (at: number, text: string | null): void => {
    const length = text === null ? Number.NaN : lengthOf(text)
    numbers[at] = length
    if (text !== null) start += length
  }
  for (const [place, record] of records.entries()) {
    assertStorable(record)
    const { type, dedupeKey, signer, seq } = record
    const at = place * NUMBER_COUNT
    numbers[at + NUMBERS.start] = start
    put(at + NUMBERS.id, record.id)
    put(at + NUMBERS.type, type)
    put(at + NUMBERS.ts, record.ts)
    put(at + NUMBERS.schemaVersion, record.schemaVersion)
    put(at + NUMBERS.payload, record.payload)
    put(at + NUMBERS.source, record.source)
    put(at + NUMBERS.traceId, record.traceId)
    put(at + NUMBERS.dedupeKey, dedupeKey)
    numbers[at + NUMBERS.signature] = record.signature === null ? Number.NaN : SIGNATURE_BYTES
    numbers[at + NUMBERS.domain] = domains.placeOf(domainOf(type))
    numbers[at + NUMBERS.signer] = signer === null ? Number.NaN : signers.placeOf(signer)
    numbers[at + NUMBERS.recordedAtMs] = timeOf(record.recordedAt, seq)
    numbers[at + NUMBERS.tsMs] = type.startsWith('signal.') ? timeOf(record.ts, seq) : Number.NaN
    numbers[at + NUMBERS.dedupeHash] = dedupeKey === null ? Number.NaN : dedupeHash(dedupeKey)
    for (const ref of refsInText(record)) refs.push(place, refKey(ref))
  }
  return {
    expected: { seq: expected.seq, hash: expected.hash },
    count: records.length,
    texts,
    hashes: encodeHashes(records, expected),
    signatures: encodeSignatures(records),
    numbers,
    refs: new Float64Array(refs),
    domains: domains.names,
    signers: signers.names,
  }
}

/** Whether the second begins where the first ends. */
export const follows = (second: Batch, first: Batch): boolean =>
  first.count > 0 &&
  second.count > 0 &&
  first.expected.seq + first.count === second.expected.seq &&
  lastHashOf(first) === second.expected.hash

export const lastHashOf = ({ hashes, count }: Batch): string =>
  Buffer.from(hashes.buffer, hashes.byteOffset + count * HASH_BYTES, HASH_BYTES).toString('hex')

/** The blocks that change hands: whoever sends a batch has none of them afterwards. */
export const blocksOf = ({ texts, hashes, signatures, numbers, refs }: Batch): readonly ArrayBuffer[] =>
  [texts, hashes, signatures, numbers, refs].map(({ buffer }) => buffer as ArrayBuffer)

/** In UTF-8, and how many bytes each of them has there. Joined first: one large text is encoded faster than many. */
const encodeTexts = (
  records: readonly LogRecord[],
): { readonly texts: Uint8Array; readonly lengthOf: (text: string) => number } => {
  const pieces: string[] = []
  for (const record of records) {
    pieces.push(
      record.id,
      record.type,
      record.ts,
      record.schemaVersion,
      record.payload,
      record.source ?? '',
      record.traceId ?? '',
      record.dedupeKey ?? '',
    )
  }
  const all = pieces.join('')
  // The driver cuts texts at NUL when it reads them, and half a surrogate pair has no UTF-8.
  if (all.includes('\0') || !all.isWellFormed()) throw new Error('a record holds text that cannot be stored')
  const texts = new Uint8Array(all.length)
  const { read } = ENCODER.encodeInto(all, texts)
  // If all of it found room, no character took more than one byte.
  if (read === all.length) return { texts, lengthOf: (text) => text.length }
  return { texts: ENCODER.encode(all), lengthOf: (text) => Buffer.byteLength(text) }
}

const ENCODER = new TextEncoder()

/** One by one: what is too long in one and too short in the next would not show in all of them together. */
const assertStorable = (record: LogRecord): void => {
  const { seq, payload, source, traceId, dedupeKey, hash, signature } = record
  if (hash.length !== 2 * HASH_BYTES) throw new Error(`record ${seq} has no SHA-256 in hex`)
  if (signature !== null && signature.length !== 2 * SIGNATURE_BYTES)
    throw new Error(`record ${seq} has no Ed25519 signature in hex`)
  if (!payload.startsWith('{') || !payload.endsWith('}')) throw new Error(`record ${seq} has no JSON object`)
  for (const text of [source, traceId, dedupeKey]) {
    if (text !== null && CONTROL.test(text)) throw new Error(`record ${seq} holds a control character`)
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const CONTROL = /[\u0000-\u001f]/

const encodeHashes = (records: readonly LogRecord[], { hash }: Head): Uint8Array => {
  const bytes = ownBytes((records.length + 1) * HASH_BYTES)
  writeHex(
    bytes,
    0,
    hash === '' ? '00'.repeat(HASH_BYTES) : hash,
    HASH_BYTES,
    'the head has no SHA-256 in hex',
  )
  const all = records.map((record) => record.hash).join('')
  writeHex(bytes, HASH_BYTES, all, records.length * HASH_BYTES, 'a record has no SHA-256 in hex')
  return bytes
}

const encodeSignatures = (records: readonly LogRecord[]): Uint8Array => {
  const length = records.length * SIGNATURE_BYTES
  const bytes = ownBytes(length)
  const all = records.map(({ signature }) => signature ?? NO_SIGNATURE).join('')
  writeHex(bytes, 0, all, length, 'a record has no Ed25519 signature in hex')
  return bytes
}

const NO_SIGNATURE = '00'.repeat(SIGNATURE_BYTES)

/** Not from the pool that others share: it is given away. */
const ownBytes = (length: number): Buffer => Buffer.from(new ArrayBuffer(length))

/** Digits are lower-case, as they are read again. */
const writeHex = (bytes: Buffer, at: number, digits: string, length: number, fault: string): void => {
  if (digits.length !== 2 * length || UPPER_CASE.test(digits) || bytes.write(digits, at, 'hex') !== length) {
    throw new Error(fault)
  }
}

const UPPER_CASE = /[A-F]/

/** Numbers for names, in the order in which they come. */
class Places {
  readonly names: string[] = []
  readonly #places = new Map<string, number>()

  placeOf(name: string): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    this.#places.set(name, this.names.length)
    return this.names.push(name) - 1
  }
}

const timeOf = (text: string, seq: number): number => {
  const millis = millisOf(text)
  if (millis === null) throw new Error(`record ${seq} has no timestamp of the one form: ${text}`)
  return millis
}
