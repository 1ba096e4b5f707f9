import { EMPTY_HEAD, type Head, type LogRecord } from '../../../core/log/event.ts'
import {
  allRows,
  firstRow,
  prepareRows,
  type Database,
  type Row,
  type Statement,
  type Value,
} from './database.ts'
import type { KnownNames } from './dictionary.ts'
import { RECORD_COLUMNS, recordFrom } from './rows.ts'
import { HAS_ID } from './schema.ts'
import type { Order, SeqBounds } from './seq-bounds.ts'
import { textOfMillis } from './time-text.ts'

/** Records where they are known to stand. Every call is short and ends its read before it returns. */
export class Records {
  readonly #names: KnownNames
  readonly #head: Statement
  readonly #withId: Statement
  readonly #at: Statement
  readonly #atOfTypes: Statement
  readonly #between: Readonly<Record<Order, Statement>>
  readonly #ofDomain: Readonly<Record<Order, Statement>>

  constructor(db: Database, names: KnownNames) {
    const both = (sql: (order: Order) => string): Readonly<Record<Order, Statement>> => ({
      asc: prepareRows(db, sql('asc')),
      desc: prepareRows(db, sql('desc')),
    })
    this.#names = names
    this.#head = prepareRows(
      db,
      'SELECT seq, lower(hex(hash)), recorded_at + 0.0 FROM events ORDER BY seq DESC LIMIT 1',
    )
    this.#withId = prepareRows(db, `SELECT ${RECORD_COLUMNS} FROM events WHERE ${HAS_ID}`)
    this.#at = prepareRows(db, `SELECT ${RECORD_COLUMNS} FROM ${WANTED}`)
    this.#atOfTypes = prepareRows(db, `SELECT ${RECORD_COLUMNS} FROM ${WANTED} WHERE ${HAS_TYPE}`)
    this.#between = both(
      (order) =>
        `SELECT ${RECORD_COLUMNS} FROM events WHERE seq > ? AND seq < ? ORDER BY seq ${order} LIMIT ?`,
    )
    this.#ofDomain = both(
      (order) =>
        `SELECT ${RECORD_COLUMNS} FROM events WHERE dom = ? AND seq > ? AND seq < ? ORDER BY seq ${order} LIMIT ?`,
    )
  }

  head(): Head {
    const row = firstRow(this.#head) as [number, string, number] | undefined
    return row === undefined ? EMPTY_HEAD : { seq: row[0], hash: row[1], recordedAt: textOfMillis(row[2]) }
  }

  withId(id: string): LogRecord | null {
    const row = firstRow(this.#withId, id, id, id)
    return row === undefined ? null : this.#record(row)
  }

  /** Those of these seqs that are there, in the order given; with types, only events of these. */
  at(seqs: readonly number[], types?: readonly string[]): readonly LogRecord[] {
    if (seqs.length === 0) return []
    const wanted = JSON.stringify(seqs)
    return types === undefined
      ? this.#records(this.#at, wanted)
      : this.#records(this.#atOfTypes, wanted, JSON.stringify(types))
  }

  between({ after, before }: SeqBounds, order: Order, limit: number): readonly LogRecord[] {
    return this.#records(this.#between[order], after, before, limit)
  }

  ofDomain(domain: number, { after, before }: SeqBounds, order: Order, limit: number): readonly LogRecord[] {
    return this.#records(this.#ofDomain[order], domain, after, before, limit)
  }

  #records(statement: Statement, ...values: readonly Value[]): readonly LogRecord[] {
    return allRows(statement, ...values).map((row) => this.#record(row))
  }

  #record(row: Row): LogRecord {
    return recordFrom(row, this.#names.nodeName)
  }
}

// A cross join is never reordered: rows come as they were asked for.
const WANTED = 'json_each(?) AS wanted CROSS JOIN events ON events.seq = wanted.value'

const HAS_TYPE = `EXISTS (SELECT 1 FROM json_each(?) AS prefix
  WHERE events.type = prefix.value OR substr(events.type, 1, length(prefix.value) + 1) = prefix.value || '.')`
