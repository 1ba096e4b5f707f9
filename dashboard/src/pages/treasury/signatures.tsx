import { useQuery } from '@tanstack/react-query'
import { canonicalJson, publicKeyOf, verifyEd25519 } from '../../proof/signatures.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

/** The public key of a node. Null if no start of the node is in the log, undefined while that is not known. */
export const usePublicKey = (nodeId: string): string | null | undefined =>
  useQuery({ queryKey: ['public-key', nodeId], queryFn: () => publicKeyOf(nodeId) }).data

const useVerdict = (signed: Signed): Verdict => {
  const key = usePublicKey(signed.node_id)
  const { data = 'checking' } = useQuery({
    queryKey: ['verdict', signed, key],
    // A failure of the browser's cryptography shows nothing about the signature.
    queryFn: () => verify(signed, key ?? null).catch((): Verdict => 'unsupported'),
    enabled: key !== undefined,
    staleTime: Infinity,
  })
  return data
}

const WORDS: Readonly<Record<Verdict, readonly [tone: Tone, text: string, title: string]>> = {
  checking: ['neutral', 'checking …', 'The browser checks the signature'],
  valid: ['good', 'signature valid', 'Checked in this browser with the public key of the node'],
  invalid: ['bad', 'signature wrong', 'The content is not what was signed'],
  'unknown-key': ['warn', 'key not known', 'No start of this node is in the log'],
  unsupported: [
    'warn',
    'verify by command',
    'This browser cannot check Ed25519 here; the details have a command',
  ],
}

export const SignatureBadge = ({ signed }: { readonly signed: Signed }) => {
  const [tone, text, title] = WORDS[useVerdict(signed)]
  return (
    <Badge tone={tone} title={title}>
      {text}
    </Badge>
  )
}

/** Result of verifying a signature in the browser. */
type Verdict = 'checking' | 'valid' | 'invalid' | 'unknown-key' | 'unsupported'

/** Anything that carries a signature over its other members. */
export interface Signed {
  readonly node_id: string
  readonly signature_b64: string
}

/** The text that was signed: canonical JSON (RFC 8785) of all members but the signature. */
export const signedText = ({ signature_b64: _signature, ...members }: Signed): string =>
  canonicalJson(members)

const verify = async (signed: Signed, publicKeyHex: string | null): Promise<Verdict> => {
  if (publicKeyHex === null) return 'unknown-key'
  const signature = bytesOfBase64(signed.signature_b64)
  if (signature === null) return 'invalid'
  const isRight = await verifyEd25519({ publicKeyHex, signature, text: signedText(signed) })
  if (isRight === null) return 'unsupported'
  return isRight ? 'valid' : 'invalid'
}

/** A command that makes the same check with Node only. */
export const commandFor = (signed: Signed, publicKeyHex: string): string =>
  [
    `node -e 'const {verify, createPublicKey} = require("node:crypto")`,
    `const key = createPublicKey({format: "der", type: "spki", key: Buffer.from("${SPKI_PREFIX}${publicKeyHex}", "hex")})`,
    `const [text, signature] = process.argv.slice(1)`,
    `console.log(verify(null, Buffer.from(text), key, Buffer.from(signature, "base64")))' \\`,
    `  ${quoted(signedText(signed))} \\`,
    `  ${quoted(signed.signature_b64)}`,
  ].join('\n')

/** Prefix of the 32 bytes of an Ed25519 key in its DER form (RFC 8410). */
const SPKI_PREFIX = '302a300506032b6570032100'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    // A text that is not base64 is no signature.
    return null
  }
}
