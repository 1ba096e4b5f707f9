import { escapeLiteral, type Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresMissing,
  startPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { connect, disconnect } from './connection.ts'
import { openPostgresLog } from './postgres-log.ts'
import { aboutPage, allPage, branchesOf, branchesPage, timePage, type SqlQuery } from './records.ts'

const EVENTS = 6_000
const LIMIT = 20
const newest = { after: 0, before: Number.MAX_SAFE_INTEGER, order: 'desc', limit: LIMIT } as const

describe('the branches of a page', () => {
  it('are domains as a whole, or what has a longer prefix', () => {
    const known = ['signal.ta', 'signal.curator', 'brain.cycle']
    expect(branchesOf(['signal'], known).map(({ domain }) => domain)).toEqual(['signal.ta', 'signal.curator'])
    expect(branchesOf(['signal.ta'], [])).toEqual([{ domain: 'signal.ta', prefixes: 'all' }])
    expect(branchesOf(['signal.ta.rsi', 'signal.ta.macd.v1'], [])).toEqual([
      { domain: 'signal.ta', prefixes: ['signal.ta.rsi', 'signal.ta.macd.v1'] },
    ])
    expect(branchesOf(['signal.ta.rsi', 'signal'], ['signal.ta'])).toEqual([
      { domain: 'signal.ta', prefixes: 'all' },
    ])
    expect(branchesOf(['sig'], known)).toEqual([])
  })
})

describe.skipIf(postgresMissing !== null)(
  `a page reads what it shows (${postgresMissing ?? 'PostgreSQL'})`,
  () => {
    let server: PostgresServer
    let client: Client
    beforeAll(async () => {
      // The plans depend on whether and when the server collected statistics.
      server = await startPostgres({ fsync: 'off', autovacuum: 'off' })
      const url = await server.freshDatabase()
      const log = await openPostgresLog({ url })
      await appendTo(log, EVENTS, say)
      await log.close()
      client = await connect({ url, statementTimeoutMs: 10_000 }, 'plans')
    })
    afterAll(async () => {
      await disconnect(client)
      await server.stop()
    })

    const signals = ['signal.old', 'signal.ta', 'signal.curator']
    const PAGES: readonly (readonly [string, SqlQuery])[] = [
      ['of everything', allPage(newest)],
      ['of a domain that ended long ago', branchesPage(branchesOf(['signal.old'], []), newest)],
      ['of a category', branchesPage(branchesOf(['signal'], signals), newest)],
      ['of signals by time', timePage({ domain: null, limit: LIMIT, offset: 0 })],
      ['of signals of a domain by time', timePage({ domain: 'signal.ta', limit: LIMIT, offset: 0 })],
      ['about a symbol', aboutPage('symbol:BTC', undefined, newest)],
      ['about a symbol that ended long ago', aboutPage('symbol:OLD', undefined, newest)],
    ]
    const readsNoMore = async (query: SqlQuery): Promise<void> => {
      const nodes = scansAndSortsOf(await planOf(client, query))
      const scans = nodes.filter((node) => node['Relation Name'] !== undefined)
      expect(scans.filter((node) => !node['Node Type'].startsWith('Index'))).toEqual([])
      expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([])
      // Each merged branch reads one row ahead.
      const rowsOf = (table: string): number =>
        scans
          .filter((node) => node['Relation Name'] === table)
          .reduce((sum, node) => sum + rowsTouchedBy(node), 0)
      expect(rowsOf('events')).toBeLessThanOrEqual(LIMIT + 5)
      expect(rowsOf('about')).toBeLessThanOrEqual(LIMIT)
    }

    it.each(PAGES)('%s, and no more', async (_, query) => readsNoMore(query))

    describe('also when the server has counted what it holds', () => {
      beforeAll(() => client.query('ANALYZE'))

      it.each(PAGES)('%s, and no more', async (_, query) => readsNoMore(query))
    })
  },
)

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The first hundred events have a domain and a symbol that never appear again. */
const say = (seq: number): Said => {
  if (seq <= 100) return { type: 'signal.old.v1', payload: { symbol: 'OLD' } }
  const type = ['signal.ta.rsi.v1', 'signal.curator.v1', 'brain.cycle.v1'][seq % 3] ?? ''
  return { type, payload: { symbol: seq % 2 === 0 ? 'BTC' : 'ETH' } }
}

/** The server's plan for a prepared statement: one plan for any values. */
const planOf = async (client: Client, { text, values }: SqlQuery): Promise<PlanNode> => {
  await client.query(`PREPARE probe AS ${text}`)
  const literals = values.map((value) => escapeLiteral(String(value))).join(', ')
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE probe (${literals})`,
  )
  await client.query('DEALLOCATE probe')
  const [answer] = rows
  if (answer === undefined) throw new Error('the server explained nothing')
  return answer['QUERY PLAN'][0].Plan
}

const scansAndSortsOf = (node: PlanNode): readonly PlanNode[] => {
  const below = (node.Plans ?? []).flatMap(scansAndSortsOf)
  return /Sort|Scan$/.test(node['Node Type']) ? [node, ...below] : below
}

const rowsTouchedBy = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
