import { hash } from 'node:crypto'
import { bytesFromHex, hexFromBytes } from '../../../core/log/bytes.ts'
import { eventLeaf, type Sha256 } from '../../../core/log/merkle.ts'
import { completedNodes, perfectRoot, TILE_WIDTH, type NodeRange } from '../../../core/log/tree.ts'
import { allRows, firstRow, prepare, prepareRows, type Database, type Statement } from './database.ts'

/** Writes the nodes of the tree over event hashes. Needs a transaction around it that holds the write lock. */
export class TreeWriter {
  readonly #db: Database
  readonly #nodes: (range: NodeRange) => readonly Uint8Array[]
  readonly #insert: Statement
  readonly #head: Statement
  readonly #progress: Statement
  readonly #saveProgress: Statement

  constructor(db: Database) {
    this.#db = db
    this.#nodes = prepareTreeNodes(db)
    this.#insert = prepare(db, 'INSERT OR IGNORE INTO tree_nodes VALUES (?, ?, ?)')
    this.#head = prepareRows(db, 'SELECT max(seq) FROM events')
    this.#progress = prepareRows(db, PROGRESS)
    this.#saveProgress = prepare(db, `UPDATE meta SET v = ? WHERE k = 'tree_size'`)
  }

  /** The nodes that these events complete. */
  grow(sizeBefore: number, sizeAfter: number): void {
    for (const { level, index } of completedNodes(sizeBefore, sizeAfter)) {
      const from = index * TILE_WIDTH
      const children = this.#nodes({ level: level - 1, from, to: from + TILE_WIDTH })
      // Fewer: the file is of an older release, and catching up has not come this far. It writes this node, too.
      if (children.length < TILE_WIDTH) continue
      this.#insert.run(level, index, hexFromBytes(perfectRoot(children, sha256)))
    }
  }

  /** A bounded number of the nodes that a file of an older release lacks. True when there are no more. */
  catchUp(): boolean {
    this.#db.exec('BEGIN IMMEDIATE')
    const progress = firstRow(this.#progress)?.[0]
    if (progress !== undefined) {
      const before = Number(progress)
      const size = Number(firstRow(this.#head)?.[0] ?? 0)
      const after = Math.min(size, before + CATCH_UP_EVENTS)
      this.grow(before, after)
      if (after === size) this.#db.exec(`DELETE FROM meta WHERE k = 'tree_size'`)
      else this.#saveProgress.run(String(after))
      this.#db.exec('COMMIT')
      return after === size
    }
    this.#db.exec('ROLLBACK')
    return true
  }
}

/** Whether a file of an older release still lacks nodes. */
export const lacksTreeNodes = (db: Database): boolean => firstRow(prepareRows(db, PROGRESS)) !== undefined

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

const PROGRESS = `SELECT v FROM meta WHERE k = 'tree_size'`

/** About 20 milliseconds of work, during which no append is stored. */
const CATCH_UP_EVENTS = 32 * TILE_WIDTH

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
