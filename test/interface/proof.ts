import { createPublicKey, hash, verify } from 'node:crypto'
import canonicalize from 'canonicalize'

/** The rules of the contract, written again with nothing of ours: what an outsider would need to check a log. */

export interface EventRecord {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly schema_version: string
  readonly source: string | null
  readonly trace_id: string | null
  readonly dedupe_key: string | null
  readonly payload: { readonly public_key?: string }
  readonly prev_hash: string
  readonly hash: string
  readonly signature: string
  readonly signer: string
}

/** The numbers of the events that do not follow from the one before, or are not signed. */
export const unprovable = (records: readonly EventRecord[]): readonly number[] => {
  const keys = new Map<string, string>()
  const isProved = (record: EventRecord, index: number): boolean => {
    const { type, signer, signature } = record
    const payload = canonicalize(record.payload) ?? ''
    if (type === 'system.started.v1') keys.set(signer, record.payload.public_key ?? '')
    return (
      record.seq === index + 1 &&
      record.schema_version === 'v1' &&
      record.prev_hash === (records[index - 1]?.hash ?? '') &&
      record.hash === hashOf(record, payload) &&
      /^[0-9a-f]{128}$/.test(signature) &&
      isSignedBy(keys.get(signer) ?? '', payload, signature)
    )
  }
  return records.filter((record, index) => !isProved(record, index)).map(({ seq }) => seq)
}

export const hashOf = (record: Omit<EventRecord, 'payload'>, payload: string): string => {
  const { prev_hash, ts, id, type, schema_version, source, trace_id, dedupe_key } = record
  return sha256(
    [prev_hash, ts, id, type, schema_version, source ?? '', trace_id ?? '', dedupe_key ?? '', payload].join(
      '|',
    ),
  )
}

export const isSignedBy = (publicKey: string, text: string, signature: string): boolean => {
  const spki = Buffer.from(`302a300506032b6570032100${publicKey}`, 'hex')
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
}

/** The id that follows from a cause: UUIDv8 of a hash. */
export const derivedId = (kind: string, cause: string): string => {
  const hex = sha256(`${kind}|${cause}`)
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return parts.join('-')
}

export const sha256 = (text: string): string => hash('sha256', text, 'hex')
