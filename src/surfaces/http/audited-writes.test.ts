import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DENIALS_PER_MINUTE_MAX } from './access-audit.ts'
import { actionOf } from './route.ts'
import { ROUTES } from './routes/all.ts'
import type { CallOptions, TestServer } from './test-server.fixture.ts'
import { INTENT_IDS, startTrading } from './trading.fixture.ts'

let server: TestServer
beforeAll(async () => {
  const trading = await startTrading({ asOperator: true })
  ids.position = await trading.open(INTENT_IDS.ETH)
  server = trading
})
afterAll(() => server.close())

interface Write {
  readonly operationId: string
  readonly path: () => string
  readonly options?: CallOptions
  /** Null if a repeated request counts as a new one. */
  readonly again: 'nothing new' | 'refused' | null
}

const ids = { contributor: '', session: '', position: '' }

const rpc = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'emit_producer_signal',
    arguments: {
      producer_id: 'p1',
      signal_type: 'signal.onchain.v1',
      payload: { symbol: 'BTC' },
      dedupe_key: 'k',
    },
  },
}

/** Every endpoint that writes, in an order in which each request can succeed. */
const WRITES: readonly Write[] = [
  {
    operationId: 'registerContributor',
    path: () => '/contributors/register',
    options: { json: { node_id: 'n1', name: 'Ann', role: 'curator' } },
    again: 'refused',
  },
  {
    operationId: 'registerProducer',
    path: () => '/producers/register',
    options: { json: { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' } },
    again: 'refused',
  },
  {
    operationId: 'submitSignal',
    path: () => '/signals/submit',
    options: { json: { event_type: 'signal.curator.v1', node_id: 'n1', dedupe_key: 'k' } },
    again: 'nothing new',
  },
  { operationId: 'postMcpMessage', path: () => '/mcp', options: { json: rpc }, again: 'nothing new' },
  {
    operationId: 'giveFeedback',
    path: () => '/producers/p1/feedback',
    options: { json: { outcome: 'profit' } },
    again: null,
  },
  { operationId: 'openTraceSession', path: () => '/trace/sessions', again: null },
  {
    operationId: 'appendToTraceSession',
    path: () => `/trace/sessions/${ids.session}/append`,
    options: { json: { trace_id: 't' } },
    again: 'nothing new',
  },
  { operationId: 'closeTraceSession', path: () => `/trace/sessions/${ids.session}`, again: 'nothing new' },
  { operationId: 'approveIntent', path: () => `/intents/${INTENT_IDS.BTC}/approve`, again: 'refused' },
  { operationId: 'denyIntent', path: () => `/intents/${INTENT_IDS.SOL}/deny`, again: 'refused' },
  { operationId: 'closePosition', path: () => `/positions/${ids.position}/close`, again: 'refused' },
  { operationId: 'closeAllPositions', path: () => '/positions/close-all', again: 'nothing new' },
  { operationId: 'runBrainCycle', path: () => '/brain/run', again: null },
  { operationId: 'runLearning', path: () => '/learning/run', again: null },
  {
    operationId: 'changeConfiguration',
    path: () => '/config',
    options: { json: { brain: { cycle_interval_seconds: 60 } } },
    again: 'nothing new',
  },
  {
    operationId: 'setKillSwitch',
    path: () => '/kill-switch',
    options: { json: { level: 1, reason: 'test' } },
    again: 'nothing new',
  },
  {
    operationId: 'createAccessKey',
    path: () => '/access-keys',
    options: { json: { name: 'k1', scopes: ['read'] } },
    again: 'refused',
  },
  { operationId: 'revokeAccessKey', path: () => '/access-keys/k1', again: 'refused' },
  { operationId: 'removeProducer', path: () => '/producers/p1', again: 'refused' },
  { operationId: 'removeContributor', path: () => `/contributors/${ids.contributor}`, again: 'refused' },
]

const auditsSince = async (seq: number) =>
  (await server.engine.log.read({ after: seq, types: ['system.audit'], order: 'asc', limit: 10 })).map(
    ({ payload }) => JSON.parse(payload) as Record<string, unknown>,
  )

describe('the audit of writes', () => {
  it('is checked for every endpoint that writes', () => {
    const writing = ROUTES.filter((route) => actionOf(route) === 'write').map(
      ({ operationId }) => operationId,
    )
    // No karma is owed here, no order is open, no entry is held back and no alert is open: see the tests of those
    // routes.
    const elsewhere = ['settleKarma', 'migrateWallet', 'cancelOrder', 'resumeLive', 'acknowledgeAlerts']
    // These have no event of their own: see below.
    elsewhere.push('startBacktest', 'cancelBacktest', 'startSweep', 'cancelSweep')
    expect([...WRITES.map(({ operationId }) => operationId), ...elsewhere].sort()).toEqual(writing.sort())
  })

  it.each(WRITES)('tells once of $operationId, and not of what changed nothing', async (write) => {
    const method = ROUTES.find(({ operationId }) => operationId === write.operationId)?.method ?? ''
    const { seq } = await server.engine.log.head()
    const answer = await server.call(method, write.path(), write.options)
    expect(answer.status, answer.text).toBeLessThan(300)
    if (write.operationId === 'registerContributor') ids.contributor = String(answer.body['id'])
    if (write.operationId === 'openTraceSession') ids.session = String(answer.body['id'])
    const head = await server.engine.log.head()
    const newest = await server.engine.log.read({ order: 'desc', limit: 1 })
    expect(head.seq).toBeGreaterThan(seq + 1)
    // The audit entry is appended after the effect, so it is the last event.
    expect(newest.map(({ type, source }) => [type, source])).toEqual([['system.audit.v1', 'api']])
    expect(await auditsSince(seq)).toEqual([
      {
        resource: write.path(),
        action: 'write',
        outcome: 'allowed',
        reason: null,
        request_id: answer.headers.get('x-request-id'),
      },
    ])
    if (write.again === null) return
    const again = await server.call(method, write.path(), write.options)
    expect(again.status < 300, again.text).toBe(write.again === 'nothing new')
    expect((await server.engine.log.head()).seq).toBe(head.seq)
  })

  it.each([
    ['/backtests', { parameters: { fast: 5 } }],
    ['/sweeps', { set: ['fast=5,6'] }],
  ])('tells of runs of %s, which leave nothing else in the log', async (path, more) => {
    const { seq } = await server.engine.log.head()
    const json = { strategy: 'ma_crossover', symbol: 'BTC', from: '2026-01-05', to: '2026-01-06', ...more }
    const started = await server.call('POST', path, { json })
    expect(started.status, started.text).toBe(202)
    const run = `${path}/${String(started.body['id'])}`
    expect((await server.call('DELETE', run)).status).toBeLessThan(300)
    const events = await server.engine.log.read({ after: seq, order: 'asc', limit: 10 })
    expect(events.map(({ type }) => type)).toEqual(['system.audit.v1', 'system.audit.v1'])
    expect((await auditsSince(seq)).map(({ resource, action }) => [resource, action])).toEqual([
      [path, 'write'],
      [run, 'write'],
    ])
  })

  it('tells of every cycle that the kill switch refused', async () => {
    const { seq } = await server.engine.log.head()
    for (let count = 0; count < 3; count += 1)
      expect((await server.call('POST', '/brain/run')).status).toBe(423)
    const denied = {
      resource: '/brain/run',
      action: 'write',
      outcome: 'denied',
      reason: 'kill_switch_active',
    }
    expect(await auditsSince(seq)).toMatchObject([denied, denied, denied])
    expect((await server.engine.log.head()).seq).toBe(seq + 3)
  })

  it('records a caller without a token once per route and minute, whatever the route', async () => {
    const { seq } = await server.engine.log.head()
    const routes = ROUTES.filter(({ needs }) => needs !== 'public')
    // At most DENIALS_PER_MINUTE_MAX denials are recorded per minute, over all routes together.
    for (let first = 0; first < routes.length; first += DENIALS_PER_MINUTE_MAX) {
      server.testClock.advance(60_000)
      for (const round of [1, 2]) {
        for (const { method, url } of routes.slice(first, first + DENIALS_PER_MINUTE_MAX)) {
          const path = url.replaceAll(/:\w+/g, `none-${round}`)
          expect((await server.callRoot(method, path, { token: null })).status).toBe(401)
        }
      }
    }
    const entries = await server.engine.log.read({ after: seq, order: 'asc', limit: 200 })
    const recorded = entries.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
    expect(recorded).toHaveLength(routes.length)
    expect(recorded.map(({ action }) => action)).toEqual(routes.map(actionOf))
    expect(
      recorded.every(({ outcome, reason }) => outcome === 'denied' && reason === 'auth.missing_token'),
    ).toBe(true)
  })
})
