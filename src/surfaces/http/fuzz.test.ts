import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from './routes/all.ts'
import { startTestServer, TOKEN, type Called, type TestServer } from './test-server.contract.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({
    settings: { audit: { reads: true } },
    limits: { headersTimeoutMs: 400, bodyTimeoutMs: 400, slowCheckMs: 20 },
  })
})
afterAll(() => server.close())

const expectSane = ({ status, headers, body, text }: Called, what: string): void => {
  expect(status, `${what} ${text.slice(0, 200)}`).not.toBe(500)
  expect(headers.get('x-request-id'), what).not.toBeNull()
  // JSON-RPC has errors of its own.
  if (status < 400 || body['jsonrpc'] === '2.0') return
  if (text === '{"detail":"Position not found"}') return
  expect(headers.get('content-type'), what).toBe('application/problem+json')
  expect(body, what).toMatchObject({ status, code: expect.stringMatching(/^[a-z_]+\.[a-z_]+$/) })
}

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('__proto__', '1', '-1', ''),
)
const query = fc
  .array(
    fc.tuple(fc.oneof(word, fc.constantFrom('limit', 'type', 'symbol', 'since', 'order', 'n', 'mode')), word),
    {
      maxLength: 4,
    },
  )
  .map((pairs) => new URLSearchParams(pairs).toString())
const bodyText = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc
    .record({ level: fc.jsonValue(), reason: fc.jsonValue(), api: fc.jsonValue() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
)
// The answer of a stream does not end.
const route = fc.constantFrom(...ROUTES.filter(({ streams }) => streams !== true))

describe('whatever strangers send', () => {
  it('is answered, and never with 500', async () => {
    await fc.assert(
      fc.asyncProperty(
        route,
        fc.string({ unit: 'binary', maxLength: 30 }),
        query,
        bodyText,
        async (to, id, search, body) => {
          const path = to.url.replaceAll(/:\w+/g, encodeURIComponent(id.toWellFormed()))
          const options = to.method === 'GET' ? {} : { body }
          expectSane(
            await server.callRoot(to.method, `${path}?${search}`, options),
            `${to.method} ${path}?${search} ${body}`,
          )
        },
      ),
      { numRuns: 200 },
    )
    // Some of what was sent may have been a valid change.
    expect((await server.call('GET', '/health')).status).toBe(200)
  })

  it('may be any bytes after a valid start', async () => {
    const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array).toString('latin1'))
    const start = fc.constantFrom(
      '',
      'GET ',
      'GET /api/v1/',
      'GET /api/v1/events?',
      `GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n`,
      `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\nContent-Length: 5\r\n\r\n`,
    )
    await fc.assert(
      fc.asyncProperty(start, bytes, async (first, rest) => {
        const answer = await server.raw(`${first}${rest}\r\n\r\n\r\n\r\n`)
        expect(answer).toMatch(/^(HTTP\/1\.1 |$)/)
        expect(answer).not.toMatch(/^HTTP\/1\.1 500/)
      }),
      { numRuns: 100 },
    )
    expect((await server.call('GET', '/health')).status).toBe(200)
  })
})
