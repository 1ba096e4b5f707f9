import { sameBytes } from '../../core/log/bytes.ts'
import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { eventLeaf, rootOf } from '../../core/log/merkle.ts'
import { perfectRoot, TILE_WIDTH, type TreeNode } from '../../core/log/tree.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { storedFrontier } from '../proofs/stored-tree.ts'
import { faultBeside, type IntegrityFault, type Findings } from './findings.ts'
import { SLICE_EVENTS } from './record-check.ts'
import { sha256 } from '../sha256.ts'

/**
 * Compares every stored node of the tree over event hashes with the one that the events give. The nodes are not covered
 * by hash and signature: a wrong one breaks the proofs of the events below it. Starts at the first event of the log.
 */
export const createNodeCheck = (log: Pick<EventLog, 'treeNodes'>, findings: Findings) => {
  /** For each level: the nodes since its latest complete tile, and the number of complete tiles. */
  const levels: { nodes: Uint8Array[]; tiles: number }[] = []

  const push = async (level: number, node: Uint8Array): Promise<void> => {
    const current = levels[level] ?? { nodes: [], tiles: 0 }
    levels[level] = current
    current.nodes.push(node)
    if (current.nodes.length < TILE_WIDTH) return
    const parent = perfectRoot(current.nodes, sha256)
    const place = { level: level + 1, index: current.tiles }
    current.nodes = []
    current.tiles += 1
    const [stored] = await log.treeNodes({ level: place.level, from: place.index, to: place.index + 1 })
    if (stored === undefined || !sameBytes(stored, parent)) findings.add(nodeFault(place))
    await push(place.level, parent)
  }

  return {
    /** Adds the next events, in order. */
    add: async (page: readonly LogRecord[]): Promise<void> => {
      for (const [index, { hash }] of page.entries()) {
        await push(0, eventLeaf(hash, sha256))
        if (index % SLICE_EVENTS === SLICE_EVENTS - 1) await yieldToEventLoop()
      }
    },
  }
}

/** Whether the stored nodes still give the root that a checkpoint has signed. Reads a few nodes of each level. */
export const checkNodesAt = async (
  log: EventLog,
  { eventRoot, frontier: { size } }: SignedCheckpoint,
  findings: Findings,
): Promise<void> => {
  if (eventRoot === null) return
  const frontier = await storedFrontier(log, size)
  if (frontier !== null && sameBytes(rootOf(frontier, sha256), eventRoot)) return
  findings.add(faultBeside('tree', `the stored tree does not give the root that was signed at ${size}`))
}

/** A fault of a node is no evidence against events, since only proofs are made from the nodes. */
const nodeFault = ({ level, index }: TreeNode): IntegrityFault => {
  const width = TILE_WIDTH ** level
  const last = (index + 1) * width
  return {
    reason: 'tree',
    seq: null,
    id: null,
    shownAt: last,
    detail: `the stored tree node over events ${index * width + 1} to ${last} does not follow from them`,
  }
}
