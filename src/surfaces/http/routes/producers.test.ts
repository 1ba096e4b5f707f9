import { timestampOf } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { BUILTIN_PRODUCERS } from '../../../core/signal-types/all.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')
const P1 = { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const register = (json: object) => server.call('POST', '/producers/register', { json })
const list = async () => (await server.call('GET', '/producers/')).body
const status = async () =>
  (await server.call('GET', '/producers/status')).body['producers'] as Record<string, Record<string, unknown>>

/** A run event, as the scheduler stores it. */
const ran = (said: object): Said => ({
  type: 'producer.run.v1',
  source: 'p1',
  ts: NOW,
  recordedAt: NOW,
  payload: {
    name: 'p1',
    health: 'ok',
    prev_health: 'unknown',
    events_published: 2,
    duration_ms: 100,
    error: null,
    consecutive_failures: 0,
    quarantined_until: null,
    rejected: [],
    ...said,
  },
})

describe('producers', () => {
  it('are none on a fresh server', async () => {
    expect(await list()).toEqual({ producers: [] })
  })

  it('register under a name of their own', async () => {
    const answer = await register(P1)
    const item = { id: 'p1', ...P1, schedule: '*/15 * * * *', registered_at: NOW }
    expect([answer.status, answer.body]).toEqual([200, item])
    const again = await register({ ...P1, domain: 'other' })
    expectProblem(again, 'producer.duplicate', 409)
    expect(again.body['name']).toBe('p1')
    expect(await list()).toEqual({ producers: [item] })
    expect(await server.auditEntries()).toMatchObject([
      { resource: '/producers/register', outcome: 'allowed' },
    ])
  })

  it('are listed by name, with their domain in lower case', async () => {
    for (const name of ['p2', 'Z', 'a:b', 'constructor', '7.x_y-z', 'p1']) {
      expect((await register({ ...P1, name, domain: 'OnChain', schedule: '0 6 * * MON-FRI' })).status).toBe(
        200,
      )
    }
    const { producers } = (await list()) as {
      producers: { name: string; domain: string; schedule: string }[]
    }
    expect(producers.map(({ name }) => name)).toEqual(['7.x_y-z', 'Z', 'a:b', 'constructor', 'p1', 'p2'])
    expect(new Set(producers.map(({ domain }) => domain))).toEqual(new Set(['onchain']))
    expect(new Set(producers.map(({ schedule }) => schedule))).toEqual(new Set(['0 6 * * MON-FRI']))
  })

  it('do not take the name of a built-in one', async () => {
    for (const name of ['technical-analysis', 'curator-intel']) {
      expectProblem(await register({ ...P1, name }), 'producer.duplicate', 409)
      expectProblem(await server.call('DELETE', `/producers/${name}`), 'producer.not_found', 404)
    }
  })

  it('are removed once, and their signals stay', async () => {
    await register(P1)
    await appendTo(server.log, 1, () => ({
      type: 'signal.onchain.v1',
      source: 'p1',
      payload: { symbol: 'BTC' },
    }))
    const removed = await server.call('DELETE', '/producers/p1')
    expect([removed.status, removed.body]).toEqual([200, { removed: 'p1' }])
    for (const name of ['p1', '%00', '__proto__', 'x'.repeat(500), '%3Cb%3E']) {
      const again = await server.call('DELETE', `/producers/${name}`)
      expectProblem(again, 'producer.not_found', 404)
      expect(again.body['name']).toBe(echoed(decodeURIComponent(name)))
    }
    expect(await list()).toEqual({ producers: [] })
    expect((await server.call('GET', '/signals?domain=onchain')).body).toMatchObject({ total: 1 })
    expect((await register(P1)).status).toBe(200)
  })
})

describe('the status of producers', () => {
  it('knows all of them, by name', async () => {
    await register(P1)
    const producers = await status()
    expect(Object.keys(producers)).toEqual([...Object.keys(BUILTIN_PRODUCERS), 'p1'].toSorted())
    expect(producers['p1']).toEqual({
      id: 'p1',
      name: 'p1',
      kind: 'registered',
      domain: 'onchain',
      schedule: '*/15 * * * *',
      endpoint: 'https://example.com/x',
      health: 'unknown',
      healthy: null,
      last_run_at: null,
      last_success_at: null,
      last_error: null,
      consecutive_failures: 0,
      events_produced: 0,
      avg_duration_ms: null,
      expected_interval_ms: 900_000,
      quarantined_until: null,
      quarantined_reason: null,
      updated_at: null,
      karma: 50,
      trust: 1,
      calls_resolved: 0,
      calls_hit: 0,
    })
    expect(producers['curator-intel']).toMatchObject({
      kind: 'builtin',
      domain: 'curator',
      schedule: null,
      endpoint: null,
      health: 'unknown',
      expected_interval_ms: null,
    })
    expect(producers['price-alerts']).toMatchObject({ schedule: '* * * * *', expected_interval_ms: 60_000 })
  })

  it('follows their runs', async () => {
    await register(P1)
    await appendTo(server.log, 1, () => ran({}))
    expect((await status())['p1']).toMatchObject({
      health: 'ok',
      healthy: true,
      last_run_at: NOW,
      last_success_at: NOW,
      events_produced: 2,
      avg_duration_ms: 100,
      updated_at: NOW,
    })
    const error = 'endpoint blocked: loopback address'
    const failing = {
      health: 'degraded',
      error,
      consecutive_failures: 1,
      events_published: 0,
      duration_ms: 50,
    }
    await appendTo(server.log, 1, () => ran(failing))
    expect((await status())['p1']).toMatchObject({
      health: 'degraded',
      healthy: false,
      last_error: error,
      consecutive_failures: 1,
      events_produced: 2,
      avg_duration_ms: 90,
      quarantined_reason: null,
    })
    const until = timestampOf('2026-02-20T01:30:00.000Z')
    const worse = {
      health: 'quarantined',
      error: 'HTTP 500',
      consecutive_failures: 5,
      quarantined_until: until,
    }
    await appendTo(server.log, 1, () => ran(worse))
    expect((await status())['p1']).toMatchObject({
      health: 'quarantined',
      healthy: false,
      quarantined_until: until,
      quarantined_reason: 'HTTP 500',
    })
  })

  it('is stale after three intervals without a run', async () => {
    await register(P1)
    await appendTo(server.log, 1, () => ran({}))
    server.testClock.advance(3 * 900_000)
    expect((await status())['p1']).toMatchObject({ health: 'ok', healthy: true })
    server.testClock.advance(1)
    expect((await status())['p1']).toMatchObject({ health: 'stale', healthy: false })
  })
})
