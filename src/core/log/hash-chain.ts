import { canonicalJson } from './canonical-json.ts'
import { SCHEMA_VERSION, type LogRecord, type Stamped } from './event.ts'

/** SHA-256 of UTF-8 text as lower-case hex. Handed in, since core imports no Node. */
export type Sha256Hex = (text: string) => string

/** A record that waits for its signatures, which are outside the hash. */
export type ChainedRecord = Omit<LogRecord, 'signature' | 'signer' | 'batchSignature' | 'commands'>

/** The members that go into the hash, besides the previous hash. */
type HashedFields = Omit<ChainedRecord, 'prevHash' | 'hash' | 'seq' | 'recordedAt'>

/** Part of the preimage after the previous hash. The preimage consists of nine parts, joined with `|`. */
const preimageTail = (record: HashedFields): string =>
  `|${record.ts}|${record.id}|${record.type}|${record.schemaVersion}|${record.source ?? ''}|${record.traceId ?? ''}|${record.dedupeKey ?? ''}|${record.payload}`

/** The text whose SHA-256 is the hash of the event. */
export const preimageOf = (prevHash: string, fields: HashedFields): string => prevHash + preimageTail(fields)

export const hashOf = (prevHash: string, fields: HashedFields, sha256Hex: Sha256Hex): string =>
  sha256Hex(preimageOf(prevHash, fields))

/** Chains stamped events behind the head, in order. Throws for events that must not be hashed: see `fieldFaultOf`. */
export const chain = (
  events: readonly Stamped[],
  head: { readonly hash: string },
  sha256Hex: Sha256Hex,
): readonly ChainedRecord[] => {
  let prevHash = head.hash
  return events.map((event) => {
    const record = link(event, prevHash, sha256Hex)
    prevHash = record.hash
    return record
  })
}

const link = (event: Stamped, prevHash: string, sha256Hex: Sha256Hex): ChainedRecord => {
  const { seq, id, type, ts, source, traceId, dedupeKey, recordedAt } = event
  const schemaVersion = SCHEMA_VERSION
  const payload = canonicalJson(event.payload)
  const fields = { id, type, ts, schemaVersion, source, traceId, dedupeKey, payload }
  const fault = fieldFaultOf(fields)
  if (fault !== null) throw new Error(`an event may not be hashed: ${fault}`)
  const hash = hashOf(prevHash, fields, sha256Hex)
  // Written out: spreading one object into another costs more than the hash.
  return { seq, id, type, ts, schemaVersion, source, traceId, dedupeKey, payload, recordedAt, prevHash, hash }
}

/**
 * `|` is not escaped in the preimage, and an absent field is hashed like an empty one. Hashed fields therefore must not
 * contain a bar, a control character or an empty text.
 */
export const fieldFaultOf = (record: Omit<HashedFields, 'payload'>): string | null => {
  for (const name of ['ts', 'id', 'type', 'schemaVersion', 'source', 'traceId', 'dedupeKey'] as const) {
    const value = record[name]
    if (value === null) continue
    if (value === '') return `${name} is empty`
    if (AMBIGUOUS.test(value)) return `${name} holds "|" or a control character`
  }
  return null
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const AMBIGUOUS = /[|\u0000-\u001f\u007f]/
