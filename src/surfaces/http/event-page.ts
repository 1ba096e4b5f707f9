import { firstSeqFrom } from '../../engine/queries/first-seq-from.ts'
import { hasTypePrefix, type LogRecord } from '../../core/log/event.ts'
import { refsOf, sourceRef, symbolRef } from '../../core/log/refs.ts'
import { payloadOf } from '../../core/log/payload.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'

export interface EventPageQuery {
  /** Exclusive bounds on seq. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly type?: string | undefined
  readonly symbol?: string | undefined
  readonly source?: string | undefined
  /** Subject of the events, as `core/log/refs` names it. */
  readonly about?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface EventPage {
  readonly records: readonly LogRecord[]
  /** Start of the next page: `after` in ascending, `before` in descending order. Null at the end. */
  readonly nextSeq: number | null
}

/** Number of rows of one index that are checked against the other conditions before the page ends early. */
export const EXAMINED_MAX = 5000

const STEP = 500

/** One page of the log, read through indexes only. */
export const readEventPage = async (log: EventLog, query: EventPageQuery): Promise<EventPage> => {
  const { after, before, type, source, order, limit } = query
  const refs = refsOfQuery(query)
  const conditions = refs.length + [type, source].filter((one) => one !== undefined).length
  const [about] = refs
  const index: Index = about === undefined ? (type === undefined ? {} : { types: [type] }) : { about }
  if (conditions > Object.keys(index).length) return searchIndex(log, query, index, refs)
  // One row more than the limit shows whether there is a next page.
  return pageOf(await log.read({ after, before, ...index, order, limit: limit + 1 }), limit)
}

type Index = Pick<LogQuery, 'about' | 'types'>

/** References in the order of their rarity. The rarest one is looked up, the others are compared. */
const refsOfQuery = ({ about, source, symbol, type }: EventPageQuery): readonly string[] => [
  ...(about === undefined ? [] : [about]),
  // Only signals are indexed by author.
  ...(source === undefined || type?.split('.')[0] !== 'signal' ? [] : [sourceRef(source)]),
  ...(symbol === undefined ? [] : [symbolRef(symbol)]),
]

/**
 * Reads one index and compares the other conditions. With few matches the page ends early: it has fewer items and a
 * next page.
 */
const searchIndex = async (
  log: EventLog,
  query: EventPageQuery,
  index: Index,
  refs: readonly string[],
): Promise<EventPage> => {
  const found: LogRecord[] = []
  const { order, limit } = query
  let { after, before } = query
  for (let examined = 0; examined < EXAMINED_MAX; examined += STEP) {
    const rows = await log.read({ after, before, ...index, order, limit: STEP })
    found.push(...rows.filter((row) => matches(row, query, refs)))
    const last = rows.at(-1)
    if (found.length > limit || rows.length < STEP || last === undefined) return pageOf(found, limit)
    if (order === 'asc') after = last.seq
    else before = last.seq
  }
  return { records: found, nextSeq: (order === 'asc' ? after : before) ?? null }
}

const matches = (
  record: LogRecord,
  { type, source }: EventPageQuery,
  [, ...others]: readonly string[],
): boolean => {
  if (type !== undefined && !hasTypePrefix(record.type, type)) return false
  if (source !== undefined && record.source !== source) return false
  if (others.length === 0) return true
  const named = refsOf({ ...record, payload: payloadOf(record) ?? {} })
  return others.every((ref) => named.includes(ref))
}

const pageOf = (records: readonly LogRecord[], limit: number): EventPage => {
  const page = records.slice(0, limit)
  return { records: page, nextSeq: records.length > limit ? (page.at(-1)?.seq ?? null) : null }
}

export interface SeqBounds {
  /** Exclusive bound on seq. */
  readonly after?: number | undefined
  readonly before?: number | undefined
}

/** Converts bounds in time to bounds on seq: `recorded_at` grows with seq, so a binary search finds the place. */
export const seqBoundsWithin = async (
  log: EventLog,
  { after, before }: SeqBounds,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<SeqBounds> => {
  const first = from === undefined ? undefined : await firstSeqFrom(log, from)
  const end = to === undefined ? undefined : await firstSeqFrom(log, to)
  return {
    after: first === undefined ? after : Math.max(first - 1, after ?? 0),
    before: end === undefined ? before : Math.min(end, before ?? Infinity),
  }
}
