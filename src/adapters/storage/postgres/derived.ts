import type { Client, Pool } from 'pg'
import { domainOf, stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { refsOf } from '../../../core/log/refs.ts'
import { TILE_WIDTH } from '../../../core/log/tree.ts'
import type { DerivedData, DerivedFault } from '../../../ports/derived-data.ts'
import { connect, disconnect, type Server } from './connection.ts'
import { asStoreError } from './errors.ts'
import { queryOn, queryThrough, readPage, type Query } from './records.ts'
import { IS_SIGNAL, SCHEMA } from './schema.ts'

export const derivedOf = (server: Server, pool: Pool): DerivedData => ({
  alteredIndexes: () => alteredIndexes(queryThrough(pool)),
  check: (records) => check(pool, records),
  counts: async () => {
    const [row] = await queryThrough(pool)<[number]>({ text: 'SELECT count(*) FROM about', values: [] })
    return new Map([['about', row?.[0] ?? 0]])
  },
  rebuild: () => rebuild(server),
})

/** Columns, and the condition without types, brackets and blanks, which servers write in different ways. */
const EXPECTED: Readonly<Record<string, { columns: string; where: string; unique: boolean }>> = {
  events_id: { columns: 'id', where: '', unique: true },
  events_dedupe_key: { columns: 'dedupe_key', where: 'dedupe_keyISNOTNULL', unique: true },
  events_dom: { columns: 'dom,seq', where: '', unique: false },
  events_signals: { columns: 'ts,seq', where: bare(IS_SIGNAL), unique: false },
  events_dom_signals: { columns: 'dom,ts,seq', where: bare(IS_SIGNAL), unique: false },
}

function bare(condition: string): string {
  return condition.replaceAll(/::text|[()\s]/g, '')
}

const alteredIndexes = async (query: Query): Promise<readonly string[]> => {
  const rows = await query<[string, string, string, string, string]>({
    name: 'indexes',
    text: `
SELECT name.relname, (kept.indisvalid AND kept.indisready AND kept.indislive)::text, kept.indisunique::text,
  (SELECT string_agg(pg_get_indexdef(kept.indexrelid, place, true), ',' ORDER BY place)
   FROM generate_series(1, kept.indnkeyatts) AS place),
  coalesce(pg_get_expr(kept.indpred, kept.indrelid), '')
FROM pg_index AS kept JOIN pg_class AS name ON name.oid = kept.indexrelid WHERE kept.indrelid = 'events'::regclass`,
    values: [],
  })
  return Object.entries(EXPECTED).flatMap(([name, { columns, where, unique }]) => {
    const isSame = rows.some(
      ([found, usable, isUnique, on, condition]) =>
        found === name &&
        usable === 'true' &&
        isUnique === String(unique) &&
        on === columns &&
        bare(condition) === where,
    )
    return isSame ? [] : [name]
  })
}

const check = async (
  pool: Pool,
  records: readonly LogRecord[],
): Promise<{ readonly faults: readonly DerivedFault[]; readonly refs: number }> => {
  const wanted = records.map(({ seq, id, type, ts, dedupeKey }) => ({
    seq,
    id,
    ts,
    dedupe: dedupeKey,
    dom: domainOf(type),
    signal: type.startsWith('signal.'),
  }))
  const refs = records.flatMap((record) => refsIn(record).map((ref) => ({ ref, seq: record.seq })))
  const rows = await byIndexOnly(pool, (query) =>
    query<[string, number]>({ text: MISSING, values: [JSON.stringify(wanted), JSON.stringify(refs)] }),
  )
  return { faults: rows.map(([what, seq]) => ({ seq, what })), refs: refs.length }
}

/** A number that is computed is in no index, so the key of the table cannot answer in place of the index in question. */
const MISSING = `
WITH wanted AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json) AS one(seq bigint, id text, ts text, dedupe text, dom text, signal boolean)
), referred AS MATERIALIZED (
  SELECT * FROM json_to_recordset($2::json) AS one(ref text, seq bigint)
)
SELECT 'the index events_id', seq FROM wanted WHERE NOT EXISTS
  (SELECT 1 FROM events WHERE events.id = wanted.id AND events.seq + 0 = wanted.seq)
UNION ALL SELECT 'the index events_dedupe_key', seq FROM wanted WHERE dedupe IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM events WHERE events.dedupe_key = wanted.dedupe AND events.seq + 0 = wanted.seq)
UNION ALL SELECT 'the index events_signals', seq FROM wanted WHERE signal AND NOT EXISTS
  (SELECT 1 FROM events WHERE ${IS_SIGNAL} AND events.ts = wanted.ts AND events.seq + 0 = wanted.seq)
UNION ALL SELECT 'the column dom', seq FROM wanted WHERE NOT EXISTS
  (SELECT 1 FROM events WHERE events.seq = wanted.seq AND events.dom = wanted.dom)
UNION ALL SELECT DISTINCT 'the table about', seq FROM referred WHERE NOT EXISTS
  (SELECT 1 FROM about WHERE about.ref = referred.ref AND about.seq = referred.seq)`

/** A small table would be read as a whole, and an index that lacks an event would not show. */
const byIndexOnly = async <Result>(pool: Pool, work: (query: Query) => Promise<Result>): Promise<Result> => {
  try {
    const client = await pool.connect()
    try {
      await client.query(`BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
        SET LOCAL enable_mergejoin = off`)
      return await work(queryOn(client))
    } finally {
      await client.query('ROLLBACK').catch(() => undefined)
      client.release()
    }
  } catch (error) {
    throw asStoreError(error)
  }
}

/** Locks the log against appends. The limit for statements is lifted, because a rebuild of a long log takes minutes. */
const rebuild = async (server: Server): Promise<void> => {
  const client = await connect({ ...server, statementTimeoutMs: REBUILD_MS_MAX }, 'signal-engine repair')
  try {
    await client.query('BEGIN')
    await rebuildIn(client)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw asStoreError(error)
  } finally {
    await disconnect(client)
  }
}

const REBUILD_MS_MAX = 3_600_000

const statementsOf = (kind: 'INDEX' | 'TRIGGER'): ReadonlyMap<string, string> =>
  new Map(
    [...SCHEMA.matchAll(new RegExp(`^CREATE (?:UNIQUE )?${kind} (\\w+)[^;]*;$`, 'gm'))].map(
      ([text, name]) => [name ?? '', text] as const,
    ),
  )

const rebuildIn = async (client: Client): Promise<void> => {
  await client.query('LOCK TABLE events, about, tree_nodes IN ACCESS EXCLUSIVE MODE')
  const triggers = statementsOf('TRIGGER')
  const indexes = statementsOf('INDEX')
  for (const name of triggers.keys()) await client.query(`DROP TRIGGER IF EXISTS ${name} ON events`)
  for (const name of indexes.keys()) await client.query(`DROP INDEX IF EXISTS ${name}`)
  await client.query(`
UPDATE events SET dom = right_dom, dom_count = place FROM (
  SELECT seq AS at, right_dom, row_number() OVER (PARTITION BY right_dom ORDER BY seq) AS place FROM (
    SELECT seq, CASE WHEN strpos(type, '.') = 0 THEN type
      ELSE split_part(type, '.', 1) || '.' || split_part(type, '.', 2) END AS right_dom FROM events) AS typed
) AS counted WHERE events.seq = at AND (dom <> right_dom OR dom_count <> place)`)
  await client.query('DELETE FROM about; DELETE FROM tree_nodes')
  const query = queryOn(client)
  let last = 0
  for (;;) {
    const records = await readPage(query, { after: last, order: 'asc', limit: PAGE })
    const refs = records.flatMap((record) => refsIn(record).map((ref) => ({ ref, seq: record.seq })))
    await query({ text: REFER, values: [JSON.stringify(refs)] })
    last = records.at(-1)?.seq ?? last
    if (records.length < PAGE) break
  }
  for (let size = TILE_WIDTH; size <= last; size += TILE_WIDTH)
    await client.query('SELECT complete_tree_nodes($1)', [size])
  for (const statement of [...indexes.values(), ...triggers.values()]) await client.query(statement)
}

const REFER = `INSERT INTO about (ref, seq)
  SELECT DISTINCT ref, seq FROM json_to_recordset($1::json) AS one(ref text, seq bigint)`
const PAGE = 1000

/** A damaged payload is reported by verification. It is about nothing. */
const refsIn = (record: LogRecord): readonly string[] => {
  try {
    return refsOf(stampedFrom(record))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}
