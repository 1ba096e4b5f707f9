import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from './routes/all.ts'
import { startTestServer, TOKEN, type TestServer } from './test-server.fixture.ts'

let open: TestServer
let closed: TestServer
beforeAll(async () => {
  const api = { auth_token: '', cors_origins: ['https://app.example'] }
  open = await startTestServer({ settings: { api }, insecureOk: true })
  closed = await startTestServer()
})
afterAll(async () => {
  await open.close()
  await closed.close()
})

const PATHS: readonly (readonly [method: string, path: string])[] = [
  ...ROUTES.map(({ method, url }) => [method, url.replaceAll(/:(\w+)/g, 'x')] as const),
  ['GET', '/docs'],
  ['GET', '/nothing-here'],
  ['OPTIONS', '/api/v1/signals'],
  ['PATCH', '/api/v1/config'],
]

const ask = async (server: TestServer, method: string, path: string, headers: readonly string[]) => {
  const body = method === 'POST' || method === 'PUT' ? '{}' : ''
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...headers,
    'Connection: close',
    `Content-Length: ${body.length}`,
  ]
  const answer = await server.raw(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return { status: Number(answer.split(' ')[1]), code: /"code":"([a-z_.]+)"/.exec(answer)?.[1] ?? null }
}

const LOCAL = 'Host: localhost:5050'

const FOREIGN = {
  'a name that an attacker points at this machine': ['Host: evil.example', 'request.host_denied'],
  'such a name with a port': ['Host: evil.example:5050', 'request.host_denied'],
  'a name that only begins like ours': ['Host: localhost.evil.example', 'request.host_denied'],
  'a host that is none': ['Host: a b', 'request.host_denied'],
  'a page of another origin': [`${LOCAL}\r\nOrigin: https://evil.example`, 'cors.origin_denied'],
  'a page without an origin': [`${LOCAL}\r\nOrigin: null`, 'cors.origin_denied'],
  'a page that hides its origin': [
    `${LOCAL}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors`,
    'cors.origin_denied',
  ],
} as const

describe('without a token', () => {
  it.each(Object.entries(FOREIGN))('refuses %s on every route', async (_who, [headers, code]) => {
    for (const [method, path] of PATHS) {
      expect(await ask(open, method, path, [headers]), `${method} ${path}`).toEqual({ status: 403, code })
    }
  })

  it.each([
    'Host: localhost:5050',
    'Host: svc.localhost',
    'Host: 127.0.0.1:5050',
    'Host: [::1]:5050',
    'Host: 192.168.1.7:5050',
    'Host: app.example',
    `${LOCAL}\r\nOrigin: http://localhost:5051`,
    `${LOCAL}\r\nOrigin: https://app.example`,
    `${LOCAL}\r\nOrigin: https://app.example\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors`,
    `${LOCAL}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate`,
  ])('serves %j', async (headers) => {
    expect((await ask(open, 'GET', '/api/v1/signals', [headers])).status).toBe(200)
  })
})

describe('with a token', () => {
  it('needs no known host: the token decides', async () => {
    const token = `Authorization: Bearer ${TOKEN}`
    expect((await ask(closed, 'GET', '/api/v1/signals', ['Host: any.example', token])).status).toBe(200)
    expect((await ask(closed, 'GET', '/api/v1/signals', ['Host: any.example'])).status).toBe(401)
  })
})

describe('two Host headers', () => {
  it.each([
    ['the same', [LOCAL, LOCAL]],
    ['different ones', [LOCAL, 'host: evil.example']],
  ])('are refused on every route: %s', async (_which, hosts) => {
    for (const server of [open, closed]) {
      for (const [method, path] of PATHS) {
        expect(await ask(server, method, path, hosts), `${method} ${path}`).toEqual({
          status: 400,
          code: 'request.malformed_http',
        })
      }
    }
  })
})
