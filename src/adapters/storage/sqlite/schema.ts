import { access, chmod, constants, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SEQ_MAX, StoreUnavailableError } from '../../../ports/event-log.ts'
import {
  BUSY_TIMEOUT_MS,
  connect,
  firstRow,
  isBusyError,
  isSqliteError,
  prepareRows,
  unavailable,
  type Database,
} from './database.ts'

/** A change of the layout raises the number. The layouts of `STEPS` are brought up to date. */
const FORMAT_VERSION = '5'

/** Marks signals, whose order by time has indexes of its own. Queries repeat it word for word to use them. */
export const IS_SIGNAL = `substr(type, 1, 7) = 'signal.'`

/** Condition on rows that are events. The plus keeps SQLite from walking the table by seq instead of an index. */
export const IS_EVENT = `+seq <= ${SEQ_MAX}`

/** Seq of the newest event. */
export const HEAD_SEQ = `SELECT max(seq) FROM events WHERE seq <= ${SEQ_MAX}`

/** A read-only connection. Creates the file, its folder and its tables if they are missing. */
export const openDatabase = async (path: string): Promise<Database> => {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await assertWritable(path)
    await closeToOthers(path)
    return await whileBusy(() => makeReady(path))
  } catch (error) {
    if (isSqliteError(error)) throw unavailable('open', path, error)
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreUnavailableError(`cannot open ${path}: ${reason}`, { cause: error })
  }
}

/**
 * The connection that sets up prepares no statement: the driver cannot finalize one, and a connection with a statement
 * lives on after `close` until both are collected. As the last connection it would then empty the journal and delete it
 * by name, while another process may have put another file there or be copying this one.
 */
const makeReady = (path: string): Database => {
  const setup = connect(path, 'write')
  try {
    // Opened while the other is: the last connection that closes would have to empty the journal first.
    const db = connect(path, 'read')
    try {
      ensureSchema(setup, db)
    } catch (error) {
      db.close()
      throw error
    }
    return db
  } finally {
    setup.close()
  }
}

/**
 * Only the owner may read payloads and signatures. SQLite gives the journal and the shared memory the mode of the
 * database. Files of earlier releases get that mode here. A file of another owner keeps its mode.
 */
const closeToOthers = async (path: string): Promise<void> => {
  await unless(['EEXIST'], async () => (await open(path, 'wx', 0o600)).close())
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    await unless(['ENOENT', 'EPERM', 'EROFS'], async () => {
      const found = await stat(name)
      if (found.isFile() && (found.mode & 0o077) !== 0) await chmod(name, 0o600)
    })
  }
}

const unless = async (codes: readonly string[], work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    const isExpected = error instanceof Error && 'code' in error && codes.includes(String(error.code))
    if (!isExpected) throw error
  }
}

/** SQLite opens a file that it may not write to for reading, and says so only at the first write. */
const assertWritable = async (path: string): Promise<void> => {
  try {
    await access(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    await access(dirname(path), constants.W_OK)
  }
}

/** Processes that create the same file at once fail without waiting for the lock. */
const whileBusy = async <Result>(attempt: () => Result): Promise<Result> => {
  const giveUpAt = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusyError(error) || performance.now() > giveUpAt) throw error
      await setTimeout(RETRY_EVERY_MS)
    }
  }
}

const RETRY_EVERY_MS = 20

/** Creates the tables in an empty file. Throws for a file of something else, or of another release. */
const ensureSchema = (writing: Database, reading: Database): void => {
  if (stepTo(reading) === null) return
  writing.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been faster.
    const step = stepTo(reading)
    if (step !== null) writing.exec(step)
    writing.exec('COMMIT')
  } catch (error) {
    if (writing.isTransaction) writing.exec('ROLLBACK')
    throw error
  }
}

/** False for an empty file. Throws for a file of something else, or of another release. */
export const isOurs = (db: Database): boolean => stepTo(db) !== SCHEMA

