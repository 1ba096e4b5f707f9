import { Bloom } from './bloom.ts'
import { prepareBulkInsert, type BulkInsert } from './bulk-insert.ts'
import {
  prepare,
  allRows,
  firstRow,
  prepareRows,
  type Database,
  type Statement,
  type Value,
} from './database.ts'
import { dedupeHash } from './dedupe-hash.ts'

/** Keys per run. Which keys are in a run follows from the log alone: the next so many behind the run before. */
export const RUN_KEYS = 65_536

/** Keys that were stored in this transaction, behind `afterSeq` and up to `lastSeq`. */
export interface StoredKeys {
  readonly afterSeq: number
  readonly lastSeq: number
  readonly hashes: readonly number[]
  readonly seqs: readonly number[]
}

/**
 * Writes the sorted runs, by which old dedupe keys are found. A unique index would dirty a page for every key;
 * a run is written in its own order, some rows with every append. All of it happens inside the transaction of an
 * append, and what is missing is read from the tables: any process may go on where another one stopped.
 */
export class DedupeRuns {
  readonly #newestRun: Statement
  readonly #storedKeys: Statement
  readonly #lastWritten: Statement
  readonly #insert: BulkInsert
  readonly #seal: Statement
  /** The newest sealed run, up to which keys are found in `dedupe`. */
  #sealed = { run: 0, lastSeq: 0 }
  /** Keys behind it, as far as they were read. */
  #hashes: number[] = []
  #seqs: number[] = []
  #readUpTo = 0
  #run: SortedRun | null = null

  constructor(db: Database) {
    this.#newestRun = prepareRows(db, 'SELECT run, last_seq FROM dedupe_runs ORDER BY run DESC LIMIT 1')
    this.#storedKeys = prepareRows(
      db,
      'SELECT seq, dedupe_key FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
    )
    this.#lastWritten = prepareRows(
      db,
      'SELECT k, seq FROM dedupe WHERE run = ? ORDER BY k DESC, seq DESC LIMIT 1',
    )
    this.#insert = prepareBulkInsert(db, 'dedupe', 3)
    this.#seal = prepare(db, 'INSERT INTO dedupe_runs (run, last_seq, bloom) VALUES (?, ?, ?)')
  }

  /** Called at the end of the transaction in which these keys were stored. */
  step(stored: StoredKeys): void {
    this.#noticeSealed()
    this.#take(stored)
    if (this.#seqs.length < RUN_KEYS) return
    this.#run ??= sortRun(this.#hashes, this.#seqs)
    this.#write(this.#run, ROWS_PER_STEP_MIN + ROWS_PER_KEY * stored.seqs.length)
  }

  /** After a rollback: nothing that was seen inside it is true. */
  forget(): void {
    this.#sealed = { run: 0, lastSeq: 0 }
    this.#drop()
    this.#readUpTo = 0
  }

  #noticeSealed(): void {
    const [run, lastSeq] = (firstRow(this.#newestRun) ?? [0, 0]) as [number, number]
    if (run === this.#sealed.run) return
    this.#sealed = { run, lastSeq }
    const covered = this.#seqs.findIndex((seq) => seq > lastSeq)
    if (covered === -1) this.#drop()
    else {
      this.#hashes = this.#hashes.slice(covered)
      this.#seqs = this.#seqs.slice(covered)
      this.#run = null
    }
    this.#readUpTo = Math.max(this.#readUpTo, lastSeq)
  }

  #take({ afterSeq, lastSeq, hashes, seqs }: StoredKeys): void {
    if (this.#readUpTo === afterSeq) {
      for (const hash of hashes) this.#hashes.push(hash)
      for (const seq of seqs) this.#seqs.push(seq)
      this.#readUpTo = lastSeq
      return
    }
    // Another process stored some, or this one has just started: catch up in steps that nobody notices.
    const rows = allRows(this.#storedKeys, this.#readUpTo, READ_PER_STEP_MIN + READ_PER_KEY * seqs.length)
    for (const [seq, key] of rows as [number, string | null][]) {
      this.#readUpTo = seq
      if (key === null) continue
      this.#hashes.push(dedupeHash(key))
      this.#seqs.push(seq)
    }
  }

  #write(sorted: SortedRun, rowsMax: number): void {
    const run = this.#sealed.run + 1
    const last = firstRow(this.#lastWritten, run) as [number, number] | undefined
    const from = last === undefined ? 0 : sorted.countUpTo(last[0], last[1])
    const to = Math.min(from + rowsMax, RUN_KEYS)
    this.#insert(sorted.rows(run, from, to))
    if (to === RUN_KEYS) this.#seal.run(run, sorted.lastSeq, sorted.bloom())
  }

  #drop(): void {
    this.#hashes = []
    this.#seqs = []
    this.#run = null
  }
}

/** Enough to finish a run long before the next one is full, however small the appends. */
const ROWS_PER_STEP_MIN = 64
const ROWS_PER_KEY = 2
/** About a millisecond, and more than is added meanwhile. */
const READ_PER_STEP_MIN = 1024
const READ_PER_KEY = 8

interface SortedRun {
  readonly lastSeq: number
  /** How many entries stand up to this one. */
  countUpTo(hash: number, seq: number): number
  /** The values of the rows [from, to). */
  rows(run: number, from: number, to: number): readonly Value[]
  bloom(): Uint8Array
}

/** The first keys, by hash and then seq. Both are packed into one number each: those sort without a call per pair. */
const sortRun = (hashes: readonly number[], seqs: readonly number[]): SortedRun => {
  const entries = Float64Array.from(
    { length: RUN_KEYS },
    (_, index) => (hashOf(index) + HASH_MIN) * RUN_KEYS + index,
  )
  entries.sort()
  function hashOf(index: number): number {
    return hashes[index] ?? 0
  }
  const indexAt = (place: number): number => (entries[place] ?? 0) % RUN_KEYS
  const comesAfter = (place: number, hash: number, seq: number): boolean => {
    const index = indexAt(place)
    return hashOf(index) > hash || (hashOf(index) === hash && (seqs[index] ?? 0) > seq)
  }
  return {
    lastSeq: seqs[RUN_KEYS - 1] ?? 0,
    countUpTo: (hash, seq) => {
      let low = 0
      let high = RUN_KEYS
      while (low < high) {
        const middle = (low + high) >>> 1
        if (comesAfter(middle, hash, seq)) high = middle
        else low = middle + 1
      }
      return low
    },
    rows: (run, from, to) => {
      const values: Value[] = []
      for (let place = from; place < to; place += 1) {
        const index = indexAt(place)
        values.push(run, hashOf(index), seqs[index] ?? 0)
      }
      return values
    },
    bloom: () => {
      const bloom = new Bloom()
      for (let index = 0; index < RUN_KEYS; index += 1) bloom.add(hashOf(index))
      return bloom.bytes
    },
  }
}

const HASH_MIN = 2 ** 31
