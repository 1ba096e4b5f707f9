import { sameBytes } from './bytes.ts'
import { nodeHash, type Frontier, type Sha256 } from './merkle.ts'

/**
 * Proofs in an RFC 6962 tree whose inner nodes are stored only at heights 8, 16, …, as in C2SP tlog-tiles. Level 0 are
 * the leaf hashes; node `i` of a level is the root of the 256 nodes from `256 i` on of the level below.
 */
export const TILE_WIDTH = 256

export interface TreeNode {
  readonly level: number
  readonly index: number
}

/** The nodes `from` (inclusive) to `to` (exclusive) of a level. */
export interface NodeRange {
  readonly level: number
  readonly from: number
  readonly to: number
}

/** The leaves from `start` (inclusive) to `end` (exclusive) as one subtree of the split that RFC 6962 defines. */
export interface Subtree {
  readonly start: number
  readonly end: number
}

/** A stored node, or undefined if it was not read. */
export type NodeAt = (node: TreeNode) => Uint8Array | undefined

/** The stored nodes that are completed when a tree grows from one size to another, children first. */
export function* completedNodes(sizeBefore: number, sizeAfter: number): Generator<TreeNode> {
  for (let index = Math.floor(sizeBefore / TILE_WIDTH); (index + 1) * TILE_WIDTH <= sizeAfter; index += 1) {
    yield { level: 1, index }
    for (let count = index + 1, level = 2; count % TILE_WIDTH === 0; level += 1) {
      count /= TILE_WIDTH
      yield { level, index: count - 1 }
    }
  }
}

/** The root over a power of two of nodes of one level. */
export const perfectRoot = (nodes: readonly Uint8Array[], sha256: Sha256): Uint8Array => {
  let level = nodes
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let at = 0; at + 1 < level.length; at += 2)
      above.push(nodeHash(level[at] as Uint8Array, level[at + 1] as Uint8Array, sha256))
    level = above
  }
  const [root] = level
  if (root === undefined) throw new Error('a subtree has at least one node')
  return root
}

/** PATH(m, D[n]) of RFC 6962: the subtrees whose hashes lead from a leaf to the root, nearest first. */
export const inclusionPath = (index: number, size: number): readonly Subtree[] => {
  const path: Subtree[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + splitOf(end - start)
    if (index < middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
    }
  }
  return path.toReversed()
}

/** PROOF(m, D[n]) of RFC 6962: the subtrees whose hashes give the roots at both sizes. */
export const consistencyPath = (oldSize: number, newSize: number): readonly Subtree[] => {
  const path: Subtree[] = []
  let [start, end] = [0, newSize]
  while (end > oldSize) {
    const middle = start + splitOf(end - start)
    if (oldSize <= middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
    }
  }
  // The subtree that begins with the first leaf is the old tree itself, whose root the reader already has.
  if (start > 0) path.push({ start, end })
  return path.toReversed()
}

/** The perfect subtrees of a tree of this size, largest first. `frontierAt` hashes them. */
export const frontierPath = (size: number): readonly Subtree[] => perfectPartsOf({ start: 0, end: size })

/** The stored nodes that the hashes of these subtrees need: at most two tiles of each level. */
export const nodesFor = (subtrees: readonly Subtree[]): readonly NodeRange[] => {
  const tiles = new Map<string, NodeRange>()
  for (const { level, from, to } of subtrees.flatMap(perfectPartsOf).map(storedNodesOf)) {
    const tile = `${level}/${Math.floor(from / TILE_WIDTH)}`
    const known = tiles.get(tile) ?? { level, from, to }
    tiles.set(tile, { level, from: Math.min(known.from, from), to: Math.max(known.to, to) })
  }
  return [...tiles.values()]
}

