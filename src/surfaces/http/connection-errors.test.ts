import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, TOKEN, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

describe('broken HTTP', () => {
  const expectRawProblem = (answer: string, status: number, code: string): void => {
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(head).toMatch(/\r\nx-content-type-options: nosniff/i)
    expect(head).toMatch(/\r\ncache-control: no-store/i)
    expect(head).toMatch(/\r\nconnection: close/i)
    const problem = JSON.parse(body) as Record<string, unknown>
    expect(problem).toMatchObject({ status, code })
    expect(head.toLowerCase()).toContain(`x-request-id: ${String(problem['request_id'])}`)
  }

  it('is answered with a problem', async () => {
    for (const request of [
      'NONSENSE\r\n\r\n',
      'GET /api/v1/health HTTP/9.9\r\n\r\n',
      'GET /api/v1/health HTTP/1.1\r\nBad Header: x\r\n\r\n',
      'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n',
      `POST /api/v1/config HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ]) {
      expectRawProblem(await server.raw(request), 400, 'request.malformed_http')
    }
  })

  it('is a request without Host, and a tunnel', async () => {
    expectRawProblem(await server.raw('GET /api/v1/health HTTP/1.1\r\n\r\n'), 400, 'request.malformed_http')
    expectRawProblem(
      await server.raw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'),
      405,
      'route.method_not_allowed',
    )
    expect(await server.raw('GET /api/v1/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it('is a header without end', async () => {
    const request = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`
    expectRawProblem(await server.raw(request), 431, 'request.headers_too_large')
  })

  it('does not disturb an answer that is on its way', async () => {
    const pipelined = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n'
    expect(await server.raw(pipelined)).toMatch(/^HTTP\/1\.1 /)
    expect((await server.call('GET', '/health')).status).toBe(200)
  })

  it('is not an upgrade that is not supported, nor a body that waits for 100 Continue', async () => {
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n'
    expect(await server.raw(`GET /api/v1/health HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)).toMatch(
      /^HTTP\/1\.1 200 OK/,
    )
    const waiting = `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n`
    expect(
      await server.raw(`${waiting}Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`),
    ).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 Unprocessable Content\r\n/)
  })

  it('meets an unknown expectation by answering', async () => {
    const answer = await server.raw(
      'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(answer).toMatch(/x-request-id/i)
  })
})
