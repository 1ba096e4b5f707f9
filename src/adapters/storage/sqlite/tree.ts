import { hash } from 'node:crypto'
import { bytesFromHex, hexFromBytes } from '../../../core/log/bytes.ts'
import { eventLeaf, type Sha256 } from '../../../core/log/merkle.ts'
import { completedNodes, perfectRoot, TILE_WIDTH, type NodeRange } from '../../../core/log/tree.ts'
import { allRows, prepare, prepareRows, type Database, type Statement } from './database.ts'

/** Writes the nodes of the tree over event hashes. Needs a transaction around it that holds the write lock. */
export class TreeWriter {
  readonly #nodes: (range: NodeRange) => readonly Uint8Array[]
  readonly #insert: Statement

  constructor(db: Database) {
    this.#nodes = prepareTreeNodes(db)
    this.#insert = prepare(db, 'INSERT INTO tree_nodes VALUES (?, ?, ?)')
  }

  /** The nodes that these events complete. */
  grow(sizeBefore: number, sizeAfter: number): void {
    for (const { level, index } of completedNodes(sizeBefore, sizeAfter)) {
      const from = index * TILE_WIDTH
      const children = this.#nodes({ level: level - 1, from, to: from + TILE_WIDTH })
      this.#insert.run(level, index, hexFromBytes(perfectRoot(children, sha256)))
    }
  }
}

/** Reads nodes in order, up to the first one that is missing. */
export const prepareTreeNodes = (db: Database): ((range: NodeRange) => readonly Uint8Array[]) => {
  const leaves = prepareRows(db, 'SELECT seq - 1, hash FROM events WHERE seq > ? AND seq <= ? ORDER BY seq')
  const nodes = prepareRows(
    db,
    'SELECT idx, hash FROM tree_nodes WHERE level = ? AND idx >= ? AND idx < ? ORDER BY idx',
  )
  return ({ level, from, to }) => {
    const rows = level === 0 ? allRows(leaves, from, to) : allRows(nodes, level, from, to)
    const found: Uint8Array[] = []
    for (const [index, text] of rows) {
      const node = level === 0 ? eventLeaf(String(text), sha256) : bytesFromHex(String(text))
      if (index !== from + found.length || node === null) break
      found.push(node)
    }
    return found
  }
}

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
