import { canonicalJson } from '../../proof/canonical-json.ts'
import { verifyEd25519 } from '../../proof/ed25519.ts'

/** What the browser found about a signature. */
export type Verdict = 'checking' | 'valid' | 'invalid' | 'unknown-key' | 'unsupported'

/** Anything that carries a signature over its other members. */
export interface Signed {
  readonly node_id: string
  readonly signature_b64: string
}

/** The text that was signed: canonical JSON (RFC 8785) of all members but the signature. */
export const signedText = ({ signature_b64: _signature, ...members }: Signed): string =>
  canonicalJson(members)

export const verify = async (signed: Signed, publicKeyHex: string | undefined): Promise<Verdict> => {
  if (publicKeyHex === undefined) return 'unknown-key'
  const signature = bytesOfBase64(signed.signature_b64)
  if (signature === null) return 'invalid'
  const isRight = await verifyEd25519({ publicKeyHex, signature, text: signedText(signed) })
  if (isRight === null) return 'unsupported'
  return isRight ? 'valid' : 'invalid'
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

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    // Not base64, so not a signature.
    return null
  }
}
