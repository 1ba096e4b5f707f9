import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DENIALS_PER_MINUTE_MAX } from './access-audit.ts'
import { ok, refused } from './results.ts'
import { route, routes } from './route.ts'
import { ROUTES } from './routes/all.ts'
import {
  OPERATOR_TOKEN,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from './test-server.fixture.ts'

const servers: TestServer[] = []
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const server = await startTestServer(options)
  servers.push(server)
  return server
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const WRITE = { level: 1, reason: 'test' }

describe('the audit', () => {
  const locked = routes('Test', {
    locked: route('POST', '/locked', 'submit', {
      summary: 'always locked',
      response: z.object({}),
      problems: ['kill_switch.active'],
      handler: () => refused('kill_switch.active', 'Kill switch is at level 1', { extras: { level: 1 } }),
    }),
  })

  it('records writes that changed something, after the effect and with their trace', async () => {
    const server = await start()
    const answer = await server.call('POST', '/kill-switch/?x=1', {
      json: WRITE,
      headers: { 'x-trace-id': 'trace-1' },
    })
    expect(answer.status).toBe(200)
    expect(await server.auditEntries()).toEqual([
      {
        resource: '/kill-switch',
        action: 'write',
        outcome: 'allowed',
        reason: null,
        request_id: answer.headers.get('x-request-id'),
        source: 'api',
        traceId: 'trace-1',
      },
    ])
    const types = (await server.log.read({ order: 'asc', limit: 10 })).map(({ type }) => type)
    expect(types).toEqual([
      'system.started.v1',
      'contributor.registered.v1',
      'system.kill_switch.v1',
      'alert.kill_switch',
      'system.audit.v1',
    ])
  })

  it('does not record repeats, reads, public endpoints and refused requests', async () => {
    const server = await start()
    await server.call('POST', '/kill-switch', { json: { level: 0, reason: 'as it is' } })
    await server.call('POST', '/kill-switch', { json: { level: 9 } })
    await server.call('POST', '/config', { json: {} })
    await server.call('POST', '/config/validate', { json: {} })
    await server.call('GET', '/kill-switch')
    await server.call('GET', '/events/none')
    await server.call('GET', '/health', { token: 'wrong' })
    await server.call('GET', '/nope', { token: 'wrong' })
    expect(await server.auditEntries()).toEqual([])
  })

  it('records reads if that is configured', async () => {
    const server = await start({ settings: { audit: { reads: true }, metrics: { public: true } } })
    await server.call('GET', '/events?limit=1')
    await server.call('POST', '/config/validate', { json: {} })
    await server.call('GET', '/health')
    await server.callRoot('GET', '/metrics', { token: null })
    expect(await server.auditEntries()).toMatchObject([
      { resource: '/events', action: 'read', outcome: 'allowed' },
      { resource: '/config/validate', action: 'read', outcome: 'allowed' },
    ])
  })

  it('records who was denied', async () => {
    const server = await start({
      settings: { api: { operator_token: OPERATOR_TOKEN } },
      routes: [...ROUTES, ...locked],
    })
    const unauthorized = await server.call('GET', '/events?limit=2', { token: null })
    await server.call('POST', '/positions/close-all')
    await server.call('POST', '/locked', { headers: { 'x-trace-id': 't' } })
    await server.callRoot('GET', '/metrics', { token: 'wrong' })
    expect(await server.auditEntries()).toMatchObject([
      {
        resource: '/events',
        action: 'read',
        outcome: 'denied',
        reason: 'auth.missing_token',
        request_id: unauthorized.body['request_id'],
      },
      { resource: '/positions/close-all', action: 'write', outcome: 'denied', reason: 'auth.forbidden' },
      { resource: '/locked', action: 'write', outcome: 'denied', reason: 'kill_switch_active', traceId: 't' },
      { resource: '/metrics', action: 'read', outcome: 'denied', reason: 'auth.invalid_token' },
    ])
  })

  it('records callers without a token once per address, route and minute', async () => {
    const server = await start()
    for (const token of [null, 'wrong', 'x']) await server.call('GET', '/events/a', { token })
    await server.call('GET', '/events/b', { token: null })
    expect(await server.auditEntries()).toHaveLength(1)
    await server.call('GET', '/events', { token: null })
    expect(await server.auditEntries()).toHaveLength(2)
    server.testClock.advance(60_000)
    await server.call('GET', '/events/a', { token: null })
    expect(await server.auditEntries()).toHaveLength(3)
  })

  it('records a bounded number of callers without a token in all', async () => {
    const endpoint = (index: number) =>
      route('GET', `/endpoint-${index}`, 'read', {
        summary: 'an endpoint',
        response: z.object({}),
        handler: () => ok({}),
      })
    const endpoints = Array.from({ length: DENIALS_PER_MINUTE_MAX + 10 }, (_, index) => endpoint(index))
    const many = routes('Test', Object.fromEntries(endpoints.entries()))
    const server = await start({ routes: many })
    for (const { path } of many) await server.call('GET', path, { token: null })
    expect(await server.auditEntries()).toHaveLength(DENIALS_PER_MINUTE_MAX)
  })

  it('shortens what callers without a token may write', async () => {
    const server = await start()
    await server.call('GET', `/events/${'x'.repeat(1000)}`, { token: null })
    expect((await server.auditEntries())[0]?.resource).toHaveLength(256)
  })
})

describe('the trace id', () => {
  it('becomes the trace id of what the request writes', async () => {
    const server = await start()
    const headers = { 'x-trace-id': Buffer.from('Spur 1 – ü').toString('latin1') }
    await server.call('POST', '/kill-switch', { json: WRITE, headers })
    const [moved] = await server.log.read({ types: ['system.kill_switch'], order: 'asc', limit: 1 })
    expect(moved).toMatchObject({ type: 'system.kill_switch.v1', traceId: 'Spur 1 – ü' })
  })

  it('is looked at', async () => {
    const server = await start()
    const faultOf = async (traceId: string) => {
      const { status, body } = await server.call('POST', '/kill-switch', {
        json: WRITE,
        headers: { 'x-trace-id': traceId },
      })
      return [status, (body['errors'] as { type: string; loc: string[] }[] | undefined)?.[0]]
    }
    const loc = ['header', 'x-trace-id']
    expect(await faultOf('a|b')).toMatchObject([422, { loc, type: 'string_pattern' }])
    expect(await faultOf('a\tb')).toMatchObject([422, { loc, type: 'string_pattern' }])
    expect(await faultOf('x'.repeat(257))).toMatchObject([422, { loc, type: 'string_too_long' }])
    expect(await faultOf('x'.repeat(256))).toMatchObject([200, undefined])
    expect(await faultOf('')).toMatchObject([200, undefined])
    expect((await server.call('GET', '/health', { headers: { 'x-trace-id': 'a|b' } })).status).toBe(200)
  })
})
