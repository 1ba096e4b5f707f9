import type { Client, CustomTypesConfig, Pool } from 'pg'
import { bytesFromHex } from '../../../core/log/bytes.ts'
import { domainOf, EMPTY_HEAD, hasTypePrefix, type Head, type LogRecord } from '../../../core/log/event.ts'
import type { NodeRange } from '../../../core/log/tree.ts'
import {
  SEQ_MAX,
  StoreUnavailableError,
  type EventLog,
  type LogQuery,
  type Snapshot,
} from '../../../ports/event-log.ts'
import { RECORD_COLUMNS, recordFrom } from '../../record-row.ts'
import { asStoreError, LogClosedError } from './errors.ts'
import { IS_SIGNAL } from './schema.ts'

export interface SqlQuery {
  /** Name of the prepared statement on the server. Queries of many shapes have none. */
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Rows of a query, or StoreUnavailableError. */
export type Query = <Row extends readonly unknown[]>(query: SqlQuery) => Promise<readonly Row[]>

export const queryThrough =
  (pool: Pool): Query =>
  async <Row extends readonly unknown[]>(query: SqlQuery): Promise<readonly Row[]> => {
    if (pool.ending) throw new LogClosedError()
    if (pool.waitingCount >= QUERIES_WAITING_MAX)
      throw new StoreUnavailableError('too many reads are waiting')
    return queryOn(pool)<Row>(query)
  }

/** Runs queries on one connection, such as one that is in a transaction. */
export const queryOn =
  (client: Pick<Client | Pool, 'query'>): Query =>
  async <Row extends readonly unknown[]>(query: SqlQuery): Promise<readonly Row[]> => {
    try {
      const { rows } = await client.query({
        ...query,
        values: [...query.values],
        rowMode: 'array',
        types: COLUMN_TYPES,
      })
      return rows as unknown as readonly Row[]
    } catch (error) {
      throw asStoreError(error)
    }
  }

export const readHead = async (query: Query): Promise<Head> => {
  const [row] = await query<[number, string, string]>({
    name: 'head',
    text: `SELECT seq, hash, recorded_at FROM events WHERE seq <= ${SEQ_MAX} ORDER BY seq DESC LIMIT 1`,
    values: [],
  })
  return row === undefined ? EMPTY_HEAD : { seq: row[0], hash: row[1], recordedAt: row[2] }
}

export const readPage = async (query: Query, request: LogQuery): Promise<readonly LogRecord[]> => {
  const { types, about, order, limit } = request
  const bounds = {
    after: request.after ?? 0,
    before: Math.min(request.before ?? Infinity, SEQ_MAX + 1),
    order,
    limit,
  }
  if (types?.length === 0) return []
  if (about !== undefined) return recordsOf(query, aboutPage(about, types, bounds))
  if (types === undefined) return recordsOf(query, allPage(bounds))
  if (!types.some(isCategory)) return recordsOf(query, branchesPage(branchesOf(types, []), bounds))
  const { headSeq, domains } = await readDomains(query)
  const branches = branchesOf(types, domains)
  if (branches.length === 0) return []
  return recordsOf(query, branchesPage(branches, { ...bounds, before: Math.min(bounds.before, headSeq + 1) }))
}

export const readByTime = (
  query: Query,
  request: Parameters<EventLog['readByTime']>[0],
): Promise<readonly LogRecord[]> => recordsOf(query, timePage(request))

export const readById = async (query: Query, id: string): Promise<LogRecord | null> => {
  const text = `SELECT ${RECORD_COLUMNS} FROM events WHERE id = $1 AND seq <= ${SEQ_MAX}`
  const [record] = await recordsOf(query, { name: 'by-id', text, values: [id] })
  return record ?? null
}

export const readByDedupeKeys = async (
  query: Query,
  keys: readonly string[],
): Promise<ReadonlyMap<string, LogRecord>> => {
  if (keys.length === 0) return new Map()
  const text = `SELECT ${RECORD_COLUMNS} FROM events WHERE dedupe_key = ANY($1::text[]) AND seq <= ${SEQ_MAX}`
  const records = await recordsOf(query, { name: 'by-dedupe-key', text, values: [keys] })
  return new Map(
    records.flatMap((record) => (record.dedupeKey === null ? [] : [[record.dedupeKey, record] as const])),
  )
}

/** Nodes in order, up to the first one that is missing. */
export const readTreeNodes = async (
  query: Query,
  { level, from, to }: NodeRange,
): Promise<readonly Uint8Array[]> => {
  const rows = await query<[number, string]>(
    level === 0
      ? { name: 'tree-leaves', text: LEAVES, values: [from, to] }
      : { name: 'tree-nodes', text: NODES, values: [level, from, to] },
  )
  const found: Uint8Array[] = []
  for (const [index, text] of rows) {
    const node = bytesFromHex(text)
    if (index !== from + found.length || node === null) break
    found.push(node)
  }
  return found
}

const LEAVES = `SELECT seq - 1, sha256('\\x00'::bytea || hash) FROM events
  WHERE seq > $1 AND seq <= $2 ORDER BY seq`
const NODES = 'SELECT idx, hash FROM tree_nodes WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx'

export const countByDomain = async (query: Query): Promise<ReadonlyMap<string, number>> => {
  const newest = 'SELECT dom_count FROM events WHERE events.dom = domains.dom ORDER BY seq DESC LIMIT 1'
  const text = `${DOMAINS} SELECT dom, (${newest}) FROM domains WHERE dom IS NOT NULL`
  return new Map(await query<[string, number]>({ name: 'counts', text, values: [] }))
}

/**
 * The domains up to a head, as one answer. A page must not reach beyond that head: it could hold an event
 * and miss an earlier one of a domain that appeared in between.
 */
const readDomains = async (
  query: Query,
): Promise<{ readonly headSeq: number; readonly domains: readonly string[] }> => {
  const text = `${DOMAINS} SELECT (SELECT max(seq) FROM events), dom FROM domains WHERE dom IS NOT NULL`
  const rows = await query<[number, string]>({ name: 'domains', text, values: [] })
  return { headSeq: rows[0]?.[0] ?? 0, domains: rows.map(([, domain]) => domain) }
}

/** Jumps from one domain to the next in the index: there are a few dozen. */
const DOMAINS = `
WITH RECURSIVE domains AS (
  (SELECT dom FROM events ORDER BY dom, seq LIMIT 1)
  UNION ALL
  SELECT (SELECT events.dom FROM events WHERE events.dom > domains.dom ORDER BY events.dom, seq LIMIT 1)
  FROM domains WHERE domains.dom IS NOT NULL
)`

/** Source of a page: one domain as a whole, or its types that have one of the prefixes. */
export interface Branch {
  readonly domain: string
  readonly prefixes: readonly string[] | 'all'
}

export type PageBounds = Pick<LogQuery, 'order' | 'limit'> & {
  readonly after: number
  readonly before: number
}

/** A prefix of one segment is a category. The log decides which domains belong to it. */
const isCategory = (prefix: string): boolean => !prefix.includes('.')

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
  text: `SELECT ${RECORD_COLUMNS} FROM events WHERE seq > $1 AND seq < $2 ORDER BY seq ${order} LIMIT $3`,
  values: [after, before, limit],
})

