import { hash } from 'node:crypto'
import { domainOf, type LogRecord, stampedFrom } from '../../../core/log/event.ts'
import { eventLeaf, type Sha256 } from '../../../core/log/merkle.ts'
import { refsOf } from '../../../core/log/refs.ts'
import { completedNodes, perfectRoot, TILE_WIDTH, type NodeRange } from '../../../core/log/tree.ts'

/** Finds records without walking the log. Catches up when it is asked, so an append costs nothing here. */
export class MemoryIndex {
  readonly #records: readonly LogRecord[]
  readonly #byId = new Map<string, LogRecord>()
  readonly #byDedupeKey = new Map<string, LogRecord>()
  readonly #byDomain = new Map<string, LogRecord[]>()
  readonly #byRef = new Map<string, LogRecord[]>()
  #indexed = 0
  #referred = 0

  constructor(records: readonly LogRecord[]) {
    this.#records = records
  }

  withId(id: string): LogRecord | null {
    this.#catchUp()
    return this.#byId.get(id) ?? null
  }

  withDedupeKey(key: string): LogRecord | null {
    this.#catchUp()
    return this.#byDedupeKey.get(key) ?? null
  }

  domains(): ReadonlyMap<string, readonly LogRecord[]> {
    this.#catchUp()
    return this.#byDomain
  }

  /** Payloads are parsed only for reads by `about`. */
  about(ref: string): readonly LogRecord[] {
    for (; this.#referred < this.#records.length; this.#referred += 1) {
      const record = this.#records[this.#referred]
      if (record !== undefined) for (const name of refsIn(record)) push(this.#byRef, name, record)
    }
    return this.#byRef.get(ref) ?? []
  }

  #catchUp(): void {
    for (; this.#indexed < this.#records.length; this.#indexed += 1) {
      const record = this.#records[this.#indexed]
      if (record === undefined) continue
      this.#byId.set(record.id, record)
      if (record.dedupeKey !== null) this.#byDedupeKey.set(record.dedupeKey, record)
      push(this.#byDomain, domainOf(record.type), record)
    }
  }
}

const push = (lists: Map<string, LogRecord[]>, name: string, record: LogRecord): void => {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [record])
  else list.push(record)
}

/** A damaged payload is reported by verification; until then it is about nothing. */
const refsIn = (record: LogRecord): readonly string[] => {
  try {
    return refsOf(stampedFrom(record))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}

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
