import type { QueryConfig } from 'pg'
import { domainOf, stampedFrom, type Head, type LogRecord } from '../../../core/log/event.ts'
import { refsOf } from '../../../core/log/refs.ts'

/** Channel on which every process is notified that the head moved. */
export const HEAD_CHANNEL = 'signal_engine_head'

/**
 * One statement, so one round trip and one transaction. It returns one row if the records are stored, none if the head
 * is elsewhere, and one with `fenced` if the token is that of an earlier leader.
 */
export const appendStatement = (
  records: readonly LogRecord[],
  expected: Head,
  leaderToken: number | null,
): QueryConfig => {
  const counts = new Map<string, number>()
  const rows = records.map((record) => {
    const dom = domainOf(record.type)
    const place = (counts.get(dom) ?? 0) + 1
    counts.set(dom, place)
    return { ...record, dom, place, refs: refsOf(stampedFrom(record)) }
  })
  return {
    name: 'append',
    text: APPEND,
    values: [
      expected.seq,
      Buffer.from(expected.hash, 'hex'),
      String(expected.seq + records.length),
      JSON.stringify(rows),
      leaderToken,
    ],
  }
}

/*
 * `ready` holds one row if the head is where it is expected, and everything else depends on it. If two processes see
 * the same head at once, the key of `events` lets one through; the other waits for it, is refused and stores nothing.
 * No row is ever updated: a long transaction elsewhere (a dump, a report) keeps the dead versions of a busy row alive,
 * and every append would have to walk past all of them. The token is therefore compared with a table that only grows,
 * not with the row of the heartbeat. A leader that is replaced while its statement runs has two outcomes. It stored
 * before any event of the new leader, whose first append then finds the head moved. Or it finds the head moved itself.
 */
const APPEND = `
WITH fence AS MATERIALIZED (
  SELECT $5::bigint IS NULL OR $5 = (SELECT coalesce(max(token), 0) FROM leaders) AS open
), ready AS MATERIALIZED (
  SELECT FROM fence WHERE open
    AND (($1::bigint = 0 AND $2 = ''::bytea) OR EXISTS (SELECT FROM events WHERE seq = $1 AND hash = $2))
    AND NOT EXISTS (SELECT FROM events WHERE seq = $1 + 1)
), batch AS MATERIALIZED (
  SELECT event.* FROM ready, json_to_recordset($4) AS event(seq bigint, id text, type text, dom text, ts text,
    "schemaVersion" text, source text, "traceId" text, "dedupeKey" text, payload text, "prevHash" text, hash text,
    signature text, signer text, "recordedAt" text, "batchSignature" text, commands text, place bigint, refs text[])
), stored AS (
  INSERT INTO events (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
    prev_hash, hash, signature, signer, recorded_at, batch_signature, commands, dom_count)
  SELECT seq, id, type, dom, ts, "schemaVersion", source, "traceId", "dedupeKey", payload, decode("prevHash", 'hex'),
    decode(hash, 'hex'), decode(signature, 'hex'), signer, "recordedAt", "batchSignature", commands, place + coalesce(
      (SELECT dom_count FROM events AS earlier WHERE earlier.dom = batch.dom ORDER BY earlier.seq DESC LIMIT 1), 0)
  FROM batch
), referred AS (
  INSERT INTO about (ref, seq) SELECT unnest(refs), seq FROM batch
)
SELECT pg_notify('${HEAD_CHANNEL}', $3)::text AS outcome FROM ready
UNION ALL SELECT 'fenced' FROM fence WHERE NOT open`
