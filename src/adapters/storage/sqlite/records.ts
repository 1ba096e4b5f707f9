import { EMPTY_HEAD, hasTypePrefix, type Head, type LogRecord } from '../../../core/log/event.ts'
import { SEQ_MAX, type EventLog, type LogQuery } from '../../../ports/event-log.ts'
import { yieldToEventLoop } from '../../../ports/yield-to-event-loop.ts'
import {
  allRows,
  firstRow,
  prepareRows,
  type Database,
  type Row,
  type Statement,
  type Value,
} from './database.ts'
import { COLUMNS_BEHIND_SEQ, RECORD_COLUMNS, recordFrom } from '../../record-row.ts'
import { HEAD_SEQ, IS_EVENT, IS_SIGNAL } from './schema.ts'

/** Exclusive bounds on seq. */
export interface SeqBounds {
  readonly after: number
  readonly before: number
}

type Order = LogQuery['order']

/** Reads records through the indexes. Long reads go page by page and yield to the event loop in between. */
export class Records {
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  head(): Head {
    const row = this.#first(`SELECT seq, hash, recorded_at FROM events WHERE seq = (${HEAD_SEQ})`)
    if (row === undefined) return EMPTY_HEAD
    const [seq, hash, recordedAt] = row as readonly [number, string, string]
    return { seq, hash, recordedAt }
  }

  get(id: string): LogRecord | null {
    const row = this.#first(`SELECT ${RECORD_COLUMNS} FROM events WHERE id = ? AND ${IS_EVENT}`, id)
    return row === undefined ? null : recordFrom(row)
  }

