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
