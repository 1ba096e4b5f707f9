import { assert } from '../shared/assert.ts'
import { bytesFromHex, concatBytes, utf8 } from './bytes.ts'

/** SHA-256 of bytes. Handed in, since core imports no Node. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/**
 * State that is sufficient to extend an RFC 6962 tree: the roots of its perfect subtrees, largest and leftmost first,
 * one per set bit of the size.
 */
export interface Frontier {
  readonly size: number
  readonly hashes: readonly Uint8Array[]
}

/** Fields that a leaf commits to: the event's hash, and the columns that are stored beside the hash. */
interface LeafFields {
  readonly hash: string
  readonly signature: string | null
  readonly publicKey: string | null
  readonly recordedAt: string
}

export const HASH_BYTES = 32

export const EMPTY_FRONTIER: Frontier = { size: 0, hashes: [] }

/** The frontier after these leaf hashes, in order. */
export const extendFrontier = (
  frontier: Frontier,
  leaves: readonly Uint8Array[],
  sha256: Sha256,
): Frontier => {
  const hashes = [...frontier.hashes]
  let { size } = frontier
  for (const leaf of leaves) {
    let root = leaf
    // Each set bit at the low end is a perfect subtree as large as the one in hand: join them.
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = hashes.pop()
      assert(left !== undefined, 'a frontier has one hash per set bit of its size')
      root = nodeHash(left, root, sha256)
    }
    hashes.push(root)
    size += 1
  }
  return { size, hashes }
}

/** The RFC 6962 tree hash. */
export const rootOf = ({ hashes }: Frontier, sha256: Sha256): Uint8Array =>
  hashes.length === 0
    ? sha256(new Uint8Array())
    : hashes.reduceRight((right, left) => nodeHash(left, right, sha256))

export const leafHash = (data: Uint8Array, sha256: Sha256): Uint8Array => {
  if (data.length !== HASH_BYTES) return sha256(concatBytes(LEAF_PREFIX, data))
  leafBytes.set(data, 1)
  return sha256(leafBytes)
}

/** The leaf of an event in the tree that proofs for outsiders lead to: SHA-256(0x00 || hash), the hash as 32 bytes. */
export const eventLeaf = (hash: string, sha256: Sha256): Uint8Array => {
  // A damaged column may hold any text or null. Hashing that text can only give another leaf.
  const stored = hash as string | null
  return leafHash((stored === null ? null : bytesFromHex(stored)) ?? utf8(stored ?? ''), sha256)
}

/**
 * SHA-256(0x00 || hash || signature || signer's public key || recorded_at): the chain leaves the last three out,
 * so without the tree they could be stripped, swapped or moved.
 */
export const leafOf = (
  { hash, signature, publicKey, recordedAt }: LeafFields,
  sha256: Sha256,
): Uint8Array => {
  const hex = `${hash}${signature ?? ''}${publicKey ?? ''}`
  return leafHash(concatBytes(bytesFromHex(hex) ?? utf8(hex), utf8(recordedAt)), sha256)
}

export const encodeFrontier = ({ hashes }: Frontier): Uint8Array => concatBytes(...hashes)

/** Null when the bytes cannot be the frontier of a tree of this size. */
export const decodeFrontier = (size: number, bytes: Uint8Array): Frontier | null => {
  const count = setBitsOf(size)
  if (bytes.length !== count * HASH_BYTES) return null
  const hashes = Array.from({ length: count }, (_, index) =>
    bytes.slice(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  )
  return { size, hashes }
}

const LEAF_PREFIX = Uint8Array.of(0)
const NODE_PREFIX = Uint8Array.of(1)

export const nodeHash = (left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array => {
  // A damaged node may have any length.
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES)
    return sha256(concatBytes(NODE_PREFIX, left, right))
  nodeBytes.set(left, 1)
  nodeBytes.set(right, 1 + HASH_BYTES)
  return sha256(nodeBytes)
}

// Reused for every hash: each stored event needs two hashes, and no caller keeps the bytes.
const leafBytes = concatBytes(LEAF_PREFIX, new Uint8Array(HASH_BYTES))
const nodeBytes = concatBytes(NODE_PREFIX, new Uint8Array(2 * HASH_BYTES))

// Sizes may exceed 32 bits, so the bit operators cannot be used.
const setBitsOf = (size: number): number => {
  let count = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2
  return count
}
