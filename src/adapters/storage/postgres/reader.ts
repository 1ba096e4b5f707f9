import {
  categoryOf,
  domainOf,
  EMPTY_HEAD,
  hasTypePrefix,
  type Head,
  type LogRecord,
} from '../../../core/log/event.ts'
import type { EventLog, LogQuery } from '../../../ports/event-log.ts'
import { readAbout } from './about.ts'
import { type Ask, recordsOf } from './ask.ts'
import { allPage, branchesOf, branchesPage, isCategory, timePage } from './page-query.ts'
import { COLUMNS } from './rows.ts'
import { INDEXED_UP_TO } from './runs.ts'

const SEQ_MAX = Number.MAX_SAFE_INTEGER

export const readHead = async (ask: Ask): Promise<Head> => {
  const [row] = await ask<[number, string, string]>({
    name: 'head',
    text: 'SELECT seq, hash, recorded_at FROM events ORDER BY seq DESC LIMIT 1',
    values: [],
  })
  return row === undefined ? EMPTY_HEAD : { seq: row[0], hash: row[1], recordedAt: row[2] }
}

export const readPage = async (ask: Ask, query: LogQuery): Promise<readonly LogRecord[]> => {
  const { types, about } = query
  const bounds = {
    after: query.after ?? 0,
    before: Math.min(query.before ?? SEQ_MAX, SEQ_MAX),
    order: query.order,
    limit: query.limit,
  }
  if (types?.length === 0) return []
  if (about !== undefined) return readAbout(ask, about, types, bounds)
  if (types === undefined) return recordsOf(ask, allPage(bounds))
  if (!types.some(isCategory)) return recordsOf(ask, branchesPage(branchesOf(types, []), bounds))
  const known = await readDomains(ask)
  const branches = branchesOf(types, known.domains)
  if (branches.length === 0) return []
  return recordsOf(
    ask,
    branchesPage(branches, { ...bounds, before: Math.min(bounds.before, known.headSeq + 1) }),
  )
}

export const readByTime = async (
  ask: Ask,
  { domain, limit, offset }: Parameters<EventLog['readByTime']>[0],
): Promise<readonly LogRecord[]> => {
  if (domain !== null) return recordsOf(ask, timePage([domain], { limit, offset, upTo: SEQ_MAX }))
  const { domains, headSeq } = await readDomains(ask)
  const signals = domains.filter((known) => categoryOf(known) === 'signal')
  return signals.length === 0 ? [] : recordsOf(ask, timePage(signals, { limit, offset, upTo: headSeq }))
}

export const readById = async (ask: Ask, id: string): Promise<LogRecord | null> => {
  const [record] = await recordsOf(ask, {
    name: 'by-id',
    text: `SELECT ${COLUMNS} FROM events WHERE id = $1`,
    values: [id],
  })
  return record ?? null
}

export const readByDedupeKeys = async (
  ask: Ask,
  keys: readonly string[],
): Promise<ReadonlyMap<string, LogRecord>> => {
  if (keys.length === 0) return new Map()
  const records = await recordsOf(ask, {
    name: 'by-dedupe-key',
    text: `SELECT ${COLUMNS} FROM events WHERE dedupe_key = ANY($1::text[])`,
    values: [keys],
  })
  return new Map(
    records.flatMap((record) => (record.dedupeKey === null ? [] : [[record.dedupeKey, record] as const])),
  )
}

export const countEvents = async (ask: Ask, typePrefix: string | undefined): Promise<number> => {
  if (typePrefix === undefined) return (await readHead(ask)).seq
  if (domainOf(typePrefix) !== typePrefix) throw new Error(`${typePrefix} is no domain and no category`)
  let count = 0
  for (const [domain, n] of await countByDomain(ask)) if (hasTypePrefix(domain, typePrefix)) count += n
  return count
}

export const countByDomain = async (ask: Ask): Promise<ReadonlyMap<string, number>> =>
  new Map(
    await ask<[string, number]>({
      name: 'counts',
      text: COUNT_BY_DOMAIN,
      values: [],
    }),
  )

const COUNT_BY_DOMAIN = `
SELECT dom, sum(n)::bigint FROM (
  SELECT dom, (SELECT count FROM domain_runs WHERE domain_runs.dom = domains.dom ORDER BY run DESC LIMIT 1) AS n
  FROM domains
  UNION ALL
  SELECT dom, 1 FROM events WHERE seq > ${INDEXED_UP_TO}
) AS counted GROUP BY dom`

/**
 * The domains up to a head, as one answer. A page must not reach beyond that head: it could hold an event
 * and miss an earlier one of a domain that came up in between.
 */
const readDomains = async (
  ask: Ask,
): Promise<{ readonly headSeq: number; readonly domains: readonly string[] }> => {
  const rows = await ask<[number, string]>({
    name: 'domains',
    text: DOMAINS,
    values: [],
  })
  return { headSeq: rows[0]?.[0] ?? 0, domains: rows.map(([, domain]) => domain) }
}

const DOMAINS = `
SELECT (SELECT max(seq) FROM events), dom
FROM (SELECT dom FROM domains UNION SELECT dom FROM events WHERE seq > ${INDEXED_UP_TO}) AS known`
