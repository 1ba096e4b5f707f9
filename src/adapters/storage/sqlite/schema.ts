import { ABOUT_TABLE } from './about-index.ts'
import { PEOPLE_VIEWS } from './people-views.ts'
import { SNAPSHOT_PARTS_TABLE } from './snapshots.ts'
import { firstRow, prepareRows, type Database } from './database.ts'

/** The layout below. A release that changes it raises the number and brings the steps from the older one. */
const FORMAT_VERSION = '1'

/** Creates the tables in an empty file. Throws for a file of something else, or of a later release. */
export const ensureSchema = (writing: Database, reading: Database): void => {
  if (isOurs(reading)) {
    // Files of earlier releases have none. A cache, which changes nothing of the format.
    writing.exec(SNAPSHOT_PARTS_TABLE)
    return
  }
  writing.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been faster.
    if (!isOurs(reading)) writing.exec(SCHEMA)
    writing.exec('COMMIT')
  } catch (error) {
    if (writing.isTransaction) writing.exec('ROLLBACK')
    throw error
  }
}

const isOurs = (db: Database): boolean => {
  const tables = firstRow(
    prepareRows(db, `SELECT count(*), total(name = 'meta'), total(name = 'events') FROM sqlite_schema`),
  )
  if (tables?.[0] === 0) return false
  if (tables?.[1] !== 1 || tables[2] !== 1)
    throw new Error('the database holds something else than an event log')
  const version = firstRow(prepareRows(db, `SELECT v FROM meta WHERE k = 'format_version'`))?.[0]
  if (version !== FORMAT_VERSION) {
    throw new Error(
      `the event log has format version ${String(version)}, this release knows ${FORMAT_VERSION}`,
    )
  }
  return true
}

/** A UUID is less than half as long in bytes as in text; what is none is indexed as it is. */
const BYTES_OF_ID = `coalesce(unhex(id, '-'), id)`

/** The condition for one id, given three times. The first part finds it through the index, the second is exact. */
export const HAS_ID = `${BYTES_OF_ID} = coalesce(unhex(?, '-'), ?) AND id = ?`

// Truth is `events`. All other tables are made from it and only make it quick to find something.
const SCHEMA = `
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT;
INSERT INTO meta VALUES ('format_version', '${FORMAT_VERSION}');

CREATE TABLE dict (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name)) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  dom INTEGER NOT NULL,
  ts TEXT NOT NULL,
  schema_version TEXT NOT NULL,
  source TEXT,
  trace_id TEXT,
  dedupe_key TEXT,
  payload TEXT NOT NULL,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB,
  signer INTEGER,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_id ON events (${BYTES_OF_ID});
CREATE INDEX events_dom ON events (dom, seq);
CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;

CREATE TABLE counters (dom INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;
CREATE TABLE signal_times (dom INTEGER, ts_ms INTEGER, seq INTEGER, PRIMARY KEY (dom, ts_ms, seq)) STRICT, WITHOUT ROWID;
${ABOUT_TABLE}

CREATE TABLE dedupe (id INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
CREATE TABLE dedupe_runs (run INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, bloom BLOB NOT NULL) STRICT;

CREATE TABLE snapshots (
  state_version TEXT,
  seq INTEGER,
  chain_hash BLOB NOT NULL,
  state_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (state_version, seq)
) STRICT;
${SNAPSHOT_PARTS_TABLE}

${PEOPLE_VIEWS}`
