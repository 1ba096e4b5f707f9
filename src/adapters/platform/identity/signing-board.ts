import type { SignInto } from '../crypto/ed25519-backend.ts'

/** Texts to sign and the memory that all signing threads write into. */
export interface SharedSigningQueue {
  readonly texts: readonly string[]
  readonly shared: SharedArrayBuffer
}

/** What a signing thread is told. One string for all texts: cloning many small ones costs more than signing some. */
export interface SigningOrder {
  readonly id: number
  readonly joinedTexts: string
  readonly shared: SharedArrayBuffer
}

export interface SigningThreadData {
  readonly seed: Uint8Array
}

/** Never occurs raw in canonical JSON, where it is written as an escape. */
export const TEXT_SEPARATOR = '\n'

/** So many texts are claimed at once: a fifth of a millisecond of work on a slow core. */
const CHUNK_TEXTS = 4

export const createSharedSigningQueue = (texts: readonly string[]): SharedSigningQueue => ({
  texts,
  shared: new SharedArrayBuffer(COUNTERS_BYTES + texts.length * SIGNATURE_BYTES),
})

/** Claims the next texts that nobody took yet and signs them. False when none are left. */
export const signNextChunk = ({ texts, shared }: SharedSigningQueue, sign: SignInto): boolean => {
  const counters = countersOf(shared)
  const first = Atomics.add(counters, CLAIMED, CHUNK_TEXTS)
  const claimed = texts.slice(first, first + CHUNK_TEXTS)
  for (const [index, text] of claimed.entries()) {
    const offset = COUNTERS_BYTES + (first + index) * SIGNATURE_BYTES
    sign(text, new Uint8Array(shared, offset, SIGNATURE_BYTES))
  }
  // Counted after the bytes are written: whoever sees the count sees them too.
  Atomics.add(counters, SIGNED, claimed.length)
  return claimed.length > 0
}

export const isAllClaimed = (shared: SharedArrayBuffer): boolean =>
  Atomics.load(countersOf(shared), CLAIMED) >= placesOn(shared)

export const isAllSigned = ({ texts, shared }: SharedSigningQueue): boolean =>
  Atomics.load(countersOf(shared), SIGNED) === texts.length

/** The same board on the other side; null when there is nothing left to claim, or nothing sure to sign. */
export const boardOf = ({ joinedTexts, shared }: SigningOrder): SharedSigningQueue | null => {
  if (isAllClaimed(shared)) return null
  const texts = joinedTexts.split(TEXT_SEPARATOR)
  // A text that holds the separator itself would shift all behind it to wrong places.
  return texts.length === placesOn(shared) ? { texts, shared } : null
}

/** 128 hex digits each, in the order of the texts. */
export const signaturesOn = ({ texts, shared }: SharedSigningQueue): readonly string[] => {
  const bytes = Buffer.from(shared, COUNTERS_BYTES)
  return texts.map((_text, index) =>
    bytes.toString('hex', index * SIGNATURE_BYTES, (index + 1) * SIGNATURE_BYTES),
  )
}

const SIGNATURE_BYTES = 64
const COUNTERS_BYTES = 8
const CLAIMED = 0
const SIGNED = 1

const countersOf = (shared: SharedArrayBuffer): Int32Array => new Int32Array(shared, 0, 2)

const placesOn = (shared: SharedArrayBuffer): number => (shared.byteLength - COUNTERS_BYTES) / SIGNATURE_BYTES
