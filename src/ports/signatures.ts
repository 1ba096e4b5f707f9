/** A text, and the Ed25519 signature (128 hex digits) that a key (64 hex digits) is said to have made of it. */
export interface SignedText {
  readonly text: string
  readonly signatureHex: string
  readonly publicKeyHex: string
}

/** Checks many signatures at once, on every core. */
export interface Signatures {
  /** Indices, ascending, of the items whose signature does not belong to text and key. */
  verifyAll(items: readonly SignedText[]): Promise<readonly number[]>
}
