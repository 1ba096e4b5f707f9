import type { Ed25519 } from './ed25519-backend.ts'

/** Null where the optional package is not installed or has no build for this platform. */
export const loadSodiumEd25519 = async (): Promise<Ed25519 | null> => {
  const sodium = await importSodium()
  if (sodium === null) return null
  const keysOf = (seed: Uint8Array): { readonly publicKey: Buffer; readonly secretKey: Buffer } => {
    const publicKey = Buffer.alloc(PUBLIC_KEY_BYTES)
    const secretKey = Buffer.alloc(SECRET_KEY_BYTES)
    sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed)
    return { publicKey, secretKey }
  }
  return {
    backend: 'sodium-native',
    publicKeyOf: (seed) => keysOf(seed).publicKey,
    signerOf: (seed) => {
      const { secretKey } = keysOf(seed)
      return (text, signature) => sodium.crypto_sign_detached(signature, Buffer.from(text), secretKey)
    },
    verify: (text, signature, publicKey) =>
      sodium.crypto_sign_verify_detached(signature, Buffer.from(text), publicKey),
  }
}

const PUBLIC_KEY_BYTES = 32
const SECRET_KEY_BYTES = 64

/** The part of the binding that is used here; the package brings no types. */
interface Sodium {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
}

// Not a literal, since the compiler would look for types where there may be no package at all.
const PACKAGE: string = 'sodium-native'

const importSodium = async (): Promise<Sodium | null> => {
  try {
    return ((await import(PACKAGE)) as { readonly default: Sodium }).default
  } catch {
    // Any failure to load means the same: this platform has no libsodium, and Node signs instead.
    return null
  }
}
