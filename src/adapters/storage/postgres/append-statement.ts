import type { QueryConfig } from 'pg'
import { domainOf } from '../../../core/log/domain.ts'
import type { Head, LogRecord } from '../../../core/log/event.ts'
import { refKey, refsInText } from '../../../core/log/refs.ts'
import { bytesArray, integerArray, textArray } from './binary-arrays.ts'

/** Where every process hears that the head moved. */
export const HEAD_CHANNEL = 'signal_engine_head'

/** One statement, so one round trip and one transaction. It answers one row, or none if the head is elsewhere. */
export const appendStatement = (records: readonly LogRecord[], expected: Head): QueryConfig => {
  const domains = [...new Set(records.map(({ type }) => domainOf(type)))]
  const { places, ranks } = countDomains(records, domains)
  const texts = (of: (record: LogRecord) => string | null): Buffer => textArray(records.map(of))
  const bytes = (of: (record: LogRecord) => string | null): Buffer => bytesArray(records.map(of))
  const about = seqsByKey(records)
  return {
    name: 'append',
    text: APPEND,
    values: [
      expected.seq,
      Buffer.from(expected.hash, 'hex'),
      textArray(domains),
      integerArray(records.map(({ seq }) => seq)),
      texts(({ id }) => id),
      texts(({ type }) => type),
      integerArray(places),
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
      integerArray([...about.keys()]),
      integerArray([...about.values()].map(([first = 0]) => first)),
      textArray([...about.values()].map((seqs) => (seqs.length === 1 ? null : `{${seqs.join()}}`))),
      String(expected.seq + records.length),
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
  SELECT ARRAY(
    SELECT coalesce((SELECT dom_count FROM events WHERE events.dom = added.dom ORDER BY seq DESC LIMIT 1), 0)
    FROM unnest($3::text[]) AS added (dom)
  ) AS counts
  WHERE (($1 = 0 AND $2 = ''::bytea) OR EXISTS (SELECT FROM events WHERE seq = $1 AND hash = $2))
    AND NOT EXISTS (SELECT FROM events WHERE seq = $1 + 1)
), stored AS (
  INSERT INTO events (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload,
    prev_hash, hash, signature, signer, recorded_at, dom_count)
  SELECT seq, id, type, ($3::text[])[domain], ts, schema_version, source, trace_id, dedupe_key, payload,
    prev_hash, hash, signature, signer, recorded_at, counts[domain] + rank
  FROM ready, (
    SELECT unnest($4::bigint[]) AS seq, unnest($5::text[]) AS id, unnest($6::text[]) AS type,
      unnest($7::bigint[]) AS domain, unnest($8::text[]) AS ts, unnest($9::text[]) AS schema_version,
      unnest($10::text[]) AS source, unnest($11::text[]) AS trace_id, unnest($12::text[]) AS dedupe_key,
      unnest($13::text[]) AS payload, unnest($14::bytea[]) AS prev_hash, unnest($15::bytea[]) AS hash,
      unnest($16::bytea[]) AS signature, unnest($17::text[]) AS signer, unnest($18::text[]) AS recorded_at,
      unnest($19::bigint[]) AS rank
  ) AS event
), referred AS (
  INSERT INTO about (k, seq, seqs) SELECT k, seq, seqs::bigint[]
  FROM ready, (
    SELECT unnest($20::bigint[]) AS k, unnest($21::bigint[]) AS seq, unnest($22::text[]) AS seqs
  ) AS entry
), named AS (
  INSERT INTO domains (dom) SELECT dom FROM ready, unnest($3::text[], counts) AS known (dom, n)
  WHERE n = 0 ON CONFLICT DO NOTHING
)
SELECT pg_notify('${HEAD_CHANNEL}', $23) FROM ready`

/** Which events of the batch are about a key, in order. */
const seqsByKey = (records: readonly LogRecord[]): ReadonlyMap<number, readonly number[]> => {
  const seqs = new Map<number, number[]>()
  for (const record of records) {
    for (const key of refsInText(record).map(refKey)) {
      const known = seqs.get(key)
      if (known === undefined) seqs.set(key, [record.seq])
      else if (known.at(-1) !== record.seq) known.push(record.seq)
    }
  }
  return seqs
}

/** For each record: where its domain stands in the list, from 1, and the how many-th of that domain it is. */
const countDomains = (
  records: readonly LogRecord[],
  domains: readonly string[],
): { readonly places: readonly number[]; readonly ranks: readonly number[] } => {
  const counts = new Map(domains.map((domain, index) => [domain, { place: index + 1, seen: 0 }]))
  const places: number[] = []
  const ranks: number[] = []
  for (const { type } of records) {
    const count = counts.get(domainOf(type))
    if (count === undefined) throw new Error(`the domain of ${type} is not listed`)
    count.seen += 1
    places.push(count.place)
    ranks.push(count.seen)
  }
  return { places, ranks }
}
