/** Writes the 64-byte signature of a text's UTF-8 bytes into `signature`. */
export type SignInto = (text: string, signature: Uint8Array) => void

/** Raw keys: seeds and public keys are 32 bytes, signatures 64. */
export interface Ed25519 {
  /** Whose code signs. */
  readonly backend: 'sodium-native' | 'node:crypto'
  readonly publicKeyOf: (seed: Uint8Array) => Buffer
  readonly signerOf: (seed: Uint8Array) => SignInto
  readonly verify: (text: string, signature: Uint8Array, publicKey: Uint8Array) => boolean
}
