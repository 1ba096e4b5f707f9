import { prepareBulkInsert, type BulkInsert } from './bulk-insert.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement, type Value } from './database.ts'
import type { Order, SeqBounds } from './seq-bounds.ts'

/**
 * Which events are about which ref. The log is divided into buckets of so many events, and keys are sorted only inside
 * one: whatever a new event is about, its entry lands on one of the few pages of the newest bucket. Sorted over the
 * whole log, each entry would dirty a page of its own.
 *
 * One row holds all events of one append that share a ref: the first by its seq, the later ones by their distance to
 * it. Most refs come many times in a batch (a symbol, a source), and a row costs as much as half an event.
 */
export const ABOUT_TABLE = `
CREATE TABLE about (
  bucket INTEGER, k INTEGER, seq INTEGER, later BLOB, PRIMARY KEY (bucket, k, seq)
) STRICT, WITHOUT ROWID;`

export const BUCKET_EVENTS = 16_384

/** Collects what one append is about, and stores it. */
export class AboutWriter {
  readonly #insert: BulkInsert
  #seqsOf = new Map<number, number[]>()

  constructor(db: Database) {
    this.#insert = prepareBulkInsert(db, 'about', 4)
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

/** Finds the seqs again, bucket by bucket. */
export class AboutReader {
  readonly #newestBucket: Statement
  readonly #rowBefore: Statement
  readonly #rows: Readonly<Record<Order, Statement>>

  constructor(db: Database) {
    const rows = (order: Order): Statement =>
      prepareRows(
        db,
        `SELECT seq, later FROM about WHERE bucket = ? AND k = ? AND seq >= ? AND seq < ? ORDER BY seq ${order} LIMIT ?`,
      )
    this.#newestBucket = prepareRows(db, 'SELECT max(bucket) FROM about')
    this.#rowBefore = prepareRows(db, 'SELECT max(seq) FROM about WHERE bucket = ? AND k = ? AND seq <= ?')
    this.#rows = { asc: rows('asc'), desc: rows('desc') }
  }

  /** At least `count` seqs within the bounds, in order, if there are so many; some more come for free. */
  seqs(key: number, bounds: SeqBounds, order: Order, count: number): readonly number[] {
    const newest = (firstRow(this.#newestBucket)?.[0] ?? -1) as number
    const first = Math.max(0, bucketOf(bounds.after))
    const last = Math.min(newest, bucketOf(bounds.before))
    const seqs: number[] = []
    for (let step = 0; step <= last - first && seqs.length < count; step += 1) {
      this.#collect(seqs, order === 'asc' ? first + step : last - step, key, bounds, order, count)
    }
    return seqs
  }

  #collect(
    seqs: number[],
    bucket: number,
    key: number,
    { after, before }: SeqBounds,
    order: Order,
    count: number,
  ): void {
    // Events behind `after` may stand in a row that begins before it.
    const from =
      bucket === bucketOf(after) ? (firstRow(this.#rowBefore, bucket, key, after)?.[0] ?? after) : after
    // That row may turn out to hold none, so one more is asked for.
    const limit = count - seqs.length + 1
    for (const row of allRows(this.#rows[order], bucket, key, from, before, limit)) {
      const [start, later] = row as [number, Uint8Array | null]
      const group = later === null ? [start] : [start, ...seqsIn(start, later)]
      for (const seq of order === 'asc' ? group : group.reverse()) {
        if (seq > after && seq < before) seqs.push(seq)
      }
    }
  }
}

const DISTANCE_BYTES = 2

const bucketOf = (seq: number): number => Math.floor(seq / BUCKET_EVENTS)

/** Seqs stay in the bucket of the first of their row: then every distance fits into its two bytes. */
const pushRows = (values: Value[], key: number, seqs: readonly number[]): void => {
  const [first] = seqs
  if (first === undefined) return
  const bucket = bucketOf(first)
  const beyond = seqs.findIndex((seq) => bucketOf(seq) !== bucket)
  const group = beyond === -1 ? seqs : seqs.slice(0, beyond)
  values.push(bucket, key, first, group.length === 1 ? null : distancesIn(group, first))
  if (beyond !== -1) pushRows(values, key, seqs.slice(beyond))
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
