import { timestampOf } from '../../../core/shared/brand.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '../../../core/views/capabilities.ts'
import { appendTo } from '../../../../test/records.fixture.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

interface Capabilities {
  readonly tools: readonly { readonly name: string; readonly description: string }[]
  readonly event_domains: readonly string[]
  readonly producers: readonly {
    readonly producer_id: string
    readonly signal_types: readonly { readonly name: string; readonly schema: object }[]
    readonly last_seen: string | null
    readonly health: string
  }[]
}

const NOW = timestampOf('2026-02-20T00:30:00.000Z')

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const capabilities = async () => (await server.call('GET', '/capabilities')).body as unknown as Capabilities
const register = (name: string, domain: string) =>
  server.call('POST', '/producers/register', { json: { name, domain, endpoint: 'https://example.com' } })

describe('GET /capabilities', () => {
  it('names the tools, in order', async () => {
    const { tools, producers } = await capabilities()
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
    for (const { description } of tools) expect(description.length).toBeGreaterThan(20)
    expect(producers).toEqual([])
  })

  it('lists the domains of events, documented and stored, in order', async () => {
    const { event_domains: before } = await capabilities()
    expect(before).toEqual(before.toSorted())
    for (const domain of [
      'alert',
      'attribution',
      'contributor',
      'learning',
      'producer',
      'signal',
      'system',
      'trace',
    ]) {
      expect(before).toContain(domain)
    }
    await appendTo(server.log, 1, () => ({ type: 'later.thing.v9', ts: NOW, recordedAt: NOW }))
    expect((await capabilities()).event_domains).toEqual([...before, 'later'].toSorted())
  })

  it('says what registered producers can say, and how they are', async () => {
    await register('p2', 'technical')
    await register('p1', 'onchain')
    await register('own', 'weather')
    const { producers } = await capabilities()
    expect(
      producers.map(({ producer_id, signal_types }) => [producer_id, signal_types.map(({ name }) => name)]),
    ).toEqual([
      ['own', []],
      ['p1', ['signal.onchain.v1', 'signal.stablecoin.v1', 'signal.whale.v1']],
      ['p2', ['signal.orderbook.v1', 'signal.strategy.v1', 'signal.ta.v1']],
    ])
    expect(producers[1]).toMatchObject({ last_seen: null, health: 'unknown' })
    expect(producers[1]?.signal_types[0]?.schema).toMatchObject({
      type: 'object',
      properties: {
        symbol: { type: 'string', minLength: 1, maxLength: 32 },
        whale_netflow: { type: 'number' },
      },
      required: ['symbol'],
    })
  })

  it('knows what was heard, where nothing is documented', async () => {
    const signals = ['signal.weather.rain.v1', 'signal.weather.v2', 'signal.ta.v1']
    const { seq } = await server.log.head()
    await appendTo(server.log, 3, (at) => ({
      type: signals[at - seq - 1] ?? '',
      source: 'own',
      ts: NOW,
      recordedAt: NOW,
      payload: { symbol: 'BTC' },
    }))
    const health = { ok: 'healthy', degraded: 'degraded', error: 'degraded' }
    for (const [stored, shown] of Object.entries(health)) {
      await appendTo(server.log, 1, () => ({
        type: 'producer.run.v1',
        ts: NOW,
        recordedAt: NOW,
        payload: {
          name: 'own',
          health: stored,
          events_published: 1,
          duration_ms: 1,
          consecutive_failures: 0,
        },
      }))
      const own = (await capabilities()).producers[0]
      expect(own).toMatchObject({ producer_id: 'own', last_seen: NOW, health: shown })
      expect(own?.signal_types.map(({ name }) => name)).toEqual([
        'signal.ta.v1',
        'signal.weather.rain.v1',
        'signal.weather.v2',
      ])
      expect(own?.signal_types[1]?.schema).toEqual({ type: 'object' })
    }
  })

  it('is not for strangers', async () => {
    expectProblem(await server.call('GET', '/capabilities', { token: null }), 'auth.missing_token', 401)
  })
})
