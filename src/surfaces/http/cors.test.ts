import { afterEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

const LISTED = 'https://a.example'
let server: TestServer
const start = async (origins: readonly string[]): Promise<TestServer> => {
  server = await startTestServer({ settings: { api: { cors_origins: origins } } })
  return server
}
afterEach(() => server.close())

const ask = (origin: string, path = '/kill-switch') =>
  server.call('OPTIONS', path, {
    token: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  })

const corsHeadersOf = (headers: Headers): readonly string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('CORS', () => {
  it('is off by default', async () => {
    await start([])
    const asked = await ask(LISTED)
    expect([asked.status, asked.body['code']]).toEqual([405, 'route.method_not_allowed'])
    const { headers } = await server.call('GET', '/health', { headers: { origin: LISTED } })
    expect(corsHeadersOf(headers)).toEqual([])
    expect(headers.get('vary')).toBeNull()
  })

  it('lets listed origins ask beforehand', async () => {
    await start([LISTED, 'http://localhost:3000'])
    const { status, headers, text } = await ask(LISTED)
    expect([status, text]).toEqual([204, ''])
    expect(headers.get('access-control-allow-origin')).toBe(LISTED)
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE')
    expect(headers.get('access-control-max-age')).toBe('600')
    expect(headers.get('vary')).toBe('Origin')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'x-request-id',
        'x-trace-id',
        'idempotency-key',
      ]),
    )
  })

  it('turns other origins away, without a CORS header', async () => {
    await start([LISTED])
    for (const origin of ['https://b.example', 'https://a.example.evil', 'null', 'https://a.example:444']) {
      const asked = await ask(origin)
      expect([asked.status, asked.body['code']]).toEqual([403, 'cors.origin_denied'])
      expect(corsHeadersOf(asked.headers)).toEqual([])
    }
    expect(await server.auditEntries()).toEqual([])
  })

  it('marks every answer to listed origins, and no other', async () => {
    await start([LISTED])
    for (const token of [undefined, null]) {
      const options = { ...(token === null ? { token } : {}), headers: { origin: LISTED } }
      const { headers } = await server.call('GET', '/kill-switch', options)
      expect(headers.get('access-control-allow-origin')).toBe(LISTED)
      expect(headers.get('vary')).toBe('Origin')
    }
    const other = await server.call('GET', '/kill-switch', { headers: { origin: 'https://b.example' } })
    expect(other.status).toBe(200)
    expect(corsHeadersOf(other.headers)).toEqual([])
  })

  it('answers OPTIONS only as such a question, and only where something is', async () => {
    await start([LISTED])
    expect((await server.call('OPTIONS', '/kill-switch', { headers: { origin: LISTED } })).status).toBe(405)
    expect((await ask(LISTED, '/nope')).status).toBe(404)
  })

  it('changes at once', async () => {
    await start([])
    await server.call('POST', '/config', { json: { api: { cors_origins: [LISTED] } } })
    expect((await ask(LISTED)).status).toBe(204)
  })
})
