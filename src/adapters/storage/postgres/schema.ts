import type { Client } from 'pg'

/** A change of the layout raises the number. The layouts of `STEPS` are brought up to date. */
const FORMAT_VERSION = 6
const SERVER_VERSION_MIN = 140_000
// Any number will do, as long as every process that opens a log takes the same one.
const SCHEMA_LOCK = 7_304_216_581

/** Word for word the condition of the index by time: only then the server sees that the index answers a query. */
export const IS_SIGNAL = `split_part(type, '.', 1) = 'signal'`

/** Creates the tables if they are missing. Processes that start at once wait for each other. */
export const ensureSchema = async (client: Client): Promise<void> => {
  await client.query('BEGIN')
  try {
    await createTables(client)
    await client.query('COMMIT')
  } catch (error) {
    // A lost connection rolls back by itself; what matters is why it failed.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** One row per leader there ever was, and the lease of the newest. Neither is part of the log. */
const LEADER_TABLES = `
CREATE TABLE leaders (
  token bigint PRIMARY KEY,
  holder text NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE lease (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  token bigint NOT NULL,
  holder text NOT NULL,
  expires_at timestamptz NOT NULL
);
INSERT INTO lease (token, holder, expires_at) VALUES (0, '', '-infinity');`

const ADD_COMMANDS = `
ALTER TABLE events ADD COLUMN commands text COLLATE "C";
UPDATE meta SET value = '${FORMAT_VERSION}' WHERE name = 'format_version'`

/** Statements that bring an older format up to date, by its version. */
const STEPS: ReadonlyMap<string | undefined, string> = new Map([
  ['4', `${LEADER_TABLES}${ADD_COMMANDS}`],
  ['5', ADD_COMMANDS],
])

/** Inside the caller's transaction. */
export const createTables = async (client: Client): Promise<void> => {
  await assertServer(client)
  await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK])
  const step = (await hasTables(client)) ? STEPS.get(await formatOf(client)) : SCHEMA
  if (step !== undefined) await client.query(step)
  await assertFormat(client)
}

/** Moves everything that belongs to the log into a schema of this name, inside the caller's transaction. */
export const moveTables = async (client: Client, schema: string): Promise<void> => {
  await client.query(`CREATE SCHEMA ${schema}`)
  for (const part of PARTS) await client.query(`ALTER ${part} SET SCHEMA ${schema}`)
}

/** All that `SCHEMA` creates; indexes and triggers belong to their tables. */
const PARTS = [
  'VIEW contributor_signals',
  'TABLE snapshots',
  'TABLE tree_nodes',
  'TABLE about',
  'TABLE events',
  'TABLE leaders',
  'TABLE lease',
  'TABLE meta',
  'FUNCTION events_are_append_only()',
  'FUNCTION grow_tree()',
  'FUNCTION complete_tree_nodes(bigint)',
  'FUNCTION tree_root(bytea[])',
] as const

/*
 * The server computes the nodes itself: an append stays one statement, and the trigger runs for one event in 256. It
 * reads all children, since the event that completes a node is the last one of its range.
 */
const TREE_SCHEMA = `
CREATE TABLE tree_nodes (
  level int NOT NULL,
  idx bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (level, idx)
);

CREATE FUNCTION tree_root(children bytea[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE nodes bytea[] := children;
BEGIN
  WHILE cardinality(nodes) > 1 LOOP
    nodes := ARRAY(SELECT sha256('\\x01'::bytea || nodes[2 * i - 1] || nodes[2 * i])
      FROM generate_series(1, cardinality(nodes) / 2) AS i ORDER BY i);
  END LOOP;
  RETURN nodes[1];
END $$;

CREATE FUNCTION complete_tree_nodes(size bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  node_level int := 1;
  node bigint := size / 256 - 1;
  children bytea[];
BEGIN
  LOOP
    IF node_level = 1 THEN
      children := ARRAY(SELECT sha256('\\x00'::bytea || hash) FROM events
        WHERE seq > node * 256 AND seq <= (node + 1) * 256 ORDER BY seq);
    ELSE
      children := ARRAY(SELECT hash FROM tree_nodes
        WHERE level = node_level - 1 AND idx >= node * 256 AND idx < (node + 1) * 256 ORDER BY idx);
    END IF;
    INSERT INTO tree_nodes VALUES (node_level, node, tree_root(children));
    EXIT WHEN (node + 1) % 256 <> 0;
    node := (node + 1) / 256 - 1;
    node_level := node_level + 1;
  END LOOP;
END $$;

CREATE FUNCTION grow_tree() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM complete_tree_nodes(NEW.seq); RETURN NULL; END $$;
CREATE TRIGGER events_grow_tree AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.seq % 256 = 0) EXECUTE FUNCTION grow_tree();`

