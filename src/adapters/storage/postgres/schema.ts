import type { Client } from 'pg'
import { PEOPLE_VIEWS } from './people-views.ts'

/** The layout below. A change raises the number; once a layout was released, it also brings the steps from it. */
const FORMAT_VERSION = 2
const SERVER_VERSION_MIN = 140_000
// Any number will do, as long as every process that opens a log takes the same one.
const SCHEMA_LOCK = 7_304_216_581

/** Word for word the condition of the index by time: only then the server sees that the index answers a query. */
export const IS_SIGNAL = `split_part(type, '.', 1) = 'signal'`

/** Creates the tables if they are missing. Processes that start at once wait for each other. */
export const ensureSchema = async (client: Client): Promise<void> => {
  await assertServer(client)
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK])
    if (!(await hasTables(client))) await client.query(SCHEMA)
    await assertFormat(client)
    await client.query('COMMIT')
  } catch (error) {
    // A lost connection rolls back by itself; what matters is why it failed.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

// Text that is compared byte by byte sorts the same on every server and faster than any language's order.
const SCHEMA = `
CREATE TABLE meta (
  name text PRIMARY KEY,
  value text NOT NULL
);
INSERT INTO meta VALUES ('format_version', '${FORMAT_VERSION}');

CREATE TABLE events (
  seq bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  dom text COLLATE "C" NOT NULL,
  ts text COLLATE "C" NOT NULL,
  schema_version text COLLATE "C" NOT NULL,
  source text COLLATE "C",
  trace_id text COLLATE "C",
  dedupe_key text COLLATE "C",
  payload text COLLATE "C" NOT NULL,
  prev_hash bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea,
  signer text COLLATE "C",
  recorded_at text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX events_id ON events (id);
CREATE UNIQUE INDEX events_dedupe_key ON events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX events_signals ON events (dom, ts, seq) WITH (deduplicate_items = off) WHERE ${IS_SIGNAL};

CREATE FUNCTION events_are_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'events are append only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only();

-- Below, what is found by id and by domain. It is added in runs of events, soon after they were stored: an append would
-- wait for it, and a run needs far fewer rows. The events behind the last run are few; whoever reads looks them through.
CREATE TABLE index_runs (
  from_seq bigint PRIMARY KEY,
  up_to bigint NOT NULL
);

-- One row for all events of a run that are about the same, each told by its place in the run, from 0.
CREATE TABLE about (
  k bigint NOT NULL,
  run bigint NOT NULL,
  places smallint[] NOT NULL
);
CREATE INDEX about_k ON about (k, run) WITH (deduplicate_items = off);

-- Likewise for all events of a domain, and how many of it there are up to the end of the run.
CREATE TABLE domain_runs (
  dom text COLLATE "C" NOT NULL,
  run bigint NOT NULL,
  places smallint[] NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (dom, run)
);

CREATE TABLE domains (
  dom text COLLATE "C" PRIMARY KEY
);

CREATE TABLE snapshots (
  state_version text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  chain_hash bytea NOT NULL,
  state_hash text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  saved bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (state_version, seq)
);
${PEOPLE_VIEWS}`

const assertServer = async (client: Client): Promise<void> => {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
  )
  const [server] = rows
  if (server === undefined || server.version < SERVER_VERSION_MIN) {
    throw new Error(`PostgreSQL 14 or newer is needed, this server says ${server?.version}`)
  }
  // Hashes are taken of UTF-8 text on the server too.
  if (server.encoding !== 'UTF8')
    throw new Error(`the database must have encoding UTF8, it has ${server.encoding}`)
}

const hasTables = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('meta') IS NOT NULL AS found`)
  return rows[0]?.found === true
}

const assertFormat = async (client: Client): Promise<void> => {
  const { rows } = await client.query<{ value: string }>(
    `SELECT value FROM meta WHERE name = 'format_version'`,
  )
  const found = rows[0]?.value
  if (found !== String(FORMAT_VERSION)) {
    throw new Error(`the log has format version ${found}, this release knows ${FORMAT_VERSION}`)
  }
}
