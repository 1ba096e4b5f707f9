import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { hasTypePrefix, type Head, type LogRecord } from '../../../core/log/event.ts'
import {
  type AppendResult,
  type ChainReport,
  type EventLog,
  type LogQuery,
  type Snapshot,
  StoreUnavailableError,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { encodeBatch } from './batch.ts'
import { Checkpointer } from './wal-checkpointer.ts'
import { allRows, type Database, prepareRows, type Statement, unavailable } from './database.ts'
import { DedupeIndex } from './dedupe-index.ts'
import { KnownNames } from './dictionary.ts'
import { RecordFinder } from './find-records.ts'
import { openDatabase } from './open-database.ts'
import { Records } from './records.ts'
import { SignalsByTime } from './signals-by-time.ts'
import { piecesOf, prepareLoadSnapshot } from './snapshots.ts'
import { reportOf, VERIFY_HERE_MAX, verifyInThreads } from './verify.ts'
import { SliceVerifier } from './verify-slice.ts'
import { Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

/** Opens the log in this file, and makes file and folder if they are missing. */
export const openSqliteLog = async ({ path }: { readonly path: string }): Promise<EventLog> =>
  new SqliteLog(path, await openDatabase(path))

/** One SQLite file. Several processes may use it at once: each append compares the head under the write lock. */
class SqliteLog implements EventLog {
  readonly kind = 'sqlite'
  readonly #path: string
  readonly #db: Database
  readonly #records: Records
  readonly #finder: RecordFinder
  readonly #signals: SignalsByTime
  readonly #dedupe: DedupeIndex
  readonly #counts: Statement
  readonly #loadSnapshot: (stateVersion: string) => Snapshot | null
  readonly #verifier: SliceVerifier
  readonly #watcher: Watcher
  readonly #writer: Writer
  readonly #checkpointer: Checkpointer
  readonly #closing = new AbortController()

  constructor(path: string, db: Database) {
    const names = new KnownNames(db)
    this.#path = path
    this.#db = db
    this.#records = new Records(db, names)
    this.#finder = new RecordFinder(db, this.#records, names)
    this.#signals = new SignalsByTime(db, this.#records, names)
    this.#dedupe = new DedupeIndex(db)
    this.#counts = prepareRows(db, 'SELECT name, n FROM counters JOIN dict ON dict.id = counters.dom')
    this.#loadSnapshot = prepareLoadSnapshot(db)
    this.#verifier = new SliceVerifier(db)
    this.#watcher = new Watcher(db)
    this.#writer = new Writer(path)
    this.#checkpointer = new Checkpointer(path)
  }

  head(): Promise<Head> {
    return this.#read(() => this.#records.head())
  }

  async append(records: readonly LogRecord[], expected: Head): Promise<AppendResult> {
    this.#assertOpen()
    const result = await this.#writer.append(encodeBatch(records, expected))
    if (result.status === 'head-moved' || records.length === 0) return result
    this.#checkpointer.note()
    this.#dedupe.note(records)
    this.#watcher.tell()
    return result
  }

  read(query: LogQuery): Promise<readonly LogRecord[]> {
    return this.#read(() => this.#finder.find(query))
  }

  readByTime(query: Parameters<EventLog['readByTime']>[0]): Promise<readonly LogRecord[]> {
    return this.#read(() => this.#signals.read(query))
  }

  async count(typePrefix?: string): Promise<number> {
    if (typePrefix !== undefined && typePrefix.split('.').length > 2) {
      throw new Error(`${typePrefix} is no domain and no category`)
    }
    let count = 0
    for (const [domain, events] of await this.countByDomain()) {
      if (typePrefix === undefined || hasTypePrefix(domain, typePrefix)) count += events
    }
    return count
  }

  countByDomain(): Promise<ReadonlyMap<string, number>> {
    return this.#read(() => new Map(allRows(this.#counts) as [string, number][]))
  }

  get(id: string): Promise<LogRecord | null> {
    return this.#read(() => this.#records.withId(id))
  }

  findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>> {
    return this.#read(async () => {
      const wanted = new Set(keys)
      const seqs = (await this.#dedupe.candidates([...wanted])).flat()
      const found = new Map<string, LogRecord>()
      for (const record of this.#records.at(seqs)) {
        const { dedupeKey } = record
        if (dedupeKey !== null && wanted.has(dedupeKey) && !found.has(dedupeKey)) found.set(dedupeKey, record)
      }
      return found
    })
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    this.#assertOpen()
    for (const piece of piecesOf(snapshot)) {
      await this.#writer.savePiece(piece)
      this.#checkpointer.note()
    }
  }

  loadSnapshot(stateVersion: string): Promise<Snapshot | null> {
    return this.#read(() => this.#loadSnapshot(stateVersion))
  }

  watch(onAppended: () => void): () => void {
    this.#assertOpen()
    return this.#watcher.watch(onAppended)
  }

  async *scan({
    after,
    upTo,
  }: {
    readonly after: number
    readonly upTo: number
  }): AsyncIterable<readonly LogRecord[]> {
    for (let last = after; ;) {
      const page = await this.#read(() =>
        this.#records.between({ after: last, before: upTo + 1 }, 'asc', SCAN_PAGE),
      )
      const end = page.at(-1)
      if (end === undefined) return
      yield page
      last = end.seq
      // A consumer that does not wait would otherwise leave no room for others.
      await setImmediate()
    }
  }

  async verifyHashes(range: VerifyRange): Promise<ChainReport> {
    this.#assertOpen()
    if (range.upTo - range.after > VERIFY_HERE_MAX) {
      return verifyInThreads(this.#path, range, { signal: this.#closing.signal })
    }
    const report = await this.#read(() => reportOf(this.#verifier.verify(range), range))
    range.onProgress?.(report.checked)
    return report
  }

  async sizeBytes(): Promise<number> {
    return (await stat(this.#path)).size
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#watcher.close()
    // The writer goes last: who closes last leaves everything in one file, with an empty journal beside it.
    this.#db.close()
    await this.#checkpointer.close()
    await this.#writer.close()
  }

  async #read<Result>(read: () => Result | Promise<Result>): Promise<Result> {
    this.#assertOpen()
    try {
      return await read()
    } catch (error) {
      this.#assertOpen()
      throw unavailable('read', this.#path, error)
    }
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailableError(`${this.#path} is closed`)
  }
}

/** Read in less than a millisecond. Larger pages save next to nothing, and everything else would wait for them. */
const SCAN_PAGE = 100
