import { hash } from 'node:crypto'
import type { LogRecord } from '../../../core/log/event.ts'
import { eventLeaf, type Sha256 } from '../../../core/log/merkle.ts'
import { completedNodes, perfectRoot, TILE_WIDTH, type NodeRange } from '../../../core/log/tree.ts'

/** The tree over event hashes. Catches up when it is asked, so an append costs nothing here. */
export class MemoryTree {
  readonly #records: readonly LogRecord[]
  /** By level, from 1 on. */
  readonly #levels: Uint8Array[][] = []
  #size = 0

  constructor(records: readonly LogRecord[]) {
    this.#records = records
  }

  nodes({ level, from, to }: NodeRange): readonly Uint8Array[] {
    if (level === 0) return this.#records.slice(from, to).map((record) => eventLeaf(record.hash, sha256))
    this.#catchUp()
    return (this.#levels[level - 1] ?? []).slice(from, to)
  }

  #catchUp(): void {
    const before = this.#size
    // First, since the children of higher nodes are read through `nodes`.
    this.#size = this.#records.length
    for (const { level, index } of completedNodes(before, this.#size)) {
      const from = index * TILE_WIDTH
      const node = perfectRoot(this.nodes({ level: level - 1, from, to: from + TILE_WIDTH }), sha256)
      this.#levels[level - 1] ??= []
      this.#levels[level - 1]?.push(node)
    }
  }
}

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
