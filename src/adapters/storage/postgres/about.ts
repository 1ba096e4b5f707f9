import { stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { refKey, refsOf } from '../../../core/log/refs.ts'
import { recordsOf, type Ask } from './ask.ts'
import { hasPrefix, type PageBounds, type SqlQuery } from './page-query.ts'
import { COLUMNS } from './rows.ts'

// When as many as were asked for are not enough (ids made in the same moment share a key), look at more at once.
const LOOK_AT_MORE = 200

/** Events about an id. Different ids may share a key, so each event that the index names is looked at again. */
export const readAbout = async (
  ask: Ask,
  about: string,
  types: readonly string[] | undefined,
  bounds: PageBounds,
): Promise<readonly LogRecord[]> => {
  const found: LogRecord[] = []
  let size = bounds.limit
  for await (const seqs of namedSeqs(ask, refKey(about), bounds)) {
    for (let at = 0; at < seqs.length && found.length < bounds.limit;) {
      const events = await recordsOf(ask, eventsQuery(seqs.slice(at, at + size), types, bounds.order))
      for (const event of events) if (refsOf(stampedFrom(event)).includes(about)) found.push(event)
      at += size
      size = Math.max(size, LOOK_AT_MORE)
    }
    if (found.length >= bounds.limit) break
  }
  return found.slice(0, bounds.limit)
}

/** What the index names inside the bounds, in their order, in pages. */
async function* namedSeqs(ask: Ask, key: number, bounds: PageBounds): AsyncGenerator<readonly number[]> {
  let { after, before, limit } = bounds
  while (limit > 0) {
    // One more, so that an entry which only reaches into the page never is all of it.
    const entries = await ask<EntryRow>(entriesQuery(key, { ...bounds, after, before, limit: limit + 1 }))
    const seqs = entries.flatMap(seqsOf).filter((seq) => seq > after && seq < before)
    yield bounds.order === 'asc' ? seqs : seqs.toSorted((one, other) => other - one)
    if (entries.length <= limit) return
    if (bounds.order === 'asc') after = seqs.at(-1) ?? after
    else before = entries.at(-1)?.[0] ?? before
    limit = Math.max(limit, LOOK_AT_MORE)
  }
}

/** Events of one batch: the first of them, and if there are more, all of them as the server writes a list. */
type EntryRow = [seq: number, seqs: string | null]

const seqsOf = ([seq, seqs]: EntryRow): readonly number[] =>
  seqs === null ? [seq] : seqs.slice(1, -1).split(',').map(Number)

const entriesQuery = (key: number, { after, before, order, limit }: PageBounds): SqlQuery => ({
  name: `about-${order}`,
  text: `SELECT seq, seqs FROM about
         WHERE k = $1 AND seq < $3 AND seq >= coalesce((SELECT max(seq) FROM about WHERE k = $1 AND seq <= $2), 0)
         ORDER BY seq ${order} LIMIT $4`,
  values: [key, after, before, limit],
})

const eventsQuery = (
  seqs: readonly number[],
  types: readonly string[] | undefined,
  order: PageBounds['order'],
): SqlQuery => {
  const values: unknown[] = [seqs]
  const ofTypes = types === undefined ? '' : `AND ${hasPrefix(types, values)}`
  return {
    ...(types === undefined && { name: `named-${order}` }),
    text: `SELECT ${COLUMNS} FROM events WHERE seq = ANY($1::bigint[]) ${ofTypes} ORDER BY seq ${order}`,
    values,
  }
}
