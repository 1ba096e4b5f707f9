import type { SignedText } from '../../../ports/signatures.ts'
import { ed25519 } from '../crypto/ed25519.ts'

/** Indices of the items whose signature is malformed or not by this key of this text. */
export const badSignaturesIn = (items: readonly SignedText[]): readonly number[] =>
  items.flatMap((item, index) => (isGood(item) ? [] : [index]))

const SIGNATURE = /^[0-9a-f]{128}$/
const PUBLIC_KEY = /^[0-9a-f]{64}$/

const isGood = ({ text, signatureHex, publicKeyHex }: SignedText): boolean =>
  SIGNATURE.test(signatureHex) &&
  PUBLIC_KEY.test(publicKeyHex) &&
  // Texts are hashed and signed as UTF-8, which cannot hold a lone surrogate.
  text.isWellFormed() &&
  ed25519.verify(text, Buffer.from(signatureHex, 'hex'), Buffer.from(publicKeyHex, 'hex'))
