import type { Frontier } from '../../core/log/merkle.ts'
import {
  frontierAt,
  frontierPath,
  nodesFor,
  subtreeHash,
  type NodeAt,
  type Subtree,
} from '../../core/log/tree.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { sha256 } from '../sha256.ts'

type TreeLog = Pick<EventLog, 'treeNodes'>

/** Hashes of these subtrees, from at most two tiles of each level; null if a node is missing. */
export const storedHashes = async (
  log: TreeLog,
  subtrees: readonly Subtree[],
): Promise<readonly Uint8Array[] | null> => {
  const nodeAt = await readNodes(log, subtrees)
  const hashes: Uint8Array[] = []
  for (const subtree of subtrees) {
    const hash = subtreeHash(subtree, nodeAt, sha256)
    if (hash === null) return null
    hashes.push(hash)
  }
  return hashes
}

/**
 * The frontier at this size; null if a node is missing. Nodes are only a cache, so the caller must compare the root
 * with a signed one.
 */
export const storedFrontier = async (log: TreeLog, size: number): Promise<Frontier | null> =>
  frontierAt(size, await readNodes(log, frontierPath(size)), sha256)

const readNodes = async (log: TreeLog, subtrees: readonly Subtree[]): Promise<NodeAt> => {
  const nodes = new Map<string, Uint8Array>()
  for (const range of nodesFor(subtrees))
    for (const [at, node] of (await log.treeNodes(range)).entries())
      nodes.set(`${range.level}/${range.from + at}`, node)
  return ({ level, index }) => nodes.get(`${level}/${index}`)
}
