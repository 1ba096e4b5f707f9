import { domainOf, hasTypePrefix } from '../../../core/log/event.ts'
import type { LogQuery } from '../../../ports/event-log.ts'
import { COLUMNS } from './rows.ts'
import { INDEXED_UP_TO, runsOf, seqsOfRuns } from './runs.ts'
import { IS_SIGNAL } from './schema.ts'

export interface SqlQuery {
  /** Kept by the server under this name; queries of many shapes have none. */
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What a page is read from: one domain as a whole, or those types of it that have one of the prefixes. */
export interface Branch {
  readonly domain: string
  readonly prefixes: readonly string[] | 'all'
}

export type PageBounds = Pick<LogQuery, 'order' | 'limit'> & {
  readonly after: number
  readonly before: number
}

/** A prefix of one segment is a category: which domains belong to it is for the log to say. */
export const isCategory = (prefix: string): boolean => !prefix.includes('.')

export const branchesOf = (types: readonly string[], knownDomains: readonly string[]): readonly Branch[] => {
  const domains = new Set(types.filter((prefix) => !isCategory(prefix)).map(domainOf))
  for (const domain of knownDomains)
    if (types.some((prefix) => hasTypePrefix(domain, prefix))) domains.add(domain)
  return [...domains].map((domain) => ({
    domain,
    prefixes: types.some((prefix) => hasTypePrefix(domain, prefix))
      ? 'all'
      : types.filter((prefix) => hasTypePrefix(prefix, domain)),
  }))
}

export const allPage = ({ after, before, order, limit }: PageBounds): SqlQuery => ({
  name: `page-${order}`,
  text: `SELECT ${COLUMNS} FROM events WHERE seq > $1 AND seq < $2 ORDER BY seq ${order} LIMIT $3`,
  values: [after, before, limit],
})

/** The runs of all branches, merged as far as the page reaches, and the few events behind the last run. */
export const branchesPage = (
  branches: readonly Branch[],
  { after, before, order, limit }: PageBounds,
): SqlQuery => {
  const values: unknown[] = [after, before, limit]
  const isPlain = branches.every(({ prefixes }) => prefixes === 'all')
  const conditions = branches.map(({ domain, prefixes }) => {
    const ofDomain = `dom = $${values.push(domain)}`
    return {
      ofDomain,
      ofBranch: prefixes === 'all' ? ofDomain : `${ofDomain} AND ${hasPrefix(prefixes, values)}`,
    }
  })
  const ofPage = conditions.map(({ ofBranch }) => `(${ofBranch})`).join(' OR ')
  const runs = conditions.map(({ ofDomain }) => runsOf('domain_runs', ofDomain, '$1', '$2'))
  const indexed = seqsOfRuns({
    runs: merge(runs, `run ${order}`),
    ...(!isPlain && { only: `events.dom = runs.dom AND (${ofPage})` }),
    after: '$1',
    before: '$2',
    order,
    limit: '$3',
  })
  const text = `
SELECT ${COLUMNS} FROM events WHERE seq = ANY(ARRAY(
  (SELECT seq FROM events WHERE seq > greatest($1, ${INDEXED_UP_TO}) AND seq < $2 AND (${ofPage})
   ORDER BY seq ${order} LIMIT $3)
  UNION ALL (${indexed})
)) ORDER BY seq ${order} LIMIT $3`
  return { ...(isPlain && { name: `domains-${branches.length}-${order}` }), text, values }
}

/** Signals of these domains, newest time first. */
export const timePage = (
  domains: readonly string[],
  { limit, offset, upTo }: { readonly limit: number; readonly offset: number; readonly upTo: number },
): SqlQuery => {
  const values: unknown[] = [limit, offset, upTo]
  const selects = domains.map(
    (domain) =>
      `SELECT ${COLUMNS} FROM events WHERE ${IS_SIGNAL} AND dom = $${values.push(domain)} AND seq <= $3`,
  )
  return {
    name: `times-${domains.length}`,
    text: `${merge(selects, 'ts DESC, seq DESC')} LIMIT $1 OFFSET $2`,
    values,
  }
}

/** Ordered parts make the server take from each only what is next; it would collect and sort unordered ones. */
const merge = (selects: readonly string[], order: string): string => {
  const parts = selects.map((select) => `(${select} ORDER BY ${order})`)
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS page ORDER BY ${order}`
}

/** That `type` has one of these, whole segments only. */
export const hasPrefix = (prefixes: readonly string[], values: unknown[]): string => {
  const tests = prefixes.map((prefix) => {
    const exact = `$${values.push(prefix)}`
    return `type = ${exact} OR starts_with(type, $${values.push(`${prefix}.`)})`
  })
  return `(${tests.join(' OR ')})`
}
