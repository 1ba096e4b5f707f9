import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { StoreUnavailableError } from '../../../ports/event-log.ts'

export type Database = DatabaseSyncInstance
export type Statement = ReturnType<Database['prepare']>
export type Value = string | number | null
export type Row = readonly Value[]

export const connect = (path: string, mode: 'read' | 'write'): Database => {
  const db = new DatabaseSync(path, { readOnly: mode === 'read', timeout: BUSY_TIMEOUT_MS })
  try {
    db.exec(`PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;
      PRAGMA cache_size = -${CACHE_KIB}`)
    if (mode === 'write')
      db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * A new file that is filled once and then closed for good. It has no journal: the caller deletes the file if filling
 * fails, and syncs it before it counts.
 */
export const connectNew = (path: string): Database => {
  const db = new DatabaseSync(path, { timeout: 0 })
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    PRAGMA cache_size = -${CACHE_KIB}`)
  return db
}

/**
 * Reads the file alone, without journal and locks: a connection lives on after `close` until its statements are collected,
 * and such a one must not come to empty or delete a journal that by then belongs to another file of this name.
 */
export const connectImmutable = (path: string): Database => {
  const url = pathToFileURL(path)
  url.search = '?immutable=1'
  return new DatabaseSync(url, { readOnly: true })
}

/**
 * Copies the journal into the file and locks out all other processes until the connection is closed. Throws a busy
 * error while any other process has the file open, even a suspended one: only then can SQLite leave the mode with a
 * journal beside the file. It prepares no statement, so that `close` really closes it.
 */
export const lockAlone = (path: string): Database => {
  const db = new DatabaseSync(path, { timeout: ALONE_TIMEOUT_MS })
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Long enough for a command that is about to end. */
const ALONE_TIMEOUT_MS = 1000

export const prepare = (db: Database, sql: string): Statement => {
  const statement = db.prepare(sql)
  connections.set(statement, db)
  return statement
}

/** Rows come as arrays: half the cost of objects. */
export const prepareRows = (db: Database, sql: string): Statement => {
  const statement = prepare(db, sql)
  statement.setReturnArrays(true)
  return statement
}

export const firstRow = (statement: Statement, ...values: readonly Value[]): Row | undefined =>
  statement.get(...values) as Row | undefined

export const allRows = (statement: Statement, ...values: readonly Value[]): readonly Row[] =>
  statement.all(...values) as Row[]

/** A record that breaks a rule of the tables: a bug of the caller, not an error of the disk. */
export const isConstraintError = (error: unknown): boolean => primaryCode(error) === SQLITE_CONSTRAINT

export const isBusyError = (error: unknown): boolean => primaryCode(error) === SQLITE_BUSY

export const isSqliteError = (error: unknown): error is Error => primaryCode(error) !== null

/** The file holds something else than our tables: it is damaged, of another kind, or another database. */
export const isDamage = (error: unknown): boolean => DAMAGE.has(primaryCode(error) ?? 0)

/** In the words of the port. What is no error of the database stays what it is: a bug. */
export const unavailable = (doing: string, path: string, error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error))
  // A statement that SQLite does not understand is a bug or a changed schema: trying again does not help.
  if (!isSqliteError(error) || primaryCode(error) === SQLITE_ERROR) return error
  const reason = REASONS.get(primaryCode(error) ?? 0) ?? error.message
  return new StoreUnavailableError(`cannot ${doing} ${path}: ${reason}`, { cause: error })
}

/** How long to wait for another process that writes. */
export const BUSY_TIMEOUT_MS = 5000
const CACHE_KIB = 64 * 1024
/** For new files. Events are large for the usual 4 KiB, and reading a log takes half as many calls. */
const PAGE_BYTES = 8192

/** The driver closes a connection that nothing references, even if its statements are still in use. */
const connections = new WeakMap<Statement, Database>()

const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_CONSTRAINT = 19
const SQLITE_NOTADB = 26

const DAMAGE: ReadonlySet<number> = new Set([SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB])

const REASONS: ReadonlyMap<number, string> = new Map([
  [SQLITE_BUSY, `another process has it locked for more than ${BUSY_TIMEOUT_MS / 1000} seconds`],
  [8, 'it is read-only'],
  [SQLITE_CORRUPT, 'the file is damaged'],
  [13, 'the disk is full'],
  [14, 'the file or its folder cannot be opened'],
  [SQLITE_NOTADB, 'the file is not an SQLite database'],
])

/** Extended codes carry the primary one in their lowest byte. The driver leaves it out of errors while rows are read. */
const primaryCode = (error: unknown): number | null => {
  if (!(error instanceof Error)) return null
  // No column of ours holds a number above 2^53: another program has written it.
  if ('code' in error && error.code === 'ERR_OUT_OF_RANGE') return SQLITE_CORRUPT
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? (CODES.get(error.message) ?? null) : null
}

/** SQLite's own words. */
const CODES: ReadonlyMap<string, number> = new Map([
  ['database is locked', SQLITE_BUSY],
  ['disk I/O error', SQLITE_IOERR],
  ['database disk image is malformed', SQLITE_CORRUPT],
  ['file is not a database', SQLITE_NOTADB],
])
