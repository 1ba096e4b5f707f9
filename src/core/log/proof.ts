import { base64FromBytes, bytesFromBase64, bytesFromHex, concatBytes, hexFromBytes, utf8 } from './bytes.ts'
import { noteKeyId, SIGNATURE_MARK } from './checkpoint.ts'
import { HASH_BYTES, type Sha256 } from './merkle.ts'

/** The public key of a log as C2SP signed-note writes it: `name+key id+base64(0x01 || key)`. */
export interface VerifierKey {
  readonly name: string
  /** 8 hex digits. */
  readonly keyId: string
  /** 64 hex digits. */
  readonly publicKey: string
}

export const verifierKeyText = (name: string, publicKey: string, sha256: Sha256): string =>
  `${name}+${noteKeyId(name, publicKey, sha256)}+${base64FromBytes(concatBytes(ED25519, bytesFromHex(publicKey) ?? NONE))}`

/** Returns null unless the text is an Ed25519 key with the matching key id. */
export const parseVerifierKey = (text: string, sha256: Sha256): VerifierKey | null => {
  const [, name, keyId, keyText] = VERIFIER_KEY.exec(text.trim()) ?? []
  const typeAndKey = bytesFromBase64(keyText ?? '')
  if (name === undefined || keyId === undefined || typeAndKey?.length !== 1 + KEY_BYTES) return null
  const publicKey = hexFromBytes(typeAndKey.subarray(1))
  if (typeAndKey[0] !== ED25519[0] || noteKeyId(name, publicKey, sha256) !== keyId) return null
  return { name, keyId, publicKey }
}

/** A checkpoint as a proof carries it: any C2SP tlog checkpoint, with any extension lines and signatures. */
export interface SignedTreeHead {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** Time of the extension line `time`, or null without such a line. */
  readonly time: string | null
  /** The signed part, and the whole. */
  readonly text: string
  readonly note: string
  readonly signatures: readonly NoteSignature[]
}

interface NoteSignature {
  readonly keyName: string
  readonly keyId: string
  /** In hex. */
  readonly signature: string
}

export const parseTreeHead = (note: string): SignedTreeHead | null => {
  const end = note.indexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) return null
  const [origin = '', sizeText = '', rootText = '', ...extensions] = note.slice(0, end).split('\n')
  const root = bytesFromBase64(rootText)
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map(parseSignature)
  if (origin === '' || !SIZE.test(sizeText) || !Number.isSafeInteger(Number(sizeText))) return null
  if (root?.length !== HASH_BYTES || !signatures.every((line) => line !== null)) return null
  const time = extensions.find((line) => line.startsWith(TIME))?.slice(TIME.length) ?? null
  return { origin, size: Number(sizeText), root, time, text: note.slice(0, end + 1), note, signatures }
}

/** Members of the event that were hashed. */
export interface ProvenEvent {
  readonly prevHash: string
  readonly ts: string
  readonly id: string
  readonly type: string
  readonly schemaVersion: string
  readonly source: string | null
  readonly traceId: string | null
  readonly dedupeKey: string | null
  /** Canonical JSON. */
  readonly payload: string
}

export interface InclusionProof {
  readonly kind: 'inclusion'
  /** Index of the leaf, counted from 0. The event's `seq` is one more. */
  readonly index: number
  /** Nearest first. */
  readonly path: readonly Uint8Array[]
  /** The text whose SHA-256 is the event's hash. */
  readonly preimage: Uint8Array
  readonly event: ProvenEvent
  readonly treeHead: SignedTreeHead
}

export interface ConsistencyProof {
  readonly kind: 'consistency'
  readonly path: readonly Uint8Array[]
  readonly older: SignedTreeHead
  readonly newer: SignedTreeHead
}

export interface MalformedProof {
  readonly kind: 'malformed'
  readonly why: string
}

/** A C2SP tlog-proof. Its `extra` data is the hashed text of the event. */
export const inclusionProofText = (proof: {
  readonly index: number
  readonly path: readonly Uint8Array[]
  readonly preimage: string
  readonly note: string
}): string =>
  [
    INCLUSION,
    `extra ${base64FromBytes(utf8(proof.preimage))}`,
    `index ${proof.index}`,
    ...proof.path.map(base64FromBytes),
    '',
    proof.note,
  ].join('\n')

/** C2SP has no file for this; the lines are those of a tlog-proof, with both checkpoints. */
export const consistencyProofText = (proof: {
  readonly path: readonly Uint8Array[]
  readonly older: string
  readonly newer: string
}): string => [CONSISTENCY, ...proof.path.map(base64FromBytes), '', proof.older, proof.newer].join('\n')

