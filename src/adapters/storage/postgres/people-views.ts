/** For people with a database tool. Nothing in the engine reads them: they may be slow, and are always right. */
export const PEOPLE_VIEWS = `
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
WHERE recorded.dom = 'attribution.recorded' AND said ->> 'contributor_id' IS NOT NULL;
`