export const aboutPage = (
  about: string,
  types: readonly string[] | undefined,
  { after, before, order, limit }: PageBounds,
): SqlQuery => {
  const values: unknown[] = [about, after, before, limit]
  const ofTypes = types === undefined ? '' : `AND ${hasPrefix(types, values)}`
  const text = `
SELECT ${RECORD_COLUMNS} FROM about JOIN events USING (seq)
WHERE about.ref = $1 AND about.seq > $2 AND about.seq < $3 ${ofTypes} ORDER BY about.seq ${order} LIMIT $4`
  return { ...(types === undefined && { name: `about-${order}` }), text, values }
}

/** Ordered parts let the server read only the next row of each. It would collect and sort unordered parts. */
export const branchesPage = (
  branches: readonly Branch[],
  { after, before, order, limit }: PageBounds,
): SqlQuery => {
  const values: unknown[] = [after, before, limit]
  const parts = branches.map(({ domain, prefixes }) => {
    const ofDomain = `dom = $${values.push(domain)}`
    const ofTypes = prefixes === 'all' ? '' : `AND ${hasPrefix(prefixes, values)}`
    return `(SELECT ${RECORD_COLUMNS} FROM events WHERE ${ofDomain} AND seq > $1 AND seq < $2 ${ofTypes} ORDER BY seq ${order})`
  })
  const isPlain = branches.every(({ prefixes }) => prefixes === 'all')
  return {
    ...(isPlain && { name: `domains-${branches.length}-${order}` }),
    text: `SELECT * FROM (${parts.join(' UNION ALL ')}) AS page ORDER BY seq ${order} LIMIT $3`,
    values,
  }
}

