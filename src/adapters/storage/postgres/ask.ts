import type { Pool } from 'pg'
import type { LogRecord } from '../../../core/log/event.ts'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { asStoreFault, LogClosedError } from './faults.ts'
import type { SqlQuery } from './page-query.ts'
import { COLUMN_TYPES, recordOf, type RecordRow } from './rows.ts'

const QUERIES_WAITING_MAX = 1_000

/** Rows of a query, or StoreUnavailableError. */
export type Ask = <Row extends readonly unknown[]>(query: SqlQuery) => Promise<readonly Row[]>

export const askThrough =
  (pool: Pool): Ask =>
  async <Row extends readonly unknown[]>(query: SqlQuery): Promise<readonly Row[]> => {
    if (pool.ending) throw new LogClosedError()
    if (pool.waitingCount >= QUERIES_WAITING_MAX)
      throw new StoreUnavailableError('too many reads are waiting')
    try {
      const { rows } = await pool.query({
        ...query,
        values: [...query.values],
        rowMode: 'array',
        types: COLUMN_TYPES,
      })
      return rows as unknown as readonly Row[]
    } catch (error) {
      throw asStoreFault(error)
    }
  }

export const recordsOf = async (ask: Ask, query: SqlQuery): Promise<readonly LogRecord[]> =>
  (await ask<RecordRow>(query)).map(recordOf)