/** The hash of a subtree from stored nodes; null if one is missing. */
export const subtreeHash = (subtree: Subtree, nodeAt: NodeAt, sha256: Sha256): Uint8Array | null => {
  const hashes: Uint8Array[] = []
  for (const { level, from, to } of perfectPartsOf(subtree).map(storedNodesOf)) {
    const nodes: Uint8Array[] = []
    for (let index = from; index < to; index += 1) {
      const node = nodeAt({ level, index })
      if (node === undefined) return null
      nodes.push(node)
    }
    hashes.push(perfectRoot(nodes, sha256))
  }
  return hashes.reduceRight((right, left) => nodeHash(left, right, sha256))
}

/** The frontier of a tree of this size from stored nodes; null if one is missing. */
export const frontierAt = (size: number, nodeAt: NodeAt, sha256: Sha256): Frontier | null => {
  const hashes: Uint8Array[] = []
  for (const subtree of frontierPath(size)) {
    const hash = subtreeHash(subtree, nodeAt, sha256)
    if (hash === null) return null
    hashes.push(hash)
  }
  return { size, hashes }
}

interface Inclusion {
  readonly leaf: Uint8Array
  readonly index: number
  readonly size: number
  readonly path: readonly Uint8Array[]
}

/** The root that an inclusion proof leads to (RFC 9162, 2.1.3.2); null if it has the wrong length for its place. */
export const rootFromInclusion = (
  { leaf, index, size, path }: Inclusion,
  sha256: Sha256,
): Uint8Array | null => {
  if (index < 0 || index >= size) return null
  let [node, last] = [index, size - 1]
  let root = leaf
  for (const sibling of path) {
    if (last === 0) return null
    if (node % 2 === 1 || node === last) {
      root = nodeHash(sibling, root, sha256)
      // Levels on the right edge may have no sibling.
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, half(last)]
    } else {
      root = nodeHash(root, sibling, sha256)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? root : null
}

interface Consistency {
  readonly oldSize: number
  readonly oldRoot: Uint8Array
  readonly newSize: number
  readonly newRoot: Uint8Array
  readonly path: readonly Uint8Array[]
}

/** Whether the larger tree begins with all leaves of the smaller one (RFC 9162, 2.1.4.2). */
export const isConsistent = (
  { oldSize, oldRoot, newSize, newRoot, path }: Consistency,
  sha256: Sha256,
): boolean => {
  if (oldSize === newSize) return path.length === 0 && sameBytes(oldRoot, newRoot)
  if (oldSize < 1 || oldSize > newSize) return false
  const [first, ...rest] = isPowerOfTwo(oldSize) ? [oldRoot, ...path] : path
  if (first === undefined) return false
  let [node, last] = [oldSize - 1, newSize - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  let [oldHash, newHash] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(sibling, oldHash, sha256)
      newHash = nodeHash(sibling, newHash, sha256)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, half(last)]
    } else {
      newHash = nodeHash(newHash, sibling, sha256)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && sameBytes(oldHash, oldRoot) && sameBytes(newHash, newRoot)
}

/** Not `>> 1`: sizes may pass 32 bits. */
const half = (value: number): number => Math.floor(value / 2)

/** The largest power of two below a size of at least two. */
const splitOf = (size: number): number => {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

const isPowerOfTwo = (size: number): boolean => {
  let rest = size
  while (rest % 2 === 0) rest /= 2
  return rest === 1
}

/** Largest first. A subtree of the split is aligned to its size, so its parts are whole nodes. */
const perfectPartsOf = ({ start, end }: Subtree): readonly Subtree[] => {
  const parts: Subtree[] = []
  for (let from = start; from < end;) {
    const size = splitOf(end - from + 1)
    parts.push({ start: from, end: from + size })
    from += size
  }
  return parts
}

/** The nodes of the highest stored level whose root is this perfect subtree. */
const storedNodesOf = ({ start, end }: Subtree): NodeRange => {
  let [level, width] = [0, 1]
  while (width * TILE_WIDTH <= end - start) {
    level += 1
    width *= TILE_WIDTH
  }
  return { level, from: start / width, to: end / width }
}