/** Signals of a domain or of all, newest time first. */
export const timePage = ({ domain, limit, offset }: Parameters<EventLog['readByTime']>[0]): SqlQuery => ({
  name: domain === null ? 'times' : 'domain-times',
  text: `SELECT ${RECORD_COLUMNS} FROM events WHERE ${IS_SIGNAL} ${domain === null ? '' : 'AND dom = $3'}
ORDER BY ts DESC, seq DESC LIMIT $1 OFFSET $2`,
  values: [limit, offset, ...(domain === null ? [] : [domain])],
})

/** Condition that `type` has one of the prefixes, in whole segments. */
const hasPrefix = (prefixes: readonly string[], values: unknown[]): string => {
  const tests = prefixes.map((prefix) => {
    const exact = `$${values.push(prefix)}`
    return `type = ${exact} OR starts_with(type, $${values.push(`${prefix}.`)})`
  })
  return `(${tests.join(' OR ')})`
}

export const saveSnapshot = async (query: Query, snapshot: Snapshot): Promise<void> => {
  const { stateVersion, seq, chainHash, stateHash, state, signature, signer } = snapshot
  await query({
    name: 'save-snapshot',
    text: `
INSERT INTO snapshots (state_version, seq, chain_hash, state_hash, state, signature, signer)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (state_version, seq) DO UPDATE
SET chain_hash = excluded.chain_hash, state_hash = excluded.state_hash, state = excluded.state,
  signature = excluded.signature, signer = excluded.signer, saved = DEFAULT`,
    values: [stateVersion, seq, Buffer.from(chainHash, 'hex'), stateHash, state, signature, signer],
  })
  await query({
    name: 'drop-snapshots',
    text: `
DELETE FROM snapshots
WHERE seq NOT IN (SELECT seq FROM snapshots AS same
                  WHERE same.state_version = snapshots.state_version AND same.signer = snapshots.signer
                  ORDER BY seq DESC LIMIT $1)
   OR signer NOT IN (SELECT signer FROM snapshots AS same WHERE same.state_version = snapshots.state_version
                     GROUP BY signer ORDER BY max(saved) DESC LIMIT $2)
   OR state_version NOT IN (SELECT state_version FROM snapshots GROUP BY state_version
                            ORDER BY max(saved) DESC LIMIT $3)`,
    values: [KEPT_PER_SIGNER, SIGNERS_KEPT, VERSIONS_KEPT],
  })
}

export const loadSnapshot = async (
  query: Query,
  stateVersion: string,
  wanted?: string,
): Promise<Snapshot | null> => {
  const [row] = await query<[number, string, string, string, string, string]>({
    name: 'load-snapshot',
    text: `
SELECT snapshots.seq, snapshots.chain_hash, state_hash, state, snapshots.signature, snapshots.signer
FROM snapshots JOIN events ON events.seq = snapshots.seq AND events.hash = snapshots.chain_hash
WHERE state_version = $1 AND ($2::text IS NULL OR snapshots.signer = $2) ORDER BY snapshots.seq DESC LIMIT 1`,
    values: [stateVersion, wanted ?? null],
  })
  if (row === undefined) return null
  const [seq, chainHash, stateHash, state, signature, signer] = row
  return { seq, chainHash, stateVersion, stateHash, state, signature, signer }
}

const QUERIES_WAITING_MAX = 1_000
// Snapshots are large and only a cache. Several releases may use one log in turn, so each keeps its own. A node starts
// from its own snapshots only. Identities that end with their process leave a snapshot that is never used.
const KEPT_PER_SIGNER = 2
const SIGNERS_KEPT = 16
const VERSIONS_KEPT = 4

const recordsOf = async (query: Query, request: SqlQuery): Promise<readonly LogRecord[]> =>
  (await query(request)).map(recordFrom)

/** Bytes stay the hex digits that the server sends. Sequence numbers always fit a double. */
const COLUMN_TYPES: CustomTypesConfig = {
  getTypeParser: (type: number) => (type === BIGINT ? Number : type === BYTEA ? withoutMark : unchanged),
}

const BIGINT = 20
const BYTEA = 17

const withoutMark = (text: string): string => text.slice('\\x'.length)
const unchanged = (text: string): string => text
