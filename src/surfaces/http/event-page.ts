import { hasTypePrefix } from '../../core/log/domain.ts'
import { stampedFrom, type LogRecord } from '../../core/log/event.ts'
import { refsOf, symbolRef } from '../../core/log/refs.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'

export interface EventPageQuery {
  /** Exclusive bounds on seq. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly type?: string | undefined
  readonly symbol?: string | undefined
  /** What the events are about, as `core/log/refs` names it. */
  readonly about?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface EventPage {
  readonly records: readonly LogRecord[]
  /** Where the next page begins: `after` in ascending, `before` in descending order. Null at the end. */
  readonly nextSeq: number | null
}

/** Rows about one thing that are looked at for a type or a symbol before the page ends early. */
export const EXAMINED_MAX = 5000

const STEP = 500

/** One page of the log, by indexes only. */
export const readEventPage = (log: EventLog, query: EventPageQuery): Promise<EventPage> => {
  const { type, symbol, about } = query
  const refs = [about, symbol === undefined ? undefined : symbolRef(symbol)].filter(
    (ref) => ref !== undefined,
  )
  const [ref, ...others] = refs
  if (ref === undefined || (type === undefined && others.length === 0)) return readByOneIndex(log, query, ref)
  return readAndSift(log, query, ref, (row) => {
    if (type !== undefined && !hasTypePrefix(row.type, type)) return false
    return others.every((other) => isAbout(row, other))
  })
}

const readByOneIndex = async (
  log: EventLog,
  query: EventPageQuery,
  ref: string | undefined,
): Promise<EventPage> => {
  const records = await log.read({
    ...boundsOf(query),
    ...(query.type === undefined ? {} : { types: [query.type] }),
    ...(ref === undefined ? {} : { about: ref }),
    order: query.order,
    // One more than asked for tells whether there is more.
    limit: query.limit + 1,
  })
  return pageOf(records, query.limit)
}

/**
 * Events about one thing, those that pass kept. If few of them do, the page ends early: it has fewer items than
 * asked for, and a next page.
 */
const readAndSift = async (
  log: EventLog,
  query: EventPageQuery,
  ref: string,
  passes: (row: LogRecord) => boolean,
): Promise<EventPage> => {
  const found: LogRecord[] = []
  let bounds = boundsOf(query)
  for (let examined = 0; examined < EXAMINED_MAX; examined += STEP) {
    const rows = await log.read({ ...bounds, about: ref, order: query.order, limit: STEP })
    found.push(...rows.filter(passes))
    const last = rows.at(-1)
    if (found.length > query.limit || rows.length < STEP || last === undefined)
      return pageOf(found, query.limit)
    bounds = query.order === 'asc' ? { ...bounds, after: last.seq } : { ...bounds, before: last.seq }
  }
  return { records: found, nextSeq: (query.order === 'asc' ? bounds.after : bounds.before) ?? null }
}

const isAbout = (row: LogRecord, ref: string): boolean => {
  try {
    return refsOf(stampedFrom(row)).includes(ref)
  } catch (error) {
    // A damaged payload names nothing; verification is what finds it.
    if (error instanceof SyntaxError || error instanceof TypeError) return false
    throw error
  }
}

const boundsOf = ({ after, before }: EventPageQuery): Pick<LogQuery, 'after' | 'before'> => ({
  ...(after === undefined ? {} : { after }),
  ...(before === undefined ? {} : { before }),
})

const pageOf = (records: readonly LogRecord[], limit: number): EventPage => {
  const page = records.slice(0, limit)
  return { records: page, nextSeq: records.length > limit ? (page.at(-1)?.seq ?? null) : null }
}
