import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import type { Ed25519 } from './ed25519-backend.ts'

export const nodeEd25519: Ed25519 = {
  backend: 'node:crypto',
  publicKeyOf: (seed) =>
    createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES),
  signerOf: (seed) => {
    const key = privateKeyOf(seed)
    return (text, signature) => signature.set(sign(null, Buffer.from(text), key))
  },
  verify: (text, signature, publicKey) => {
    // The first half of a signature is a point, too: one of small order says nothing of who made it.
    if (isSmallOrder(signature.subarray(0, KEY_BYTES))) return false
    const key = publicKeyFrom(publicKey)
    return key !== null && verify(null, Buffer.from(text), key, signature)
  },
}

const KEY_BYTES = 32
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const IMPORTED_KEYS_MAX = 100

/** Points of small order: under such a key one signature fits every text. libsodium refuses them too. */
const SMALL_ORDER_POINTS: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_PREFIX, seed]), format: 'der', type: 'pkcs8' })

/** Importing a key costs as much as using it, and a log has few signers: the last ones stay imported. */
const importedKeys = new Map<string, KeyObject | null>()

const publicKeyFrom = (publicKey: Uint8Array): KeyObject | null => {
  const name = Buffer.from(publicKey).toString('hex')
  const imported = importedKeys.get(name)
  if (imported !== undefined) return imported
  const key = isSmallOrder(publicKey)
    ? null
    : createPublicKey({ key: Buffer.concat([PUBLIC_KEY_PREFIX, publicKey]), format: 'der', type: 'spki' })
  const [oldest] = importedKeys.keys()
  if (oldest !== undefined && importedKeys.size >= IMPORTED_KEYS_MAX) importedKeys.delete(oldest)
  importedKeys.set(name, key)
  return key
}

const isSmallOrder = (encoded: Uint8Array): boolean => {
  const point = Buffer.from(encoded)
  // The highest bit is the sign of x and does not change the order.
  point.writeUInt8(point.readUInt8(KEY_BYTES - 1) & 0x7f, KEY_BYTES - 1)
  return SMALL_ORDER_POINTS.has(point.toString('hex'))
}
