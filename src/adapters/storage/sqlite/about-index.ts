import { prepareBulkInsert, type BulkInsert } from './bulk-insert.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement, type Value } from './database.ts'
import type { Order, SeqBounds } from './seq-bounds.ts'

/**
 * Which events are about which ref. One row holds all events of one append that share a ref: the first by its seq,
 * the later ones by their distance to it. Most refs come many times in a batch (a symbol, a source), and a row costs
 * as much as half an event.
 */
export const ABOUT_TABLE = `
CREATE TABLE about (k INTEGER, seq INTEGER, later BLOB, PRIMARY KEY (k, seq)) STRICT, WITHOUT ROWID;`

/** Collects what one append is about, and stores it. */
export class AboutWriter {
  readonly #insert: BulkInsert
  #seqsOf = new Map<number, number[]>()

  constructor(db: Database) {
    this.#insert = prepareBulkInsert(db, 'about', 3)
  }

  /** Seqs have to come in order. */
  add(key: number, seq: number): void {
    const seqs = this.#seqsOf.get(key)
    if (seqs === undefined) this.#seqsOf.set(key, [seq])
    // Several refs of one event may share a key.
    else if (seqs.at(-1) !== seq) seqs.push(seq)
  }

  store(): void {
    const values: Value[] = []
    for (const [key, seqs] of this.#seqsOf) pushRows(values, key, seqs)
    this.forget()
    this.#insert(values)
  }

  forget(): void {
    this.#seqsOf = new Map()
  }
}

/** Finds the seqs again. */
export class AboutReader {
  readonly #rows: Readonly<Record<Order, Statement>>
  readonly #rowBefore: Statement

  constructor(db: Database) {
    const rows = (order: Order): Statement =>
      prepareRows(
        db,
        `SELECT seq, later FROM about WHERE k = ? AND seq >= ? AND seq < ? ORDER BY seq ${order} LIMIT ?`,
      )
    this.#rows = { asc: rows('asc'), desc: rows('desc') }
    this.#rowBefore = prepareRows(db, 'SELECT max(seq) FROM about WHERE k = ? AND seq <= ?')
  }

  /** At least `count` seqs within the bounds, in order, if there are so many; some more come for free. */
  seqs(key: number, { after, before }: SeqBounds, order: Order, count: number): readonly number[] {
    // Events behind `after` may stand in a row that begins before it.
    const from = (firstRow(this.#rowBefore, key, after)?.[0] ?? after) as number
    // That row may turn out to hold none, so one more is asked for.
    const rows = allRows(this.#rows[order], key, from, before, count + 1) as [number, Uint8Array | null][]
    const seqs: number[] = []
    for (const [first, later] of rows) {
      const group = later === null ? [first] : [first, ...seqsIn(first, later)]
      for (const seq of order === 'asc' ? group : group.reverse()) {
        if (seq > after && seq < before) seqs.push(seq)
      }
    }
    return seqs
  }
}

const DISTANCE_BYTES = 2
const DISTANCE_MAX = 0xffff

const pushRows = (values: Value[], key: number, seqs: readonly number[]): void => {
  const [first] = seqs
  if (first === undefined) return
  const tooFar = seqs.findIndex((seq) => seq - first > DISTANCE_MAX)
  const group = tooFar === -1 ? seqs : seqs.slice(0, tooFar)
  values.push(key, first, group.length === 1 ? null : distancesIn(group, first))
  if (tooFar !== -1) pushRows(values, key, seqs.slice(tooFar))
}

const distancesIn = (seqs: readonly number[], first: number): Uint8Array => {
  const bytes = Buffer.allocUnsafe((seqs.length - 1) * DISTANCE_BYTES)
  for (let index = 1; index < seqs.length; index += 1) {
    bytes.writeUInt16BE((seqs[index] ?? first) - first, (index - 1) * DISTANCE_BYTES)
  }
  return bytes
}

const seqsIn = (first: number, distances: Uint8Array): readonly number[] => {
  const view = new DataView(distances.buffer, distances.byteOffset, distances.byteLength)
  return Array.from(
    { length: distances.byteLength / DISTANCE_BYTES },
    (_, index) => first + view.getUint16(index * DISTANCE_BYTES),
  )
}
