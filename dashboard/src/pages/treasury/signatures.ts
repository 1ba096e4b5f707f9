import type { EventRecord } from '../../api/log.ts'

/** What the browser found about a signature. */
export type Verdict = 'checking' | 'valid' | 'invalid' | 'unknown-key' | 'unsupported'

/** Anything that carries a signature over its other members. */
export interface Signed {
  readonly node_id: string
  readonly signature_b64: string
}

/** Public keys by node, as the log tells them. A node's id is the beginning of its key: others are not believed. */
export const keysFrom = (starts: readonly EventRecord[]): ReadonlyMap<string, string> =>
  new Map(
    starts.flatMap(({ payload: { node_id: nodeId, public_key: key } }) =>
      typeof nodeId === 'string' && typeof key === 'string' && nodeId.endsWith(`-${key.slice(0, 16)}`)
        ? [[nodeId, key] as const]
        : [],
    ),
  )

/** The text that was signed: canonical JSON (RFC 8785) of all members but the signature. */
export const signedText = ({ signature_b64: _signature, ...members }: Signed): string =>
  canonicalJson(members)

/** Checks Ed25519 in the browser itself: nobody has to believe the service. */
export const verify = async (signed: Signed, publicKeyHex: string | undefined): Promise<Verdict> => {
  if (publicKeyHex === undefined) return 'unknown-key'
  // Browsers offer it on https and on this machine only, and older ones do not know the algorithm.
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle
  if (subtle === undefined) return 'unsupported'
  const key = await importKey(subtle, publicKeyHex)
  if (key === null) return 'unsupported'
  const signature = bytesOfBase64(signed.signature_b64)
  if (signature === null) return 'invalid'
  const text = new TextEncoder().encode(signedText(signed))
  return (await subtle.verify('Ed25519', key, signature, text)) ? 'valid' : 'invalid'
}

/** The same check on a command line, with nothing but Node. */
export const commandFor = (signed: Signed, publicKeyHex: string): string =>
  [
    `node -e 'const {verify, createPublicKey} = require("node:crypto")`,
    `const key = createPublicKey({format: "der", type: "spki", key: Buffer.from("${SPKI_PREFIX}${publicKeyHex}", "hex")})`,
    `const [text, signature] = process.argv.slice(1)`,
    `console.log(verify(null, Buffer.from(text), key, Buffer.from(signature, "base64")))' \\`,
    `  ${quoted(signedText(signed))} \\`,
    `  ${quoted(signed.signature_b64)}`,
  ].join('\n')

/** What stands before the 32 bytes of an Ed25519 key in its DER form (RFC 8410). */
const SPKI_PREFIX = '302a300506032b6570032100'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const importKey = async (subtle: SubtleCrypto, publicKeyHex: string): Promise<CryptoKey | null> => {
  try {
    return await subtle.importKey('raw', bytesOfHex(publicKeyHex), 'Ed25519', false, ['verify'])
  } catch (error) {
    if (error instanceof DOMException) return null
    throw error
  }
}

const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    // By UTF-16 units, as the comparison of strings does.
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

const bytesOfHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    // Not base64, so not a signature.
    return null
  }
}
