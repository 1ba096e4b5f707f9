import { stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { refKey, refsOf, sourceRef, symbolRef, traceRef } from '../../../core/log/refs.ts'
import { recordsOf, type Ask } from './ask.ts'
import { hasPrefix, type PageBounds, type SqlQuery } from './page-query.ts'
import { COLUMNS } from './rows.ts'
import { INDEXED_UP_TO, runsOf, seqsOfRuns } from './runs.ts'

// When as many as were asked for are not enough (ids made in the same moment share a key), look at more at once.
const LOOK_AT_MORE = 200

/** Events about an id. Different ids may share a key, so each event that is named is looked at again. */
export const readAbout = async (
  ask: Ask,
  about: string,
  types: readonly string[] | undefined,
  bounds: PageBounds,
): Promise<readonly LogRecord[]> => {
  const found: LogRecord[] = []
  let size = bounds.limit
  for await (const seqs of namedSeqs(ask, about, bounds)) {
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

/** What may be about the id inside the bounds, in their order, in pages. */
async function* namedSeqs(ask: Ask, about: string, bounds: PageBounds): AsyncGenerator<readonly number[]> {
  // First, so that no event can move into the index unseen; what is indexed later is left out there.
  const fresh = await freshSeqs(ask, about, bounds)
  const before = Math.min(bounds.before, fresh.indexedUpTo + 1)
  if (bounds.order === 'desc') yield fresh.seqs.toReversed()
  yield* indexedSeqs(ask, refKey(about), { ...bounds, before })
  if (bounds.order === 'asc') yield fresh.seqs
}

async function* indexedSeqs(ask: Ask, key: number, bounds: PageBounds): AsyncGenerator<readonly number[]> {
  let { after, before, limit } = bounds
  while (limit > 0) {
    const rows = await ask<[number]>(indexedQuery(key, { after, before, order: bounds.order, limit }))
    const seqs = rows.map(([seq]) => seq)
    yield seqs
    const last = seqs.at(-1)
    if (last === undefined || seqs.length < limit) return
    if (bounds.order === 'asc') after = last
    else before = last
    limit = Math.max(limit, LOOK_AT_MORE)
  }
}

const indexedQuery = (key: number, { after, before, order, limit }: PageBounds): SqlQuery => ({
  name: `about-${order}`,
  text: seqsOfRuns({
    runs: `${runsOf('about', 'k = $1', '$2', '$3')} ORDER BY run ${order}`,
    after: '$2',
    before: '$3',
    order,
    limit: '$4',
  }),
  values: [key, after, before, limit],
})

/** Events behind the last run whose text says that they may be about the id, and up to where the index is good. */
const freshSeqs = async (
  ask: Ask,
  about: string,
  { after, before }: PageBounds,
): Promise<{ readonly indexedUpTo: number; readonly seqs: readonly number[] }> => {
  const [row] = await ask<[number, string]>({
    name: 'about-fresh',
    text: ABOUT_FRESH,
    values: [after, before, asInJson(about), ...refParts(about)],
  })
  const [indexedUpTo, seqs] = row ?? [0, '{}']
  return { indexedUpTo, seqs: numbersIn(seqs) }
}

const numbersIn = (list: string): readonly number[] =>
  list === '{}' ? [] : list.slice(1, -1).split(',').map(Number)

/*
 * A symbol is compared in capitals. Beyond ASCII the server knows other capitals than we do, so such texts all may
 * be about it.
 */
const ABOUT_FRESH = `
SELECT ${INDEXED_UP_TO}, ARRAY(
  SELECT seq FROM events WHERE seq > greatest($1, ${INDEXED_UP_TO}) AND seq < $2
    AND (strpos(payload, $3) > 0 OR trace_id = $4 OR source = $5
      OR ($6::text IS NOT NULL AND (strpos(upper(payload), $6) > 0 OR octet_length(payload) <> length(payload))))
  ORDER BY seq)`

/** The trace, the source and the symbol that a ref may stand for: what `refsOf` puts together, taken apart. */
const refParts = (ref: string): readonly (string | null)[] => {
  const after = (prefix: string): string | null => (ref.startsWith(prefix) ? ref.slice(prefix.length) : null)
  const symbol = after(symbolRef(''))
  return [after(traceRef('')), after(sourceRef('')), symbol === null ? null : asInJson(symbol).toUpperCase()]
}

/** A text as it stands between the quotes of canonical JSON. */
const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1)

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
