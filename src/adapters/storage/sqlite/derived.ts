import { domainOf, stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { refsInText, refsOf } from '../../../core/log/refs.ts'
import type { DerivedFault } from '../../../ports/derived-data.ts'
import { RECORD_COLUMNS, recordFrom } from '../../record-row.ts'
import { allRows, firstRow, prepare, prepareRows, type Database, type Statement } from './database.ts'
import { IS_SIGNAL, SCHEMA } from './schema.ts'
import { TreeWriter } from './tree.ts'

const isSignal = (table: string): string => IS_SIGNAL.replace('type', `${table}.type`)

/** Which events each index holds, and how a row of it belongs to an event. */
const INDEXES = [
  { name: 'events_id', holds: 'true', probe: 'probe.id = event.id' },
  {
    name: 'events_dedupe_key',
    holds: 'event.dedupe_key IS NOT NULL',
    probe: 'probe.dedupe_key = event.dedupe_key',
  },
  { name: 'events_dom', holds: 'true', probe: 'probe.dom = event.dom' },
  { name: 'events_signals', holds: isSignal('event'), probe: `${isSignal('probe')} AND probe.ts = event.ts` },
  {
    name: 'events_dom_signals',
    holds: isSignal('event'),
    probe: `${isSignal('probe')} AND probe.dom = event.dom AND probe.ts = event.ts`,
  },
] as const

/** `INDEXED BY` makes the probe fail rather than be answered without the index. */
const missingFrom = ({ name, holds, probe }: (typeof INDEXES)[number]): string =>
  `SELECT event.seq FROM events AS event WHERE event.seq IN (SELECT value FROM json_each(?)) AND ${holds}
   AND NOT EXISTS (SELECT 1 FROM events AS probe INDEXED BY ${name} WHERE ${probe} AND probe.seq = event.seq)`

const statementsOf = (kind: 'INDEX' | 'TRIGGER'): ReadonlyMap<string, string> =>
  new Map(
    [...SCHEMA.matchAll(new RegExp(`^CREATE (?:UNIQUE )?${kind} (\\w+) .*;$`, 'gm'))].map(([text, name]) => [
      name ?? '',
      text.slice(0, -1),
    ]),
  )

const INDEX_STATEMENTS = statementsOf('INDEX')
const TRIGGER_STATEMENTS = statementsOf('TRIGGER')

/** Compares the indexes and tables with the events. */
export class DerivedReader {
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  alteredIndexes(): readonly string[] {
    const sql = `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'events'`
    const found = new Map(allRows(this.#rows(sql)).map(([name, text]) => [name, text]))
    return [...INDEX_STATEMENTS].flatMap(([name, text]) => (found.get(name) === text ? [] : [name]))
  }

  foreignTriggers(): readonly string[] {
    const found = allRows(this.#rows(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`))
    return found.flatMap(([name, text]) =>
      TRIGGER_STATEMENTS.get(String(name)) === text ? [] : [String(name)],
    )
  }

  check(records: readonly LogRecord[]): { readonly faults: readonly DerivedFault[]; readonly refs: number } {
    const faults: DerivedFault[] = []
    const seqs = JSON.stringify(records.map(({ seq }) => seq))
    for (const index of this.#usable())
      for (const [seq] of allRows(this.#rows(missingFrom(index)), seqs))
        faults.push({ seq: Number(seq), what: `the index ${index.name}` })
    const rows = this.#rows('SELECT seq, dom FROM events WHERE seq IN (SELECT value FROM json_each(?))')
    const domains = new Map(allRows(rows, seqs).map(([seq, domain]) => [seq, domain]))
    const about = this.#rows('SELECT 1 FROM about WHERE ref = ? AND seq = ?')
    let refs = 0
    for (const record of records) {
      if (domains.get(record.seq) !== domainOf(record.type))
        faults.push({ seq: record.seq, what: 'the column dom' })
      const expected = refsIn(record)
      refs += expected.length
      if (expected.some((ref) => firstRow(about, ref, record.seq) === undefined))
        faults.push({ seq: record.seq, what: 'the table about' })
    }
    return { faults, refs }
  }

  counts(): ReadonlyMap<string, number> {
    const count = (from: string): number => Number(firstRow(this.#rows(`SELECT count(*) FROM ${from}`))?.[0])
    return new Map([
      ...this.#usable().map(
        ({ name, holds }) => [name, count(`events AS event INDEXED BY ${name} WHERE ${holds}`)] as const,
      ),
      ['about', count('about')],
    ])
  }

  #usable(): readonly (typeof INDEXES)[number][] {
    const altered = this.alteredIndexes()
    return INDEXES.filter(({ name }) => !altered.includes(name))
  }

  #rows(sql: string): Statement {
    const known = this.#statements.get(sql) ?? prepareRows(this.#db, sql)
    this.#statements.set(sql, known)
    return known
  }
}

/** Everything but the events is made anew. The connection is one that writes. */
export const rebuildDerived = (db: Database): null => {
  db.exec('BEGIN IMMEDIATE')
  const triggers = allRows(prepareRows(db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`))
  for (const [name] of triggers) db.exec(`DROP TRIGGER "${String(name).replaceAll('"', '""')}"`)
  for (const name of INDEX_STATEMENTS.keys()) db.exec(`DROP INDEX IF EXISTS ${name}`)
  db.exec('DELETE FROM about; DELETE FROM counters; DELETE FROM tree_nodes')
  const page = prepareRows(
    db,
    `SELECT ${RECORD_COLUMNS} FROM events WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`,
  )
  const setDomain = prepare(db, 'UPDATE events SET dom = ? WHERE seq = ? AND dom <> ?')
  const insertAbout = prepare(db, 'INSERT OR IGNORE INTO about VALUES (?, ?)')
  const counts = new Map<string, number>()
  let last = 0
  for (;;) {
    const records = allRows(page, last).map(recordFrom)
    for (const record of records) {
      const domain = domainOf(record.type)
      counts.set(domain, (counts.get(domain) ?? 0) + 1)
      setDomain.run(domain, record.seq, domain)
      for (const ref of refsIn(record)) insertAbout.run(ref, record.seq)
    }
    last = records.at(-1)?.seq ?? last
    if (records.length < PAGE) break
  }
  const setCount = prepare(db, 'INSERT INTO counters VALUES (?, ?)')
  for (const [domain, count] of counts) setCount.run(domain, count)
  new TreeWriter(db).grow(0, last)
  for (const statement of [...INDEX_STATEMENTS.values(), ...TRIGGER_STATEMENTS.values()]) db.exec(statement)
  db.exec('COMMIT')
  return null
}

const PAGE = 1000

/** A damaged payload is reported by verification. It is about nothing. */
const refsIn = (record: LogRecord): readonly string[] => {
  try {
    return refsInText(record).length === 0 ? [] : refsOf(stampedFrom(record))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}
