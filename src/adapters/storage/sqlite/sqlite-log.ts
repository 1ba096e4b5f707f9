import { stat } from 'node:fs/promises'
import type { Head, LogRecord } from '../../../core/log/event.ts'
import type { NodeRange } from '../../../core/log/tree.ts'
import {
  type AppendResult,
  type ChainReport,
  countIn,
  type EventLog,
  type LogQuery,
  type RecordedHead,
  type Snapshot,
  StoreLostError,
  StoreUnavailableError,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import type { DerivedData } from '../../../ports/derived-data.ts'
import { WorkerLostError, WorkerThread } from '../../worker.ts'
import { yieldToEventLoop } from '../../../ports/yield-to-event-loop.ts'
import { filesAt, filesFault, OverwriteGuard } from './database-files.ts'
import { readHeadFile, setHeadFileAside } from './head-file.ts'
import {
  firstRow,
  isSqliteError,
  prepareRows,
  unavailable,
  type Database,
  type Statement,
} from './database.ts'
import { DerivedReader } from './derived.ts'
import { Records } from './records.ts'
import { openDatabase } from './schema.ts'
import { partsOf, prepareLoadSnapshot } from './snapshots.ts'
import { prepareTreeNodes } from './tree.ts'
import { reportOf, SliceVerifier, VERIFY_HERE_MAX, verifyInThreads } from './verify.ts'
import { Watcher } from './watcher.ts'
import {
  NEWEST_LEADER,
  type Claim,
  type WriterAnswer,
  type WriterRequest,
  type WriterResults,
} from './writer.ts'

/** Opens the log in this file, and makes file and folder if they are missing. */
export const openSqliteLog = async ({ path }: { readonly path: string }): Promise<SqliteLog> =>
  new SqliteLog(path, await openDatabase(path))

/**
 * One SQLite file. Several processes may use it at once: each append compares the head under the write lock. One
 * thread writes, so that waiting for the disk does not block the event loop; reads happen here.
 */
export class SqliteLog implements EventLog {
  readonly kind = 'sqlite'
  readonly derived: DerivedData
  readonly #path: string
  readonly #db: Database
  readonly #records: Records
  readonly #loadSnapshot: (stateVersion: string, signer?: string) => Snapshot | null
  readonly #treeNodes: (range: NodeRange) => readonly Uint8Array[]
  readonly #newestLeader: Statement
  readonly #verifier: SliceVerifier
  readonly #watcher: Watcher
  readonly #writer: WorkerThread<WriterRequest, WriterAnswer>
  readonly #closing = new AbortController()
  readonly #lossListeners = new Set<(error: StoreLostError) => void>()
  readonly #guard: OverwriteGuard
  readonly #looking: NodeJS.Timeout
  #lost: StoreLostError | null = null

  constructor(path: string, db: Database) {
    this.#path = path
    this.#db = db
    this.#records = new Records(db)
    this.#loadSnapshot = prepareLoadSnapshot(db)
    this.#treeNodes = prepareTreeNodes(db)
    this.#newestLeader = prepareRows(db, NEWEST_LEADER)
    this.#verifier = new SliceVerifier(db)
    const reader = new DerivedReader(db)
    this.derived = {
      alteredIndexes: () => this.#read(() => reader.alteredIndexes()),
      foreignTriggers: () => this.#read(() => reader.foreignTriggers()),
      check: (records) => this.#read(() => reader.check(records)),
      counts: () => this.#read(() => reader.counts()),
      rebuild: async () => void (await this.#write({ kind: 'rebuild' })),
    }
    this.#watcher = new Watcher(db)
    // Read first: then the journal is there.
    this.#records.head()
    const files = filesAt(path)
    this.#writer = new WorkerThread('./sqlite-writer-thread.ts', import.meta.url, files)
    // The writer checks at every commit. This timer covers a log without writes.
    this.#guard = new OverwriteGuard(path)
    this.#looking = setInterval(() => {
      const fault = filesFault(files) ?? this.#guard.fault()
      if (fault !== null) this.#lose(fault)
    }, LOOK_EVERY_MS)
    this.#looking.unref()
  }

  recordedHead(): Promise<RecordedHead | null> {
    return this.#read(() => readHeadFile(this.#path))
  }

  forgetRecordedHead(label: string): Promise<string | null> {
    return this.#read(() => setHeadFileAside(this.#path, label))
  }

  watchLoss(onLost: (error: StoreLostError) => void): () => void {
    const listener = (error: StoreLostError): void => onLost(error)
    if (this.#lost !== null) listener(this.#lost)
    this.#lossListeners.add(listener)
    return () => this.#lossListeners.delete(listener)
  }

  head(): Promise<Head> {
    return this.#read(() => this.#records.head())
  }

  async append(
    records: readonly LogRecord[],
    expected: Head,
    leaderToken: number | null = null,
  ): Promise<AppendResult> {
    const result = await this.#write({ kind: 'append', records, expected, leaderToken })
    if (result.status === 'appended' && records.length > 0) this.#watcher.notify()
    return result
  }

  /** The token of the newest leader; 0 before the first. */
  newestLeader(): Promise<number> {
    return this.#read(() => Number(firstRow(this.#newestLeader)?.[0]))
  }

  /** The token of the new leader; null if another process was faster. */
  lead(claim: Claim): Promise<number | null> {
    return this.#write({ kind: 'lead', claim })
  }

  read(query: LogQuery): Promise<readonly LogRecord[]> {
    return this.#read(() => this.#records.read(query))
  }

  readByTime(query: Parameters<EventLog['readByTime']>[0]): Promise<readonly LogRecord[]> {
    return this.#read(() => this.#records.byTime(query))
  }

  async count(typePrefix?: string): Promise<number> {
    return countIn(await this.countByDomain(), typePrefix)
  }

  countByDomain(): Promise<ReadonlyMap<string, number>> {
    return this.#read(() => this.#records.countByDomain())
  }

  get(id: string): Promise<LogRecord | null> {
    return this.#read(() => this.#records.get(id))
  }

  findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>> {
    return this.#read(() => this.#records.withDedupeKeys(keys))
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    for (const part of partsOf(snapshot)) await this.#write({ kind: 'snapshot', part })
  }

  loadSnapshot(stateVersion: string, signer?: string): Promise<Snapshot | null> {
    return this.#read(() => this.#loadSnapshot(stateVersion, signer))
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
      const page = await this.#read(() => this.#records.scan(last, upTo, SCAN_PAGE))
      const end = page.at(-1)
      if (end === undefined) return
      yield page
      last = end.seq
      await yieldToEventLoop()
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

  treeNodes(range: NodeRange): Promise<readonly Uint8Array[]> {
    return this.#read(() => this.#treeNodes(range))
  }

  async sizeBytes(): Promise<number> {
    return (await stat(this.#path)).size
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#watcher.close()
    clearInterval(this.#looking)
    // The writer goes last: the last connection to close leaves everything in one file, with an empty journal beside it.
    this.#db.close()
    await this.#writer.close()
  }

  async #read<Result>(read: () => Result | Promise<Result>): Promise<Result> {
    this.#assertOpen()
    try {
      return await read()
    } catch (error) {
      this.#assertOpen()
      // A damage that a read finds first may be a file copied over the database.
      const fault = isSqliteError(error) ? this.#guard.fault({ atOnce: true }) : null
      if (fault !== null) throw this.#lose(fault)
      throw unavailable('read', this.#path, error)
    }
  }

  async #write<Kind extends WriterRequest['kind']>(
    request: Extract<WriterRequest, { readonly kind: Kind }>,
  ): Promise<WriterResults[Kind]> {
    this.#assertOpen()
    if (this.#lost !== null) throw this.#lost
    const answer = await this.#writer.request(request).catch((error: unknown) => {
      // Whether a waiting append was stored is not known: the head on disk shows it.
      if (error instanceof WorkerLostError) throw new StoreUnavailableError(error.message, { cause: error })
      throw error
    })
    switch (answer.status) {
      case 'lost':
        throw this.#lose(answer.message)
      case 'unavailable':
        throw new StoreUnavailableError(answer.message)
      case 'refused':
        throw new Error(answer.message)
      case 'done':
        return answer.result as WriterResults[Kind]
    }
  }

  /** For good: only a restart opens the files that the names now name. */
  #lose(fault: string): StoreLostError {
    if (this.#lost !== null) return this.#lost
    clearInterval(this.#looking)
    this.#lost = new StoreLostError(`${fault}: nothing more is stored`)
    for (const listener of this.#lossListeners) listener(this.#lost)
    return this.#lost
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailableError(`${this.#path} is closed`)
  }
}

const LOOK_EVERY_MS = 1000

/** Read in less than a millisecond. Larger pages save next to nothing and make everything else wait. */
const SCAN_PAGE = 100
