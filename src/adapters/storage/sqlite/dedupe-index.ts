import { setImmediate } from 'node:timers/promises'
import type { LogRecord } from '../../../core/log/event.ts'
import { Bloom } from './bloom.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { dedupeHash } from './dedupe-hash.ts'
import { chunkId, RUN_KEYS, seqsInChunk, type RunPlace } from './sorted-run.ts'

/**
 * Where a dedupe key may stand, for the reading side: in a sealed run, of which a Bloom filter is kept in memory, or
 * behind the last one, where every hash is. Read from the tables when it is first asked, and always up to the newest
 * event, whoever stored it. Candidates are no proof: the caller compares the keys.
 */
export class DedupeIndex {
  readonly #runKeys: number
  readonly #newRuns: Statement
  readonly #chunk: Statement
  readonly #storedKeys: Statement
  readonly #runs: SealedRun[] = []
  /** The keys of the runs to come, in order; all but the last are full. */
  #recent: RecentKeys[] = []
  #readUpTo = 0
  #inUse = false

  constructor(db: Database, runKeys = RUN_KEYS) {
    this.#runKeys = runKeys
    this.#newRuns = prepareRows(
      db,
      `SELECT run, last_seq, bloom FROM dedupe_runs WHERE run > ? ORDER BY run LIMIT ${RUNS_PER_STEP}`,
    )
    this.#chunk = prepareRows(
      db,
      'SELECT entries FROM dedupe WHERE id >= ? AND id <= ? ORDER BY id DESC LIMIT 1',
    )
    this.#storedKeys = prepareRows(
      db,
      `SELECT seq, dedupe_key FROM events WHERE seq > ? ORDER BY seq LIMIT ${EVENTS_PER_STEP}`,
    )
  }

  /** The seqs at which each key may stand, oldest first. */
  async candidates(keys: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.#inUse = true
    while (!this.#catchUp()) await setImmediate()
    return keys.map((key) => this.#seqsOf(dedupeHash(key)))
  }

  /** Tells of own events, which then need not be read. */
  note(records: readonly LogRecord[]): void {
    // As long as nobody asks, nothing is kept; then what is missing is read after all.
    if (!this.#inUse || this.#recent.length > RECENT_MAX) return
    for (const { seq, dedupeKey } of records) {
      if (seq !== this.#readUpTo + 1) return
      this.#add(seq, dedupeKey)
    }
  }

  #seqsOf(hash: number): readonly number[] {
    const seqs: number[] = []
    for (const run of this.#runs) {
      if (!run.bloom.mayHave(hash)) continue
      const chunk = firstRow(this.#chunk, chunkId(run.run, 0), chunkId(run.run, hash))
      if (chunk !== undefined) seqs.push(...seqsInChunk(chunk[0] as Uint8Array, hash, run))
    }
    for (const keys of this.#recent) seqs.push(...keys.seqsOf(hash))
    return seqs
  }

  /** Reads as much as takes a few milliseconds. True when nothing is left to read. */
  #catchUp(): boolean {
    const newRuns = allRows(this.#newRuns, this.#runs.at(-1)?.run ?? 0) as [number, number, Uint8Array][]
    for (const [run, lastSeq, bloom] of newRuns) {
      this.#runs.push({ run, afterSeq: this.#runs.at(-1)?.lastSeq ?? 0, lastSeq, bloom: new Bloom(bloom) })
      if (this.#recent[0]?.lastSeq === lastSeq) this.#recent.shift()
      else this.#restartBehind(lastSeq)
    }
    if (newRuns.length === RUNS_PER_STEP) return false
    const events = allRows(this.#storedKeys, this.#readUpTo) as [number, string | null][]
    for (const [seq, key] of events) this.#add(seq, key)
    return events.length < EVENTS_PER_STEP
  }

  #add(seq: number, key: string | null): void {
    this.#readUpTo = seq
    if (key === null) return
    let last = this.#recent.at(-1)
    if (last === undefined || last.size === this.#runKeys) {
      last = new RecentKeys()
      this.#recent.push(last)
    }
    last.add(dedupeHash(key), seq)
  }

  #restartBehind(seq: number): void {
    this.#recent = []
    this.#readUpTo = seq
  }
}

const RUNS_PER_STEP = 64
const EVENTS_PER_STEP = 2000
const RECENT_MAX = 3

interface SealedRun extends RunPlace {
  readonly lastSeq: number
  readonly bloom: Bloom
}

class RecentKeys {
  readonly #seqs = new Map<number, number>()
  /** The few hashes that came more than once. */
  readonly #repeated: { readonly hash: number; readonly seq: number }[] = []
  lastSeq = 0
  size = 0

  add(hash: number, seq: number): void {
    if (this.#seqs.has(hash)) this.#repeated.push({ hash, seq })
    else this.#seqs.set(hash, seq)
    this.lastSeq = seq
    this.size += 1
  }

  seqsOf(hash: number): readonly number[] {
    const first = this.#seqs.get(hash)
    if (first === undefined) return []
    return [first, ...this.#repeated.filter((other) => other.hash === hash).map(({ seq }) => seq)]
  }
}
