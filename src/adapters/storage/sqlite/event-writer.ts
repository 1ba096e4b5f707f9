import type { AppendResult } from '../../../ports/event-log.ts'
import { AboutWriter } from './about-index.ts'
import { lastHashOf, NUMBER_COUNT, NUMBERS, type Batch } from './batch.ts'
import { prepareBulkInsert, type BulkInsert } from './bulk-insert.ts'
import { prepare, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { DedupeRuns } from './dedupe-runs.ts'
import { NameNumbers } from './dictionary.ts'
import { prepareInsertEvents, type InsertEvents } from './insert-events.ts'
import { SnapshotShelf, type SnapshotPiece } from './snapshots.ts'

/** Everything that one connection writes. After an error it has to be rolled back before it goes on. */
export class EventWriter {
  readonly #db: Database
  readonly #head: Statement
  readonly #hashAt: Statement
  readonly #insertEvents: InsertEvents
  readonly #about: AboutWriter
  readonly #insertSignalTimes: BulkInsert
  readonly #count: Statement
  readonly #domains: NameNumbers
  readonly #nodes: NameNumbers
  readonly #runs: DedupeRuns
  readonly #shelf: SnapshotShelf

  constructor(db: Database, runKeys?: number) {
    this.#db = db
    this.#head = prepareRows(db, 'SELECT seq, lower(hex(hash)) FROM events ORDER BY seq DESC LIMIT 1')
    this.#hashAt = prepareRows(db, 'SELECT lower(hex(hash)) FROM events WHERE seq = ?')
    this.#insertEvents = prepareInsertEvents(db)
    this.#about = new AboutWriter(db)
    this.#insertSignalTimes = prepareBulkInsert(db, 'signal_times', 3)
    this.#count = prepare(
      db,
      'INSERT INTO counters VALUES (?, ?) ON CONFLICT (dom) DO UPDATE SET n = n + excluded.n',
    )
    this.#domains = new NameNumbers(db, 'domain')
    this.#nodes = new NameNumbers(db, 'node')
    this.#runs = new DedupeRuns(db, runKeys)
    this.#shelf = new SnapshotShelf(db)
  }

  /**
   * Stores batches that follow each other in one transaction. The head is compared under the write lock: that is what
   * keeps several processes from forking the chain.
   */
  append(...batches: readonly [Batch, ...Batch[]]): AppendResult {
    this.#db.exec('BEGIN IMMEDIATE')
    const [seq, hash] = firstRow(this.#head) ?? [0, '']
    const { expected } = batches[0]
    if (seq !== expected.seq || hash !== expected.hash) {
      this.#db.exec('ROLLBACK')
      return { status: 'head-moved' }
    }
    for (const batch of batches) this.#insert(batch)
    this.#about.store()
    this.#db.exec('COMMIT')
    return { status: 'appended' }
  }

  /** Whether exactly these records are stored. */
  holds(batch: Batch): boolean {
    const [hash] = firstRow(this.#hashAt, batch.expected.seq + batch.count) ?? []
    return batch.count > 0 && hash === lastHashOf(batch)
  }

  savePiece(piece: SnapshotPiece): void {
    this.#db.exec('BEGIN IMMEDIATE')
    this.#shelf.put(piece)
    this.#db.exec('COMMIT')
  }

  /** Undoes what was begun, and forgets what was seen inside it. */
  rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    this.#domains.forget()
    this.#nodes.forget()
    this.#about.forget()
    this.#runs.forget()
  }

  #insert(batch: Batch): void {
    const { expected, count, numbers, refs } = batch
    const domains = batch.domains.map((name) => this.#domains.numberOf(name))
    const signers = batch.signers.map((name) => this.#nodes.numberOf(name))
    const counts = domains.map(() => 0)
    const signalTimes: number[] = []
    const hashes: number[] = []
    const keySeqs: number[] = []
    for (let place = 0; place < count; place += 1) {
      const at = place * NUMBER_COUNT
      const seq = expected.seq + 1 + place
      const domain = numbers[at + NUMBERS.domain] as number
      const tsMs = numbers[at + NUMBERS.tsMs] as number
      const dedupeHash = numbers[at + NUMBERS.dedupeHash] as number
      counts[domain] = (counts[domain] ?? 0) + 1
      if (!Number.isNaN(tsMs)) signalTimes.push(domains[domain] as number, tsMs, seq)
      if (Number.isNaN(dedupeHash)) continue
      hashes.push(dedupeHash)
      keySeqs.push(seq)
    }
    for (let at = 0; at < refs.length; at += 2) {
      this.#about.add(refs[at + 1] as number, expected.seq + 1 + (refs[at] as number))
    }
    this.#insertEvents(batch, { domains, signers })
    this.#insertSignalTimes(signalTimes)
    for (const [place, added] of counts.entries()) this.#count.run(domains[place], added)
    this.#runs.step({ afterSeq: expected.seq, lastSeq: expected.seq + count, hashes, seqs: keySeqs })
  }
}
