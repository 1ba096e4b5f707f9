import {
  base64FromBytes,
  bytesFromBase64,
  bytesFromHex,
  concatBytes,
  hexFromBytes,
  sameBytes,
  utf8,
} from './bytes.ts'
import { decodeFrontier, encodeFrontier, HASH_BYTES, rootOf, type Frontier, type Sha256 } from './merkle.ts'

/** State of the log at the size `frontier.size`. */
export interface Checkpoint {
  /** Identifies the log: two logs never share an origin. */
  readonly origin: string
  /** Frontier of the tree over whole records (`leafOf`). */
  readonly frontier: Frontier
  readonly root: Uint8Array
  /** Root of the tree over event hashes, which proofs lead to. Null in notes of releases that had no such tree. */
  readonly eventRoot: Uint8Array | null
  /** Chain hash of the newest event, 64 hex digits. */
  readonly head: string
  readonly time: string
}

/** A note that was parsed, but whose signature is not checked yet. */
export interface SignedCheckpoint extends Checkpoint {
  /** The whole note, byte for byte. */
  readonly note: string
  /** The signed part of it. */
  readonly text: string
  readonly keyName: string
  readonly keyId: string
  readonly signature: string
}

interface CheckpointSignature {
  readonly keyName: string
  /** 64 hex digits. */
  readonly publicKey: string
  /** 128 hex digits, over `checkpointText`. */
  readonly signature: string
}

/** The text to sign: a C2SP tlog checkpoint, with what a reader needs to go on from here as extension lines. */
export const checkpointText = ({ origin, frontier, root, eventRoot, head, time }: Checkpoint): string => {
  const tree = `${origin}\n${frontier.size}\n${base64FromBytes(eventRoot ?? root)}\nhead ${head}\ntime ${time}\n`
  const records = eventRoot === null ? '' : `records ${base64FromBytes(root)}\n`
  return `${tree}${records}frontier ${base64FromBytes(encodeFrontier(frontier))}\n`
}

/** The C2SP signed note around a signed text. */
export const signedNote = (
  text: string,
  { keyName, publicKey, signature }: CheckpointSignature,
  sha256: Sha256,
): string => {
  const blob = bytesFromHex(noteKeyId(keyName, publicKey, sha256) + signature)
  if (blob?.length !== KEY_ID_BYTES + SIGNATURE_BYTES || !KEY_NAME.test(keyName)) {
    throw new Error('a note needs a key name without blanks, a public key and an Ed25519 signature')
  }
  return `${text}\n${SIGNATURE_MARK}${keyName} ${base64FromBytes(blob)}\n`
}

/** Null unless every byte is as this file writes it. */
export const parseSignedCheckpoint = (note: string): SignedCheckpoint | null => {
  const [, origin, sizeText, rootText, head, time, recordsText, frontierText, keyName, blobText] =
    NOTE.exec(note) ?? []
  // The pattern has one optional group, so either all others are there or none.
  if (origin === undefined || head === undefined || time === undefined || keyName === undefined) return null
  const size = Number(sizeText)
  const first = bytesFromBase64(rootText ?? '')
  const root = recordsText === undefined ? first : bytesFromBase64(recordsText)
  const frontierBytes = bytesFromBase64(frontierText ?? '')
  const blob = bytesFromBase64(blobText ?? '')
  if (
    !Number.isSafeInteger(size) ||
    first?.length !== HASH_BYTES ||
    root?.length !== HASH_BYTES ||
    frontierBytes === null
  )
    return null
  if (blob?.length !== KEY_ID_BYTES + SIGNATURE_BYTES || Number.isNaN(Date.parse(time))) return null
  const frontier = decodeFrontier(size, frontierBytes)
  if (frontier === null) return null
  return {
    origin,
    frontier,
    root,
    eventRoot: recordsText === undefined ? null : first,
    head,
    time,
    note,
    text: note.slice(0, note.indexOf('\n\n') + 1),
    keyName,
    keyId: hexFromBytes(blob.subarray(0, KEY_ID_BYTES)),
    signature: hexFromBytes(blob.subarray(KEY_ID_BYTES)),
  }
}

/** Returns the fault of a note, or null. Does not check the signature, which the caller verifies over `text`. */
export const noteFaultOf = (signed: SignedCheckpoint, publicKey: string, sha256: Sha256): string | null => {
  if (signed.keyId !== noteKeyId(signed.keyName, publicKey, sha256))
    return `its key id is not that of ${signed.keyName}`
  if (!sameBytes(rootOf(signed.frontier, sha256), signed.root)) return 'its frontier does not give its root'
  return null
}

/** The first four bytes, as hex, of SHA-256(name || 0x0A || 0x01 || key), as C2SP signed-note specifies for Ed25519. */
export const noteKeyId = (keyName: string, publicKey: string, sha256: Sha256): string => {
  const key = bytesFromHex(publicKey)
  if (key?.length !== PUBLIC_KEY_BYTES) throw new Error('a public key has 64 hex digits')
  return hexFromBytes(
    sha256(concatBytes(utf8(`${keyName}\n`), Uint8Array.of(1), key)).subarray(0, KEY_ID_BYTES),
  )
}

/** Start of the signature line of a note. */
export const SIGNATURE_MARK = '\u2014 '

const KEY_ID_BYTES = 4
const SIGNATURE_BYTES = 64
const PUBLIC_KEY_BYTES = 32
const KEY_NAME = /^[^\s+]+$/

const NOTE =
  /^([^\s+]+)\n([1-9][0-9]{0,15})\n([A-Za-z0-9+/=]+)\nhead ([0-9a-f]{64})\ntime (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n(?:records ([A-Za-z0-9+/=]+)\n)?frontier ([A-Za-z0-9+/=]+)\n\n\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)\n$/