  withDedupeKeys(keys: readonly string[]): ReadonlyMap<string, LogRecord> {
    const found = new Map<string, LogRecord>()
    for (const key of new Set(keys)) {
      const row = this.#first(
        `SELECT ${RECORD_COLUMNS} FROM events WHERE dedupe_key = ? AND ${IS_EVENT}`,
        key,
      )
      if (row !== undefined) found.set(key, recordFrom(row))
    }
    return found
  }

  countByDomain(): ReadonlyMap<string, number> {
    return new Map(
      this.#all(`SELECT dom, min(n, ${SEQ_MAX}) FROM counters`) as readonly (readonly [string, number])[],
    )
  }

  /** The next records of (after, upTo], in order. */
  scan(after: number, upTo: number, limit: number): readonly LogRecord[] {
    return this.#page([ALL_EVENTS], { after, before: upTo + 1 }, 'asc', limit)
  }

  async read({
    after = -SEQ_MAX,
    before = SEQ_MAX + 1,
    types,
    about,
    order,
    limit,
  }: LogQuery): Promise<readonly LogRecord[]> {
    // The head first: a domain that appears later is not in the list below, so neither may its events be in range.
    let bounds: SeqBounds = { after, before: Math.min(before, this.head().seq + 1) }
    const { ranges, isExact } = this.#rangesOf(types, about)
    const found: LogRecord[] = []
    for (let round = 0; found.length < limit; round += 1) {
      const wanted = limit - found.length
      const size = Math.min(PAGE_MAX, isExact ? wanted : Math.max(wanted, PAGE_MIN * 2 ** round))
      const page = this.#page(ranges, bounds, order, size)
      for (const record of page) if (isExact || hasType(record, types)) found.push(record)
      const last = page.at(-1)
      if (last === undefined || page.length < size) break
      bounds = order === 'asc' ? { ...bounds, after: last.seq } : { ...bounds, before: last.seq }
      if (found.length < limit) await yieldToEventLoop()
    }
    return found.slice(0, limit)
  }

  /** Signals, newest time first. */
  async byTime({
    domain,
    limit,
    offset,
  }: Parameters<EventLog['readByTime']>[0]): Promise<readonly LogRecord[]> {
    const andDomain = domain === null ? '' : 'AND dom = ?'
    const sql = (columns: string): string =>
      `SELECT ${columns} FROM events WHERE ${IS_SIGNAL} AND ${IS_EVENT} ${andDomain} AND (ts, seq) < (?, ?)
       ORDER BY ts DESC, seq DESC LIMIT ? OFFSET ?`
    const filter = domain === null ? [] : [domain]
    let before: Row = [END_OF_TIME, SEQ_MAX]
    let left = offset
    for (; left > SKIP_AT_ONCE; left -= SKIP_AT_ONCE) {
      const last = this.#first(sql('ts, seq'), ...filter, ...before, 1, SKIP_AT_ONCE - 1)
      if (last === undefined) return []
      before = last
      await yieldToEventLoop()
    }
    return this.#all(sql(RECORD_COLUMNS), ...filter, ...before, limit, left).map(recordFrom)
  }

  /** The index ranges that hold every match; not exact where they hold other events too. */
  #rangesOf(
    types: LogQuery['types'],
    about: string | undefined,
  ): { readonly ranges: readonly IndexRange[]; readonly isExact: boolean } {
    if (about !== undefined) return { ranges: [aboutRef(about)], isExact: types === undefined }
    if (types === undefined) return { ranges: [ALL_EVENTS], isExact: true }
    const domains = [...this.countByDomain().keys()]
    const isWhole = (domain: string): boolean => types.some((prefix) => hasTypePrefix(domain, prefix))
    const wanted = domains.filter(
      (domain) => isWhole(domain) || types.some((prefix) => hasTypePrefix(prefix, domain)),
    )
    return {
      ranges: wanted.map(ofDomain),
      isExact: wanted.every(isWhole),
    }
  }

  /** Several ranges in one order: SQLite merges them without sorting, so the cost is that of the rows returned. */
  #page(
    ranges: readonly IndexRange[],
    { after, before }: SeqBounds,
    order: Order,
    limit: number,
  ): readonly LogRecord[] {
    const records: LogRecord[] = []
    for (let from = 0; from < ranges.length; from += RANGES_AT_ONCE) {
      const some = ranges.slice(from, from + RANGES_AT_ONCE)
      const select = some.map(
        ({ from: rows, seq }) =>
          `SELECT ${seq}, ${COLUMNS_BEHIND_SEQ} FROM ${rows} AND ${seq} > ? AND ${seq} < ?`,
      )
      const values = some.flatMap(({ value }) => [...(value === undefined ? [] : [value]), after, before])
      const rows = this.#all(`${select.join(' UNION ALL ')} ORDER BY 1 ${order} LIMIT ?`, ...values, limit)
      for (const row of rows) records.push(recordFrom(row))
    }
    if (ranges.length <= RANGES_AT_ONCE) return records
    return records.sort((one, other) => (order === 'asc' ? 1 : -1) * (one.seq - other.seq)).slice(0, limit)
  }

  #first(sql: string, ...values: readonly Value[]): Row | undefined {
    return firstRow(this.#statement(sql), ...values)
  }

  #all(sql: string, ...values: readonly Value[]): readonly Row[] {
    return allRows(this.#statement(sql), ...values)
  }

  /** There are few texts: the number of merged domains is the only thing that varies. */
  #statement(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = prepareRows(this.#db, sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

interface IndexRange {
  readonly from: string
  readonly seq: string
  readonly value?: string
}

const ALL_EVENTS: IndexRange = { from: 'events WHERE true', seq: 'seq' }
const ofDomain = (domain: string): IndexRange => ({ from: 'events WHERE dom = ?', seq: 'seq', value: domain })
// A cross join is never reordered: the index of refs is walked in the order of seq.
const aboutRef = (ref: string): IndexRange => ({
  from: 'about CROSS JOIN events ON events.seq = about.seq WHERE about.ref = ?',
  seq: 'about.seq',
  value: ref,
})

const END_OF_TIME = '9999-12-31T23:59:59.999Z'
const PAGE_MIN = 100
const PAGE_MAX = 1000
/** Preparing a merge of more ranges takes longer than running several merges. */
const RANGES_AT_ONCE = 64
const SKIP_AT_ONCE = 20_000

const hasType = (record: LogRecord, types: LogQuery['types']): boolean =>
  types === undefined || types.some((prefix) => hasTypePrefix(record.type, prefix))
