import { allRows, firstRow, prepare, prepareRows, type Database, type Statement } from './database.ts'
import { dedupeHash } from './dedupe-hash.ts'
import { chunkId, RUN_KEYS, sortRun, type SortedRun } from './sorted-run.ts'

/** Keys that were stored in this transaction, behind `afterSeq` and up to `lastSeq`. */
export interface StoredKeys {
  readonly afterSeq: number
  readonly lastSeq: number
  readonly hashes: readonly number[]
  readonly seqs: readonly number[]
}

/**
 * Writes the sorted runs, by which old dedupe keys are found. A unique index would dirty a page for every key; a run
 * is written in its own order, a piece with every append. All of it happens inside the transaction of an append, and
 * what is missing is read from the tables: any process may go on where another one stopped.
 */
export class DedupeRuns {
  readonly #runKeys: number
  readonly #newestRun: Statement
  readonly #storedKeys: Statement
  readonly #lastChunk: Statement
  readonly #insertChunk: Statement
  readonly #dropChunks: Statement
  readonly #seal: Statement
  /** The newest sealed run, up to which keys are found in `dedupe`. */
  #sealed = { run: 0, lastSeq: 0 }
  /** Keys behind it, as far as they were read. */
  #hashes: number[] = []
  #seqs: number[] = []
  #readUpTo = 0
  #unfinished: SortedRun | null = null

  constructor(db: Database, runKeys = RUN_KEYS) {
    this.#runKeys = runKeys
    this.#newestRun = prepareRows(db, 'SELECT run, last_seq FROM dedupe_runs ORDER BY run DESC LIMIT 1')
    this.#storedKeys = prepareRows(
      db,
      'SELECT seq, dedupe_key FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
    )
    this.#lastChunk = prepareRows(db, 'SELECT max(id) FROM dedupe WHERE id >= ?')
    this.#insertChunk = prepare(db, 'INSERT INTO dedupe (id, entries) VALUES (?, ?)')
    this.#dropChunks = prepare(db, 'DELETE FROM dedupe WHERE id >= ?')
    this.#seal = prepare(db, 'INSERT INTO dedupe_runs (run, last_seq, bloom) VALUES (?, ?, ?)')
  }

  /** Called at the end of the transaction in which these keys were stored. */
  step(stored: StoredKeys): void {
    this.#noticeSealed()
    this.#take(stored)
    if (this.#seqs.length >= this.#runKeys)
      this.#write(CHUNKS_PER_STEP_MIN + stored.seqs.length / KEYS_PER_CHUNK)
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
      this.#unfinished = null
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

  #write(chunksMax: number): void {
    const run = this.#sealed.run + 1
    this.#unfinished ??= sortRun(
      { run, afterSeq: this.#sealed.lastSeq },
      this.#hashes.slice(0, this.#runKeys),
      this.#seqs.slice(0, this.#runKeys),
    )
    const { chunkIds, lastSeq } = this.#unfinished
    // Another process may have gone on with it, so the table says how far it is.
    const lastId = firstRow(this.#lastChunk, chunkId(run, 0))?.[0] ?? null
    const from = lastId === null ? 0 : chunkIds.indexOf(lastId as number) + 1
    // Somebody changed keys behind our back, which verification will tell: what was written is of no use.
    if (lastId !== null && from === 0) this.#dropChunks.run(chunkId(run, 0))
    const to = Math.min(from + Math.ceil(chunksMax), chunkIds.length)
    for (let chunk = from; chunk < to; chunk += 1) {
      this.#insertChunk.run(chunkIds[chunk], this.#unfinished.entriesOf(chunk))
    }
    if (to === chunkIds.length) this.#seal.run(run, lastSeq, this.#unfinished.bloom())
  }

  #drop(): void {
    this.#hashes = []
    this.#seqs = []
    this.#unfinished = null
  }
}

/** Enough to finish a run long before the next one is full, however small the appends. */
const CHUNKS_PER_STEP_MIN = 1
const KEYS_PER_CHUNK = 125
/** About a millisecond, and more than is added meanwhile. */
const READ_PER_STEP_MIN = 1024
const READ_PER_KEY = 8
