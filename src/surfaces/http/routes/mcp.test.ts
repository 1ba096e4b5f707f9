import { registration } from '../../../engine/engine.fixture.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { expectCommonHeaders, expectProblem } from '../expectations.fixture.ts'
import {
  OPERATOR_TOKEN,
  startTestServer,
  TOKEN,
  type CallOptions,
  type TestServer,
  type TestServerOptions,
} from '../test-server.fixture.ts'

const open: TestServer[] = []
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const server = await startTestServer(options)
  await server.engine.execute(registration('p1'))
  open.push(server)
  return server
}
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())))

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

const emission = (dedupeKey: string, symbol = 'BTC') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'emit_producer_signal',
    arguments: {
      producer_id: 'p1',
      signal_type: 'signal.ta.v1',
      payload: { symbol },
      dedupe_key: dedupeKey,
    },
  },
})

const post = (server: TestServer, json: unknown, options: CallOptions = {}) =>
  server.call('POST', '/mcp', { json, ...options })

describe('POST /mcp', () => {
  it('is answered like every other endpoint, with and without a slash at the end', async () => {
    const server = await start()
    for (const path of ['/mcp', '/mcp/']) {
      const answer = await server.call('POST', path, { json: PING })
      expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }])
      expectCommonHeaders(answer.headers)
    }
  })

  it('needs a token before anything else is looked at', async () => {
    const server = await start()
    expectProblem(await post(server, PING, { token: null }), 'auth.missing_token', 401)
    expectProblem(await post(server, PING, { token: 'wrong' }), 'auth.invalid_token', 401)
    const headers = { origin: 'https://evil.example' }
    expectProblem(
      await server.call('POST', '/mcp', { token: null, body: 'not json', headers }),
      'auth.missing_token',
      401,
    )
  })

  it('takes the operator token, too', async () => {
    const server = await start({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    expect((await post(server, PING, { token: OPERATOR_TOKEN })).status).toBe(200)
  })

  it('has no other method', async () => {
    const server = await start()
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await server.call(method, '/mcp')
      expectProblem(answer, 'route.method_not_allowed', 405)
      expect(answer.headers.get('allow')).toBe('POST')
    }
  })

  it('takes JSON, and not too much of it', async () => {
    const server = await start()
    const headers = { 'content-type': 'text/plain' }
    expectProblem(
      await server.call('POST', '/mcp', { body: JSON.stringify(PING), headers }),
      'request.unsupported_media_type',
      415,
    )
    const large = { ...PING, params: { filler: 'x'.repeat(1024 * 1024) } }
    expectProblem(await post(server, large), 'request.too_large', 413)
  })

  it('takes bytes that are no UTF-8 for no JSON', async () => {
    const server = await start()
    const body = Uint8Array.of(0x22, 0xff, 0x22)
    const answer = await server.call('POST', '/mcp', { body })
    expect([answer.status, answer.body]).toMatchObject([400, { id: null, error: { code: -32_700 } }])
  })
})

describe('a web page that talks to /mcp', () => {
  it.each([
    ['http://localhost:3000'],
    ['http://127.0.0.1'],
    ['http://[::1]:8080'],
    ['https://listed.example'],
  ])('may come from %s', async (origin) => {
    const server = await start({ settings: { api: { cors_origins: ['https://listed.example'] } } })
    expect((await post(server, PING, { headers: { origin } })).status).toBe(200)
  })

  it.each([
    ['https://evil.example'],
    ['null'],
    ['file://'],
    ['http://localhost.evil.example'],
    ['https://10.0.0.9'],
  ])('may not come from %s', async (origin) => {
    const server = await start()
    const answer = await post(server, emission('k'), { headers: { origin } })
    expectProblem(answer, 'cors.origin_denied', 403)
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    expect(await server.log.count('signal')).toBe(0)
    expect(await server.auditEntries()).toEqual([])
  })

  it('is not trusted because its name points here', async () => {
    const server = await start()
    const raw = (host: string, origin: string): Promise<string> =>
      server.raw(
        `POST /api/v1/mcp HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nConnection: close\r\n` +
          `Authorization: Bearer ${TOKEN}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
      )
    const BODY = JSON.stringify(PING)
    expect(await raw('evil.example:5050', 'http://evil.example:5050')).toMatch(/^HTTP\/1\.1 403 /)
    expect(await raw('192.0.2.7:5050', 'http://192.0.2.7:5050')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await raw('192.0.2.7:5050', 'http://192.0.2.8:5050')).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('does no harm elsewhere: other endpoints do not ask', async () => {
    const server = await start()
    const headers = { origin: 'https://evil.example' }
    expect((await server.call('GET', '/kill-switch', { headers })).status).toBe(200)
  })
})

describe('the audit of /mcp', () => {
  it('knows writes that wrote, and nothing else unless reads are wanted', async () => {
    const server = await start()
    await post(server, PING)
    await post(server, emission('k1'), { headers: { 'x-trace-id': 'thread-1' } })
    await post(server, emission('k1'))
    await post(server, emission('k1', 'ETH'))
    await post(server, { ...PING, method: 'nope' })
    await server.call('POST', '/mcp', { body: 'not json' })
    await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(await server.auditEntries()).toEqual([
      {
        resource: '/mcp',
        action: 'write',
        outcome: 'allowed',
        reason: null,
        request_id: expect.any(String),
        source: 'api',
        traceId: 'thread-1',
      },
    ])
  })

  it('knows reads where they are wanted', async () => {
    const server = await start({ settings: { audit: { reads: true } } })
    await post(server, { ...PING, method: 'tools/list' })
    await post(server, { ...PING, method: 'tools/call', params: { name: 'get_brain_status' } })
    await post(server, { ...PING, method: 'tools/call', params: { name: 'nope' } })
    await post(server, emission('k1'))
    expect((await server.auditEntries()).map(({ action }) => action)).toEqual(['read', 'read', 'write'])
  })

  it('knows who was not let in', async () => {
    const server = await start()
    await post(server, PING, { token: 'wrong' })
    expect(await server.auditEntries()).toMatchObject([
      { resource: '/mcp', action: 'write', outcome: 'denied', reason: 'auth.invalid_token' },
    ])
  })
})

describe('an error behind /mcp', () => {
  it('is reported as an error of the protocol, without details', async () => {
    const log = new (class extends MemoryLog {
      failure: Error | null = null
      override readByTime(...query: Parameters<MemoryLog['readByTime']>) {
        return this.failure === null ? super.readByTime(...query) : Promise.reject(this.failure)
      }
    })()
    const server = await start({ log })
    const read = () => post(server, { ...PING, method: 'tools/call', params: { name: 'get_recent_signals' } })
    log.failure = new Error('secret path /var/lib')
    const crashed = await read()
    expect([crashed.status, crashed.body]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32_603, message: 'Something unexpected happened; the log has the details' },
      },
    ])
    expect(server.logLines.join('')).toContain('secret path /var/lib')
    log.failure = new StoreUnavailableError('disk /dev/x is full')
    expect((await read()).body['error']).toEqual({
      code: -32_603,
      message: 'The event store does not answer; nothing was changed',
    })
  })

  it('has a name when the service stops', async () => {
    const server = await start()
    await server.engine.close()
    expect((await post(server, emission('k'))).body['error']).toMatchObject({
      code: -32_603,
      message: 'The service is stopping; try again in a moment',
    })
  })
})