/** The statements that bring the file to this format; null if it has it. */
const stepTo = (db: Database): string | null => {
  const tables = firstRow(
    prepareRows(db, `SELECT count(*), total(name = 'meta'), total(name = 'events') FROM sqlite_schema`),
  )
  if (tables?.[0] === 0) return SCHEMA
  if (tables?.[1] !== 1 || tables[2] !== 1)
    throw new Error('the database holds something else than an event log')
  const version = String(firstRow(prepareRows(db, `SELECT v FROM meta WHERE k = 'format_version'`))?.[0])
  if (version === FORMAT_VERSION) return null
  const step = STEPS.get(version)
  if (step === undefined) {
    throw new Error(
      `the event log has format version ${version}, this release reads version ${FORMAT_VERSION} only; ` +
        'move the file away to begin a new log',
    )
  }
  return step
}

/** One row per leader there ever was. It is no part of the log. */
const LEADERS_TABLE = `CREATE TABLE leaders (token INTEGER PRIMARY KEY, holder TEXT NOT NULL) STRICT;`

const ADD_COMMANDS = `ALTER TABLE events ADD COLUMN commands TEXT;
UPDATE meta SET v = '${FORMAT_VERSION}' WHERE k = 'format_version';`

/** Statements that bring an older format up to date, by its version. */
const STEPS: ReadonlyMap<string, string> = new Map([
  ['3', `${LEADERS_TABLE}\n${ADD_COMMANDS}`],
  ['4', ADD_COMMANDS],
])

const TREE_TABLE = `CREATE TABLE tree_nodes (
  level INTEGER,
  idx INTEGER,
  hash TEXT NOT NULL,
  PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;`

// The truth is in `events`. The other tables and the indexes are derived from it, in the same transaction.
export const SCHEMA = `
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT;
INSERT INTO meta VALUES ('format_version', '${FORMAT_VERSION}');

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  dom TEXT NOT NULL,
  ts TEXT NOT NULL,
  schema_version TEXT NOT NULL,
  source TEXT,
  trace_id TEXT,
  dedupe_key TEXT,
  payload TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  signature TEXT,
  signer TEXT,
  recorded_at TEXT NOT NULL,
  batch_signature TEXT,
  commands TEXT
) STRICT;
CREATE UNIQUE INDEX events_id ON events (id);
CREATE UNIQUE INDEX events_dedupe_key ON events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX events_dom ON events (dom, seq);
CREATE INDEX events_signals ON events (ts, seq) WHERE ${IS_SIGNAL};
CREATE INDEX events_dom_signals ON events (dom, ts, seq) WHERE ${IS_SIGNAL};
CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;

CREATE TABLE about (ref TEXT, seq INTEGER, PRIMARY KEY (ref, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE counters (dom TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
${TREE_TABLE}
${LEADERS_TABLE}

CREATE TABLE snapshots (
  state_version TEXT,
  seq INTEGER,
  chain_hash TEXT NOT NULL,
  state_hash TEXT NOT NULL,
  parts INTEGER NOT NULL,
  signature TEXT NOT NULL,
  signer TEXT NOT NULL,
  PRIMARY KEY (state_version, seq)
) STRICT;
CREATE TABLE snapshot_parts (
  state_version TEXT,
  seq INTEGER,
  part INTEGER,
  text TEXT NOT NULL,
  PRIMARY KEY (state_version, seq, part)
) STRICT;

CREATE VIEW contributor_signals AS
SELECT recorded.payload ->> 'contributor_id' AS contributor_id,
  recorded.payload ->> 'signal_id' AS event_id,
  recorded.payload ->> 'node_id' AS node_id,
  recorded.payload ->> 'direction' AS direction,
  recorded.payload ->> 'score' AS score,
  recorded.payload ->> 'symbol' AS asset,
  EXISTS (
    SELECT 1 FROM events AS conviction, json_each(conviction.payload, '$.inputs') AS input
    WHERE conviction.dom = 'brain.conviction' AND conviction.seq > recorded.seq
      AND input.value ->> 'signal_id' = recorded.payload ->> 'signal_id' AND input.value ->> 'share' > 0
  ) AS accepted,
  (
    SELECT max(resolved.payload ->> 'hit') FROM events AS resolved, json_each(resolved.payload, '$.signal_ids') AS signal
    WHERE resolved.dom = 'attribution.resolved' AND signal.value = recorded.payload ->> 'signal_id'
  ) AS profitable,
  recorded.payload ->> 'received_at' AS received_at
FROM events AS recorded
WHERE recorded.dom = 'attribution.recorded' AND recorded.payload ->> 'contributor_id' IS NOT NULL;`
