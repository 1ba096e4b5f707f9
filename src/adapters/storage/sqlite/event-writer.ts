import { domainOf } from '../../../core/log/domain.ts'
import { refKey, refsInText } from '../../../core/log/refs.ts'
import type { AppendResult } from '../../../ports/event-log.ts'
import { AboutWriter } from './about-index.ts'
import { decodeBatch, FIELD_COUNT, FIELDS, lastHashOf, valueOf, type Batch } from './batch.ts'
import { prepareBulkInsert, type BulkInsert } from './bulk-insert.ts'
import { prepare, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { dedupeHash } from './dedupe-hash.ts'
import { DedupeRuns } from './dedupe-runs.ts'
import { NameNumbers } from './dictionary.ts'
import { prepareInsertEvents, type InsertEvents, type RowNumbers } from './insert-events.ts'
import { SnapshotShelf, type SnapshotPiece } from './snapshots.ts'
import { millisOf } from './time-text.ts'

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

  /** The head is compared under the write lock: that is what keeps several processes from forking the chain. */
  append(batch: Batch): AppendResult {
    const pieces = decodeBatch(batch)
    this.#db.exec('BEGIN IMMEDIATE')
    const [seq, hash] = firstRow(this.#head) ?? [0, '']
    if (seq !== batch.expected.seq || hash !== batch.expected.hash) {
      this.#db.exec('ROLLBACK')
      return { status: 'head-moved' }
    }
    if (batch.count > 0) this.#insert(pieces, batch)
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

  #insert(pieces: readonly string[], { expected, count }: Batch): void {
    const rows: RowNumbers[] = []
    const counts = new Map<number, number>()
    const signalTimes: number[] = []
    const hashes: number[] = []
    const keySeqs: number[] = []
    for (let index = 0; index < count; index += 1) {
      const at = index * FIELD_COUNT
      const seq = expected.seq + 1 + index
      const type = pieces[at + FIELDS.type] ?? ''
      const signer = valueOf(pieces[at + FIELDS.signer])
      const domain = this.#domains.numberOf(domainOf(type))
      rows.push({
        domain,
        signer: signer === null ? null : this.#nodes.numberOf(signer),
        recordedAtMs: timeOf(pieces[at + FIELDS.recordedAt], seq),
      })
      counts.set(domain, (counts.get(domain) ?? 0) + 1)
      if (type.startsWith('signal.')) signalTimes.push(domain, timeOf(pieces[at + FIELDS.ts], seq), seq)
      for (const ref of refsIn(pieces, at, type)) this.#about.add(refKey(ref), seq)
      const dedupeKey = valueOf(pieces[at + FIELDS.dedupeKey])
      if (dedupeKey === null) continue
      hashes.push(dedupeHash(dedupeKey))
      keySeqs.push(seq)
    }
    this.#insertEvents(pieces, rows, expected)
    this.#insertSignalTimes(signalTimes)
    this.#about.store()
    for (const [domain, added] of counts) this.#count.run(domain, added)
    this.#runs.step({ afterSeq: expected.seq, lastSeq: expected.seq + count, hashes, seqs: keySeqs })
  }
}

const timeOf = (text: string | undefined, seq: number): number => {
  const millis = millisOf(text ?? '')
  if (millis === null) throw new Error(`record ${seq} has no timestamp of the one form: ${text}`)
  return millis
}

const refsIn = (pieces: readonly string[], at: number, type: string): readonly string[] =>
  refsInText({
    type,
    source: valueOf(pieces[at + FIELDS.source]),
    traceId: valueOf(pieces[at + FIELDS.traceId]),
    payload: pieces[at + FIELDS.payload] ?? '',
  })
