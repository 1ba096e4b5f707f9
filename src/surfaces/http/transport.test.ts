import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectCommonHeaders, expectProblem } from './expectations.fixture.ts'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const WRITE = { level: 0, reason: 'test' }

describe('routes and methods', () => {
  it('answers unknown paths with 404, without a token', async () => {
    for (const path of ['/no-such-path', '/events/1/2', '/%zz', '/%ff', '/events%', '/Health']) {
      expectProblem(await server.call('GET', path, { token: null }), 'route.not_found', 404)
    }
    expectProblem(await server.callRoot('GET', '/', { token: null }), 'route.not_found', 404)
    expectProblem(await server.callRoot('GET', '/health', { token: null }), 'route.not_found', 404)
    expectProblem(await server.callRoot('POST', '/nope', { body: 'not json' }), 'route.not_found', 404)
  })

  it('answers known paths with other methods with 405 and Allow, without a token', async () => {
    const put = await server.call('PUT', '/kill-switch', { token: null, body: '{' })
    expectProblem(put, 'route.method_not_allowed', 405)
    expect(put.headers.get('allow')).toBe('GET, HEAD, POST')
    const get = await server.call('GET', '/config/validate', { token: null })
    expect(get.headers.get('allow')).toBe('POST')
    for (const method of ['PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE', 'PURGE']) {
      const answer = await server.raw(
        `${method} /api/v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/)
      expect(answer).toMatch(/\r\nallow: GET, HEAD\r\n/i)
    }
  })

  it('answers HEAD where GET works, without a body', async () => {
    for (const path of ['/health', '/kill-switch', '/events', '/config']) {
      const get = await server.call('GET', path)
      const head = await server.call('HEAD', path)
      expect(head.status).toBe(200)
      expect(head.text).toBe('')
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
      expectCommonHeaders(head.headers)
    }
    expect((await server.call('HEAD', '/kill-switch', { token: null })).status).toBe(401)
    expect((await server.call('HEAD', '/config/validate')).status).toBe(405)
  })

  it('answers with and without a slash at the end', async () => {
    for (const path of ['/kill-switch', '/events', '/integrity']) {
      const [plain, slashed] = [await server.call('GET', path), await server.call('GET', `${path}/`)]
      expect(slashed.status).toBe(200)
      expect(slashed.body).toEqual({ ...plain.body, elapsed_ms: slashed.body['elapsed_ms'] })
    }
    expect((await server.call('POST', '/kill-switch/', { json: WRITE })).status).toBe(200)
  })

  it('understands an absolute address in the request line', async () => {
    const answer = await server.raw(
      'GET http://engine.example/api/v1/health HTTP/1.1\r\nHost: engine.example\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    const star = await server.raw('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(star).toMatch(/^HTTP\/1\.1 40[45] /)
  })
})

describe('every answer', () => {
  it('echoes a valid request id and replaces others', async () => {
    const mine = await server.call('GET', '/health', { headers: { 'x-request-id': 'my.request_1-A' } })
    expect(mine.headers.get('x-request-id')).toBe('my.request_1-A')
    const refused = await server.call('GET', '/nope', { headers: { 'x-request-id': 'abc' } })
    expect(refused.body['request_id']).toBe('abc')
    for (const bad of ['has blank', 'x'.repeat(65), 'a|b', 'ä']) {
      const { headers } = await server.call('GET', '/health', { headers: { 'x-request-id': bad } })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
    }
  })

  it('has the common headers, whatever it is', async () => {
    const answers = [
      await server.call('GET', '/health'),
      await server.call('GET', '/kill-switch', { token: null }),
      await server.call('POST', '/kill-switch', { body: '{' }),
      await server.call('POST', '/kill-switch', { json: {} }),
      await server.callRoot('GET', '/docs'),
      await server.callRoot('GET', '/docs/static/swagger-ui.css'),
      await server.callRoot('GET', '/docs/static/nope.css'),
      await server.callRoot('GET', '/openapi.json'),
      await server.callRoot('GET', '/metrics'),
    ]
    for (const { headers } of answers) expectCommonHeaders(headers)
  })

  it('is JSON in UTF-8 without escapes', async () => {
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'Größe 😀' } })
    const { text: body, headers } = await server.call('GET', '/kill-switch')
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toContain('"reason":"Größe 😀"')
    await server.call('POST', '/kill-switch', { json: WRITE })
  })
})

describe('the order of checks', () => {
  it('is route, token, size and form, fields', async () => {
    const broken = { body: '{' }
    expect((await server.call('POST', '/nope', { ...broken, token: null })).status).toBe(404)
    expect((await server.call('PUT', '/kill-switch', { ...broken, token: null })).status).toBe(405)
    expect((await server.call('POST', '/kill-switch', { ...broken, token: null })).status).toBe(401)
    const large = `{${' '.repeat(1024 * 1024)}`
    expect((await server.call('POST', '/kill-switch', { body: large, token: 'wrong' })).status).toBe(401)
    expect((await server.call('POST', '/kill-switch', { body: large })).status).toBe(413)
    expect((await server.call('POST', '/kill-switch', broken)).status).toBe(400)
    expect((await server.call('GET', '/events?limit=0', { token: null })).status).toBe(401)
    const both = await server.call('GET', '/events?limit=0&order=up', { headers: { 'x-trace-id': 'a|b' } })
    expectProblem(both, 'request.invalid', 422)
    expect((both.body['errors'] as { loc: string[] }[]).map(({ loc }) => loc)).toEqual([
      ['query', 'order'],
      ['query', 'limit'],
      ['header', 'x-trace-id'],
    ])
  })
})
