/** Writes the 64-byte signature of a text's UTF-8 bytes into `signature`. */
export type SignInto = (text: string, signature: Uint8Array) => void

/** Raw keys: seeds and public keys are 32 bytes, signatures 64. */
export interface Ed25519 {
  readonly backend: 'sodium-native' | 'node:crypto'
  publicKeyOf(seed: Uint8Array): Buffer
  signerOf(seed: Uint8Array): SignInto
  verify(text: string, signature: Uint8Array, publicKey: Uint8Array): boolean
}
