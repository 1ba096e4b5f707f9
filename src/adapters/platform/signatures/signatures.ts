import type { Signatures, SignedText } from '../../../ports/signatures.ts'
import { isSignedBy, isSignedNow } from '../crypto/ed25519.ts'

/** Checks Ed25519 signatures on every core. */
export const signatures: Signatures = {
  verifyAll: async (items) => {
    const bad: number[] = []
    for (let from = 0; from < items.length; from += CHECKED_AT_ONCE) {
      const areGood = await Promise.all(items.slice(from, from + CHECKED_AT_ONCE).map(isGood))
      areGood.forEach((good, index) => good || bad.push(from + index))
    }
    return bad
  },
  isSigned: (item) => isWellFormed(item) && isSignedNow(...bytesOf(item)),
}

/** Keeps every thread of the pool busy, and other users of the pool waiting for a few milliseconds at most. */
const CHECKED_AT_ONCE = 64

const SIGNATURE = /^[0-9a-f]{128}$/
const PUBLIC_KEY = /^[0-9a-f]{64}$/

const isGood = async (item: SignedText): Promise<boolean> =>
  isWellFormed(item) && isSignedBy(...bytesOf(item))

const isWellFormed = ({ text, signatureHex, publicKeyHex }: SignedText): boolean =>
  SIGNATURE.test(signatureHex) &&
  PUBLIC_KEY.test(publicKeyHex) &&
  // Texts are hashed and signed as UTF-8, which cannot hold a lone surrogate.
  text.isWellFormed()

const bytesOf = ({ text, signatureHex, publicKeyHex }: SignedText) =>
  [Buffer.from(text), Buffer.from(signatureHex, 'hex'), Buffer.from(publicKeyHex, 'hex')] as const
