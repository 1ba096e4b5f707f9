import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'

/*
 * Ed25519 with node:crypto on every machine. Keys are raw bytes: seeds and public keys 32, signatures 64.
 */

export const publicKeyOf = (seed: Uint8Array): Buffer =>
  createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)

/** Signs the UTF-8 bytes of texts; 128 hex digits each. */
export const signerOf = (seed: Uint8Array): ((text: string) => string) => {
  const key = privateKeyOf(seed)
  return (text) => sign(null, Buffer.from(text), key).toString('hex')
}

/**
 * Checks in Node's thread pool, so many checks at once use every core. Beyond RFC 8032 it refuses keys and nonces of
 * small order, and keys in another encoding than the one of their point: see decision 15.
 */
export const isSignedBy = async (
  message: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): Promise<boolean> => {
  const key = publicKeyFrom(publicKey)
  if (key === null || isSmallOrder(signature.subarray(0, KEY_BYTES))) return false
  return new Promise((resolve, reject) =>
    verify(null, message, key, signature, (error, isValid) =>
      error === null ? resolve(isValid) : reject(error),
    ),
  )
}

/** Checks a signature at once on the calling thread, by the rules of `isSigned`, for a decision that depends on it. */
export const isSignedNow = (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean => {
  const key = publicKeyFrom(publicKey)
  return (
    key !== null && !isSmallOrder(signature.subarray(0, KEY_BYTES)) && verify(null, message, key, signature)
  )
}

const KEY_BYTES = 32
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const IMPORTED_KEYS_MAX = 100

/** Points of small order, without the sign of x: under such a key one signature fits every message. */
const SMALL_ORDER_POINTS: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/** The field has 2^255 - 19 elements; a larger number encodes a point a second time. */
const FIELD_SIZE = 2n ** 255n - 19n

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_PREFIX, seed]), format: 'der', type: 'pkcs8' })

/** A log has few signers, and importing a key costs as much as using it. Null: no signature of this key is valid. */
const importedKeys = new Map<string, KeyObject | null>()

const publicKeyFrom = (publicKey: Uint8Array): KeyObject | null => {
  const name = Buffer.from(publicKey).toString('hex')
  const imported = importedKeys.get(name)
  if (imported !== undefined) return imported
  const key =
    isSmallOrder(publicKey) || !isCanonicalPoint(publicKey)
      ? null
      : createPublicKey({ key: Buffer.concat([PUBLIC_KEY_PREFIX, publicKey]), format: 'der', type: 'spki' })
  if (importedKeys.size >= IMPORTED_KEYS_MAX) importedKeys.clear()
  importedKeys.set(name, key)
  return key
}

const isSmallOrder = (point: Uint8Array): boolean => SMALL_ORDER_POINTS.has(yOf(point).toString('hex'))

const isCanonicalPoint = (point: Uint8Array): boolean =>
  BigInt(`0x${yOf(point).reverse().toString('hex')}`) < FIELD_SIZE

/** Without the highest bit, which is the sign of x. */
const yOf = (point: Uint8Array): Buffer => {
  const y = Buffer.from(point)
  y.writeUInt8(y.readUInt8(KEY_BYTES - 1) & 0x7f, KEY_BYTES - 1)
  return y
}