// Text that is compared byte by byte sorts the same on every server and faster than any language's order.
export const SCHEMA = `
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
  recorded_at text COLLATE "C" NOT NULL,
  batch_signature text COLLATE "C",
  -- How many events of this domain there are up to this one. A counter that is updated would leave dead rows.
  dom_count bigint NOT NULL,
  commands text COLLATE "C"
);
CREATE UNIQUE INDEX events_id ON events (id);
CREATE UNIQUE INDEX events_dedupe_key ON events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX events_dom ON events (dom, seq);
-- A server that has counted the domains finds them few, and looks for the last event of one by reading all events backwards.
ALTER TABLE events ALTER COLUMN dom SET (n_distinct = -1);
CREATE INDEX events_signals ON events (ts, seq) WHERE ${IS_SIGNAL};
CREATE INDEX events_dom_signals ON events (dom, ts, seq) WHERE ${IS_SIGNAL};

CREATE FUNCTION events_are_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'events are append only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only();

CREATE TABLE about (
  ref text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (ref, seq)
);

${TREE_SCHEMA}
${LEADER_TABLES}

CREATE TABLE snapshots (
  state_version text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  chain_hash bytea NOT NULL,
  state_hash text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  signature text COLLATE "C" NOT NULL,
  signer text COLLATE "C" NOT NULL,
  saved bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (state_version, seq)
);

CREATE VIEW contributor_signals AS
SELECT said ->> 'contributor_id' AS contributor_id,
  said ->> 'signal_id' AS event_id,
  said ->> 'node_id' AS node_id,
  said ->> 'direction' AS direction,
  (said ->> 'score')::double precision AS score,
  said ->> 'symbol' AS asset,
  coalesce(used.last_seq > recorded.seq, false) AS accepted,
  judged.hit AS profitable,
  said ->> 'received_at' AS received_at
FROM events AS recorded
CROSS JOIN LATERAL (SELECT recorded.payload::jsonb AS said) AS parsed
LEFT JOIN (
  SELECT input ->> 'signal_id' AS signal_id, max(seq) AS last_seq
  FROM events, jsonb_array_elements(payload::jsonb -> 'inputs') AS input
  WHERE dom = 'brain.conviction' AND (input ->> 'share')::double precision > 0
  GROUP BY 1
) AS used ON used.signal_id = said ->> 'signal_id'
LEFT JOIN (
  SELECT signal_id, bool_or((payload::jsonb ->> 'hit')::boolean) AS hit
  FROM events, jsonb_array_elements_text(payload::jsonb -> 'signal_ids') AS signal_id
  WHERE dom = 'attribution.resolved'
  GROUP BY 1
) AS judged ON judged.signal_id = said ->> 'signal_id'
WHERE recorded.dom = 'attribution.recorded' AND said ->> 'contributor_id' IS NOT NULL;`

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

export const hasTables = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('meta') IS NOT NULL AS found`)
  return rows[0]?.found === true
}

const formatOf = async (client: Client): Promise<string | undefined> => {
  const { rows } = await client.query<{ value: string }>(
    `SELECT value FROM meta WHERE name = 'format_version'`,
  )
  return rows[0]?.value
}

const assertFormat = async (client: Client): Promise<void> => {
  const found = await formatOf(client)
  if (found !== String(FORMAT_VERSION)) {
    throw new Error(
      `the log has format version ${found}, this release reads version ${FORMAT_VERSION} only; ` +
        'use another database to begin a new log',
    )
  }
}
