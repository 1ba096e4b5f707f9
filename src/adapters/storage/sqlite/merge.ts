import { allRows, prepareRows, type Database, type Row, type Statement, type Value } from './database.ts'

/**
 * Sorted rows of several domains as one sorted list. SQLite merges the ranges of its index without sorting, so the
 * cost is that of the rows that are returned, not of those that match.
 */
export class DomainMerge {
  readonly #db: Database
  readonly #ofDomain: string
  readonly #orderBy: string
  readonly #statements = new Map<number, Statement>()

  /** @param ofDomain a query whose first parameter is the domain */
  constructor(db: Database, ofDomain: string, orderBy: string) {
    this.#db = db
    this.#ofDomain = ofDomain
    this.#orderBy = orderBy
  }

  /** @param compare as the rows are ordered; needed where there are more domains than one statement takes */
  first(
    domains: readonly number[],
    parameters: readonly Value[],
    { limit, offset }: { readonly limit: number; readonly offset: number },
    compare: (one: Row, other: Row) => number,
  ): readonly Row[] {
    if (domains.length <= DOMAINS_AT_ONCE) return this.#merge(domains, parameters, limit, offset)
    const rows: Row[] = []
    for (let from = 0; from < domains.length; from += DOMAINS_AT_ONCE) {
      rows.push(...this.#merge(domains.slice(from, from + DOMAINS_AT_ONCE), parameters, limit + offset, 0))
    }
    return rows.sort(compare).slice(offset, offset + limit)
  }

  #merge(
    domains: readonly number[],
    parameters: readonly Value[],
    limit: number,
    offset: number,
  ): readonly Row[] {
    if (domains.length === 0) return []
    const values = domains.flatMap((domain) => [domain, ...parameters])
    return allRows(this.#statementFor(domains.length), ...values, limit, offset)
  }

  #statementFor(count: number): Statement {
    const known = this.#statements.get(count)
    if (known !== undefined) return known
    const union = Array.from({ length: count }, () => this.#ofDomain).join(' UNION ALL ')
    const statement = prepareRows(this.#db, `${union} ORDER BY ${this.#orderBy} LIMIT ? OFFSET ?`)
    this.#statements.set(count, statement)
    return statement
  }
}

/** More take longer to prepare than several statements take to run. */
const DOMAINS_AT_ONCE = 64
