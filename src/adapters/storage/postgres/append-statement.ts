import type { QueryConfig } from 'pg'
import { domainOf } from '../../../core/log/domain.ts'
import { stampedFrom, type Head, type LogRecord } from '../../../core/log/event.ts'
import { refKey, refsOf } from '../../../core/log/refs.ts'
import { bytesArray, integerArray, textArray } from './binary-arrays.ts'

/** Where every process hears that the head moved. */
export const HEAD_CHANNEL = 'signal_engine_head'

/** One statement, so one round trip and one transaction. It answers one row, or none if the head is elsewhere. */
export const appendStatement = (records: readonly LogRecord[], expected: Head): QueryConfig => {
  const domains = records.map(({ type }) => domainOf(type))
  const ranks = ranksAmongEqual(domains)
  const texts = (of: (record: LogRecord) => string | null): Buffer => textArray(records.map(of))
  const bytes = (of: (record: LogRecord) => string | null): Buffer => bytesArray(records.map(of))
  const about = seqsByKey(records)
  return {
    name: 'append',
    text: APPEND,
    values: [
      expected.seq,
      Buffer.from(expected.hash, 'hex'),
      integerArray(records.map(({ seq }) => seq)),
      texts(({ id }) => id),
      texts(({ type }) => type),
      textArray(domains),
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
      integerArray(ranks),
      textArray([...new Set(domains)]),
      integerArray([...about.keys()]),
      integerArray([...about.values()].map(([first = 0]) => first)),
      textArray([...about.values()].map((seqs) => (seqs.length === 1 ? null : `{${seqs.join()}}`))),
      String(expected.seq + records.length),
    ],
  }
}

/*
 * The key of `events` is the guard: the first record goes in only behind the expected head and only if its seq is
 * free, and a rival who holds that seq is waited for. Everything else hangs on the first record, so a lost race
 * stores nothing. No row is ever updated: a long transaction elsewhere (a dump, a report) keeps the dead versions
 * of a busy row alive, and every append would have to walk past all of them.
 */
const EVENT_COLUMNS = `seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
  prev_hash, hash, signature, signer, recorded_at, dom_count`
const APPEND = `
WITH domain AS (
  SELECT dom, coalesce((SELECT dom_count FROM events WHERE events.dom = added.dom ORDER BY seq DESC LIMIT 1), 0) AS n
  FROM unnest($19::text[]) AS added (dom)
), batch AS MATERIALIZED (
  SELECT event.*, rank + (SELECT n FROM domain WHERE domain.dom = event.dom) AS dom_count FROM unnest(
    $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::text[], $13::bytea[], $14::bytea[], $15::bytea[], $16::text[], $17::text[], $18::bigint[]
  ) AS event (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
    prev_hash, hash, signature, signer, recorded_at, rank)
), first AS (
  INSERT INTO events (${EVENT_COLUMNS}) SELECT ${EVENT_COLUMNS} FROM batch
  WHERE seq = $1 + 1 AND (($1 = 0 AND $2 = ''::bytea) OR EXISTS (SELECT FROM events WHERE seq = $1 AND hash = $2))
  ON CONFLICT (seq) DO NOTHING RETURNING seq
), others AS (
  INSERT INTO events (${EVENT_COLUMNS}) SELECT ${EVENT_COLUMNS} FROM batch WHERE seq > (SELECT seq FROM first)
), referred AS (
  INSERT INTO about (k, seq, seqs) SELECT entry.k, entry.seq, entry.seqs::bigint[]
  FROM first, unnest($20::bigint[], $21::bigint[], $22::text[]) AS entry (k, seq, seqs)
), named AS (
  INSERT INTO domains (dom) SELECT dom FROM first, domain WHERE n = 0 ON CONFLICT DO NOTHING
)
SELECT pg_notify('${HEAD_CHANNEL}', $23) FROM first`

/** Which events of the batch are about a key, in order. */
const seqsByKey = (records: readonly LogRecord[]): ReadonlyMap<number, readonly number[]> => {
  const seqs = new Map<number, number[]>()
  for (const record of records) {
    for (const key of new Set(refsOf(stampedFrom(record)).map(refKey))) {
      const known = seqs.get(key)
      if (known === undefined) seqs.set(key, [record.seq])
      else known.push(record.seq)
    }
  }
  return seqs
}

/** The how many-th of its kind each one is, from 1. */
const ranksAmongEqual = (domains: readonly string[]): readonly number[] => {
  const counts = new Map<string, number>()
  return domains.map((domain) => {
    const rank = (counts.get(domain) ?? 0) + 1
    counts.set(domain, rank)
    return rank
  })
}
