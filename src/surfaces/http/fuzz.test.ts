import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, TOKEN, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({
    settings: { audit: { reads: true } },
    limits: { headersTimeoutMs: 400, bodyTimeoutMs: 400, slowCheckMs: 20 },
  })
})
afterAll(() => server.close())

describe('whatever clients send', () => {
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
