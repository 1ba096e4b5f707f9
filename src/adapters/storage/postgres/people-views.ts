/** For people with a database tool. Nothing in the engine reads them: they may be slow, and are always right. */
export const PEOPLE_VIEWS = `
CREATE VIEW contributor_signals AS
SELECT said ->> 'contributor_id' AS contributor_id,
  said ->> 'signal_id' AS event_id,
  said ->> 'node_id' AS node_id,
  said ->> 'direction' AS direction,
  (said ->> 'score')::double precision AS score,
  said ->> 'symbol' AS asset,
  EXISTS (
    SELECT 1 FROM events AS conviction, jsonb_array_elements(conviction.payload::jsonb -> 'inputs') AS input
    WHERE conviction.dom = 'brain.conviction' AND conviction.seq > recorded.seq
      AND input ->> 'signal_id' = said ->> 'signal_id' AND (input ->> 'share')::double precision > 0
  ) AS accepted,
  (
    SELECT bool_or((resolved.payload::jsonb ->> 'hit')::boolean) FROM events AS resolved
    WHERE resolved.dom = 'attribution.resolved'
      AND resolved.payload::jsonb -> 'signal_ids' @> to_jsonb(said ->> 'signal_id')
  ) AS profitable,
  said ->> 'received_at' AS received_at
FROM events AS recorded CROSS JOIN LATERAL (SELECT recorded.payload::jsonb AS said) AS parsed
WHERE recorded.dom = 'attribution.recorded' AND said ->> 'contributor_id' IS NOT NULL;
`