export const parseProof = (text: string): InclusionProof | ConsistencyProof | MalformedProof => {
  const end = text.indexOf('\n\n')
  const [kind, ...lines] = text.slice(0, Math.max(0, end)).split('\n')
  if (kind === INCLUSION) return parseInclusion(lines, text.slice(end + 2))
  if (kind === CONSISTENCY) return parseConsistency(lines, text.slice(end + 2))
  return malformed(`it does not begin with ${INCLUSION} or ${CONSISTENCY}`)
}

const INCLUSION = 'c2sp.org/tlog-proof@v1'
const CONSISTENCY = 'signal-engine/consistency-proof@v1'

const parseInclusion = (lines: readonly string[], note: string): InclusionProof | MalformedProof => {
  const [extra = '', indexLine = '', ...hashes] = lines
  const preimage = extra.startsWith(EXTRA) ? bytesFromBase64(extra.slice(EXTRA.length)) : null
  if (preimage === null) return malformed('it has no line "extra" with the content of the event')
  const event = parsePreimage(preimage)
  if (event === null) return malformed('its line "extra" is not the content of an event')
  const index = INDEX.test(indexLine) ? Number(indexLine.slice('index '.length)) : -1
  if (!Number.isSafeInteger(index) || index < 0) return malformed('it has no line "index" with a number')
  const path = hashes.map(hashFrom)
  if (!path.every((hash) => hash !== null)) return malformed('one of its hashes is no SHA-256 in base64')
  const treeHead = parseTreeHead(note)
  if (treeHead === null) return malformed('it does not end with a signed checkpoint')
  return { kind: 'inclusion', index, path, preimage, event, treeHead }
}

const parseConsistency = (lines: readonly string[], notes: string): ConsistencyProof | MalformedProof => {
  const path = lines.map(hashFrom)
  if (!path.every((hash) => hash !== null)) return malformed('one of its hashes is no SHA-256 in base64')
  const [olderText, olderSignatures, newerText, newerSignatures, ...more] = notes.split('\n\n')
  const older = parseTreeHead(`${olderText}\n\n${olderSignatures}\n`)
  const newer = parseTreeHead(`${newerText}\n\n${newerSignatures}`)
  if (older === null || newer === null || more.length > 0)
    return malformed('it does not end with two signed checkpoints')
  return { kind: 'consistency', path, older, newer }
}

/** Bars separate the members; only the payload, which comes last, may hold one. */
const parsePreimage = (bytes: Uint8Array): ProvenEvent | null => {
  const parts = decoded(bytes)?.split('|') ?? []
  const [prevHash, ts, id, type, schemaVersion, source, traceId, dedupeKey] = parts
  const payload = parts.slice(8).join('|')
  if (!ts || !id || !type || !schemaVersion || payload === '' || prevHash === undefined) return null
  return {
    prevHash,
    ts,
    id,
    type,
    schemaVersion,
    source: presentOrNull(source),
    traceId: presentOrNull(traceId),
    dedupeKey: presentOrNull(dedupeKey),
    payload,
  }
}

/** An absent member is hashed like an empty one. */
const presentOrNull = (text: string | undefined): string | null =>
  text === undefined || text === '' ? null : text

const decoded = (bytes: Uint8Array): string | null => {
  try {
    return UTF8.decode(bytes)
  } catch {
    // No UTF-8, so no event.
    return null
  }
}

const parseSignature = (line: string): NoteSignature | null => {
  const [, keyName, blobText] = SIGNATURE.exec(line) ?? []
  const blob = bytesFromBase64(blobText ?? '')
  if (keyName === undefined || blob === null || blob.length <= KEY_ID_BYTES) return null
  const keyId = hexFromBytes(blob.subarray(0, KEY_ID_BYTES))
  return { keyName, keyId, signature: hexFromBytes(blob.subarray(KEY_ID_BYTES)) }
}

const hashFrom = (line: string): Uint8Array | null => {
  const hash = bytesFromBase64(line)
  return hash?.length === HASH_BYTES ? hash : null
}

const malformed = (why: string): MalformedProof => ({ kind: 'malformed', why })

const ED25519 = Uint8Array.of(1)
const NONE = new Uint8Array()
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const EXTRA = 'extra '
const TIME = 'time '
const VERIFIER_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/
const SIZE = /^(?:0|[1-9][0-9]{0,15})$/
const INDEX = /^index (?:0|[1-9][0-9]{0,15})$/
const SIGNATURE = new RegExp(`^${SIGNATURE_MARK}([^\\s+]+) ([A-Za-z0-9+/=]+)$`)
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
