import type { Client } from 'pg'
import { TILE_WIDTH } from '../../../core/log/tree.ts'

/*
 * The server computes the nodes itself: an append stays one statement, and the trigger runs for one event in 256. It
 * reads all children, since the event that completes a node is the last one of its range.
 */
export const TREE_SCHEMA = `
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
    -- Fewer: the log is of an older release, and catching up has not come this far. It writes this node, too.
    EXIT WHEN cardinality(children) < 256;
    INSERT INTO tree_nodes VALUES (node_level, node, tree_root(children)) ON CONFLICT DO NOTHING;
    EXIT WHEN (node + 1) % 256 <> 0;
    node := (node + 1) / 256 - 1;
    node_level := node_level + 1;
  END LOOP;
END $$;

CREATE FUNCTION grow_tree() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM complete_tree_nodes(NEW.seq); RETURN NULL; END $$;
CREATE TRIGGER events_grow_tree AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.seq % 256 = 0) EXECUTE FUNCTION grow_tree();`

/** For a log of an older release, whose nodes are still to be built. */
export const TREE_UPGRADE = `${TREE_SCHEMA} INSERT INTO meta VALUES ('tree_size', '0');`

export const lacksTreeNodes = async (client: Client): Promise<boolean> =>
  (await client.query(`SELECT FROM meta WHERE name = 'tree_size'`)).rowCount === 1

/** A bounded number of the nodes that a log of an older release lacks. True when there are no more. */
export const catchUpTree = async (client: Client): Promise<boolean> => {
  await client.query('BEGIN')
  try {
    // No append may complete a node while its children are being written: it would not see them.
    await client.query('LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE')
    const isDone = await buildNext(client)
    await client.query('COMMIT')
    return isDone
  } catch (error) {
    // A lost connection rolls back by itself; what matters is why it failed.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** About 100 milliseconds of work, during which no append is stored. */
const CATCH_UP_EVENTS = 64 * TILE_WIDTH

const buildNext = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query<{ before: number; size: number }>(
    `SELECT value::float8 AS before, (SELECT coalesce(max(seq), 0) FROM events)::float8 AS size
     FROM meta WHERE name = 'tree_size'`,
  )
  const [progress] = rows
  if (progress === undefined) return true
  const after = Math.min(progress.size, progress.before + CATCH_UP_EVENTS)
  await client.query(
    `SELECT complete_tree_nodes(at) FROM generate_series($1::bigint + ${TILE_WIDTH}, $2::bigint, ${TILE_WIDTH}) AS at
     ORDER BY at`,
    [progress.before, after],
  )
  if (after < progress.size)
    await client.query(`UPDATE meta SET value = $1 WHERE name = 'tree_size'`, [String(after)])
  else await client.query(`DELETE FROM meta WHERE name = 'tree_size'`)
  return after === progress.size
}
