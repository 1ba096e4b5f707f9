import { hasTypePrefix } from '../../core/log/domain.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { symbolRef } from '../../core/log/refs.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'

export interface EventPageQuery {
  /** Exclusive bounds on seq. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly type?: string | undefined
  readonly symbol?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface EventPage {
  readonly records: readonly LogRecord[]
  /** Where the next page begins: `after` in ascending, `before` in descending order. Null at the end. */
  readonly nextSeq: number | null
}

/** Rows of a symbol that are looked at for a type before the page ends early. */
export const EXAMINED_MAX = 5000

const STEP = 500

/** One page of the log, by indexes only. */
export const readEventPage = (log: EventLog, query: EventPageQuery): Promise<EventPage> =>
  query.type !== undefined && query.symbol !== undefined
    ? readByTypeAndSymbol(log, query, query.type, query.symbol)
    : readByOneIndex(log, query)

const readByOneIndex = async (log: EventLog, query: EventPageQuery): Promise<EventPage> => {
  const records = await log.read({
    ...boundsOf(query),
    ...(query.type === undefined ? {} : { types: [query.type] }),
    ...(query.symbol === undefined ? {} : { about: symbolRef(query.symbol) }),
    order: query.order,
    // One more than asked for tells whether there is more.
    limit: query.limit + 1,
  })
  return pageOf(records, query.limit)
}

/**
 * A symbol's events, those of one type kept. If few of them match, the page ends early: it has fewer items than
 * asked for, and a next page.
 */
const readByTypeAndSymbol = async (
  log: EventLog,
  query: EventPageQuery,
  type: string,
  symbol: string,
): Promise<EventPage> => {
  const found: LogRecord[] = []
  let bounds = boundsOf(query)
  for (let examined = 0; examined < EXAMINED_MAX; examined += STEP) {
    const rows = await log.read({ ...bounds, about: symbolRef(symbol), order: query.order, limit: STEP })
    found.push(...rows.filter((row) => hasTypePrefix(row.type, type)))
    const last = rows.at(-1)
    if (found.length > query.limit || rows.length < STEP || last === undefined)
      return pageOf(found, query.limit)
    bounds = query.order === 'asc' ? { ...bounds, after: last.seq } : { ...bounds, before: last.seq }
  }
  return { records: found, nextSeq: (query.order === 'asc' ? bounds.after : bounds.before) ?? null }
}

const boundsOf = ({ after, before }: EventPageQuery): Pick<LogQuery, 'after' | 'before'> => ({
  ...(after === undefined ? {} : { after }),
  ...(before === undefined ? {} : { before }),
})

const pageOf = (records: readonly LogRecord[], limit: number): EventPage => {
  const page = records.slice(0, limit)
  return { records: page, nextSeq: records.length > limit ? (page.at(-1)?.seq ?? null) : null }
}
