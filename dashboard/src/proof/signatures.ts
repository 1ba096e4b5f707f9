import { readEvents } from '../api/queries.ts'
import type { EventRecord } from '../api/types.ts'

/** RFC 8785: what is hashed and signed. Equal to the text that the service stored. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    // By UTF-16 code units, as `<` compares; names are never equal.
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

type Bytes = Uint8Array<ArrayBuffer>

interface SignedBytes {
  readonly publicKeyHex: string
  readonly signature: Bytes
  readonly text: string
}

/** Verified in the browser, independent of the service. Null where the browser cannot. */
export const verifyEd25519 = async ({
  publicKeyHex,
  signature,
  text,
}: SignedBytes): Promise<boolean | null> => {
  // Browsers offer it on https and on this machine only.
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle
  if (subtle === undefined) return null
  const key = await importKey(subtle, publicKeyHex)
  return key === null ? null : subtle.verify('Ed25519', key, signature, new TextEncoder().encode(text))
}

/** Every start of the service records its public key. Null for a node without one among the newest and the oldest. */
export const publicKeyOf = async (nodeId: string): Promise<string | null> => {
  for (const order of ['desc', 'asc'] as const) {
    const { items } = await readEvents({ type: 'system.started', order, limit: 500 })
    const [key] = items.flatMap((start) => keyIn(start, nodeId))
    if (key !== undefined) return key
  }
  return null
}

/** A node id ends with the first digits of its key; others are ignored. */
const keyIn = ({ payload: { node_id, public_key: key } }: EventRecord, nodeId: string): readonly string[] =>
  node_id === nodeId && typeof key === 'string' && nodeId.endsWith(`-${key.slice(0, 16)}`) ? [key] : []

export const bytesOfHex = (hex: string): Bytes =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const importKey = async (subtle: SubtleCrypto, publicKeyHex: string): Promise<CryptoKey | null> => {
  try {
    return await subtle.importKey('raw', bytesOfHex(publicKeyHex), 'Ed25519', false, ['verify'])
  } catch (error) {
    // Older browsers do not know the algorithm: that is no error of what was signed.
    if (error instanceof DOMException) return null
    throw error
  }
}
