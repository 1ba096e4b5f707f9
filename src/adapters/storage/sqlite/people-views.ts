/** For people with a database tool. Nothing in the engine reads them: they may be slow, and are always right. */
export const PEOPLE_VIEWS = `
CREATE VIEW events_readable AS
SELECT event.seq, event.id, event.type, event.ts, event.schema_version, event.source, event.trace_id,
  event.dedupe_key, event.payload, lower(hex(event.prev_hash)) AS prev_hash, lower(hex(event.hash)) AS hash,
  nullif(lower(hex(event.signature)), '') AS signature, node.name AS signer,
  strftime('%Y-%m-%dT%H:%M:%fZ', event.recorded_at / 1000.0, 'unixepoch') AS recorded_at
FROM events AS event LEFT JOIN dict AS node ON node.id = event.signer;

CREATE VIEW contributor_signals AS
SELECT recorded.payload ->> 'contributor_id' AS contributor_id,
  recorded.payload ->> 'signal_id' AS event_id,
  recorded.payload ->> 'node_id' AS node_id,
  recorded.payload ->> 'direction' AS direction,
  recorded.payload ->> 'score' AS score,
  recorded.payload ->> 'symbol' AS asset,
  EXISTS (
    SELECT 1 FROM events AS conviction, json_each(conviction.payload, '$.inputs') AS input
    WHERE conviction.dom = (SELECT id FROM dict WHERE kind = 'domain' AND name = 'brain.conviction')
      AND conviction.seq > recorded.seq
      AND input.value ->> 'signal_id' = recorded.payload ->> 'signal_id' AND input.value ->> 'share' > 0
  ) AS accepted,
  (
    SELECT max(resolved.payload ->> 'hit') FROM events AS resolved, json_each(resolved.payload, '$.signal_ids') AS signal
    WHERE resolved.dom = (SELECT id FROM dict WHERE kind = 'domain' AND name = 'attribution.resolved')
      AND signal.value = recorded.payload ->> 'signal_id'
  ) AS profitable,
  recorded.payload ->> 'received_at' AS received_at
FROM events AS recorded
WHERE recorded.dom = (SELECT id FROM dict WHERE kind = 'domain' AND name = 'attribution.recorded')
  AND recorded.payload ->> 'contributor_id' IS NOT NULL;
`
