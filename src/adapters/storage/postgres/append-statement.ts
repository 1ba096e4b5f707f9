import type { QueryConfig } from 'pg'
import { domainOf, type Head, type LogRecord } from '../../../core/log/event.ts'
import { bytesArray, integerArray, textArray } from './binary-arrays.ts'

/** Where every process hears that the head moved. */
export const HEAD_CHANNEL = 'signal_engine_head'

/** One statement, so one round trip and one transaction. It answers one row, or none if the head is elsewhere. */
export const appendStatement = (records: readonly LogRecord[], expected: Head): QueryConfig => {
  const texts = (of: (record: LogRecord) => string | null): Buffer => textArray(records.map(of))
  const bytes = (of: (record: LogRecord) => string | null): Buffer => bytesArray(records.map(of))
  return {
    name: 'append',
    text: APPEND,
    values: [
      expected.seq,
      Buffer.from(expected.hash, 'hex'),
      String(expected.seq + records.length),
      integerArray(records.map(({ seq }) => seq)),
      texts(({ id }) => id),
      texts(({ type }) => type),
      texts(({ type }) => domainOf(type)),
      texts(({ ts }) => ts),
      texts(({ schemaVersion }) => schemaVersion),
      texts(({ source }) => source),
      texts(({ traceId }) => traceId),
      texts(({ dedupeKey }) => dedupeKey),
      texts(({ payload }) => payload),
      bytes(({ prevHash }) => prevHash),
      bytes(({ hash }) => hash),
      bytes(({ signature }) => signature),
      texts(({ signer }) => signer),
      texts(({ recordedAt }) => recordedAt),
    ],
  }
}

/*
 * `ready` holds one row if the head is where it is expected, and everything else hangs on it. Of two who see the
 * same head at once, the key of `events` lets one through; the other waits for it, is refused and stores nothing.
 * No row is ever updated: a long transaction elsewhere (a dump, a report) keeps the dead versions of a busy row
 * alive, and every append would have to walk past all of them.
 * Arrays are unnested in the list of a SELECT, side by side; in a FROM each would be stored on its way.
 */
const APPEND = `
WITH ready AS MATERIALIZED (
  SELECT WHERE (($1::bigint = 0 AND $2 = ''::bytea) OR EXISTS (SELECT FROM events WHERE seq = $1 AND hash = $2))
    AND NOT EXISTS (SELECT FROM events WHERE seq = $1 + 1)
), stored AS (
  INSERT INTO events (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
    prev_hash, hash, signature, signer, recorded_at)
  SELECT event.* FROM ready, (
    SELECT unnest($4::bigint[]), unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::text[]),
      unnest($9::text[]), unnest($10::text[]), unnest($11::text[]), unnest($12::text[]), unnest($13::text[]),
      unnest($14::bytea[]), unnest($15::bytea[]), unnest($16::bytea[]), unnest($17::text[]), unnest($18::text[])
  ) AS event
)
SELECT pg_notify('${HEAD_CHANNEL}', $3) FROM ready`
