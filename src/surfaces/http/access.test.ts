import { afterEach, describe, expect, it } from 'vitest'
import { ROUTES } from './routes/all.ts'
import {
  OPERATOR_TOKEN,
  startTestServer,
  TOKEN,
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

describe('the token', () => {
  it('is missing, malformed or wrong: 401 with its own code', async () => {
    const server = await start()
    const codeFor = async (authorization: string | null) => {
      const headers = authorization === null ? {} : { authorization }
      const answer = await server.call('GET', '/kill-switch', { token: null, headers })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(Object.keys(answer.body)).toEqual(['status', 'title', 'code', 'detail', 'request_id'])
      return answer.body['code']
    }
    expect(await codeFor(null)).toBe('auth.missing_token')
    expect(await codeFor('')).toBe('auth.missing_token')
    for (const header of ['Basic abc', 'Bearer', 'Bearer   ', TOKEN, `Token ${TOKEN}`, `Bearer\t${TOKEN}`]) {
      expect(await codeFor(header), header).toBe('auth.invalid_header')
    }
    for (const header of [
      'Bearer wrong',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Bearer x ${TOKEN}`,
    ]) {
      expect(await codeFor(header), header).toBe('auth.invalid_token')
    }
  })

  it('opens in any case of the scheme and with blanks around it', async () => {
    const server = await start()
    for (const authorization of [`bearer ${TOKEN}`, `BEARER   ${TOKEN}  `]) {
      const answer = await server.call('GET', '/kill-switch', { token: null, headers: { authorization } })
      expect(answer.status).toBe(200)
    }
  })

  it('may be any text, sent as UTF-8', async () => {
    const token = 'schlüssel-für-alle-türen-und-tore'
    const server = await start({ settings: { api: { auth_token: token } } })
    const authorization = `Bearer ${Buffer.from(token).toString('latin1')}`
    expect(
      (await server.call('GET', '/kill-switch', { token: null, headers: { authorization } })).status,
    ).toBe(200)
  })

  it('is asked for by every protected endpoint, and by no other', async () => {
    const server = await start()
    const isPublic = new Set([
      'GET /api/v1/health',
      'GET /api/v1/oracle/producers/:producer_id/provenance',
      'GET /api/v1/service/proof',
      'GET /openapi.json',
      // Probes of the process, outside of the API.
      'GET /live',
      'GET /api/v1/ready',
      'GET /ready',
    ])
    for (const route of ROUTES) {
      const path = route.url.replaceAll(/:\w+/g, 'none')
      const query = route.operationId === 'getServiceProof' ? `?nonce=${'9c'.repeat(32)}` : ''
      for (const token of [null, 'wrong']) {
        const answer = await server.callRoot(route.method, path + query, { token })
        const name = `${route.method} ${route.url}`
        if (isPublic.has(name)) expect(answer.status, name).toBe(200)
        else
          expect([answer.status, answer.body['code']], name).toEqual([401, expect.stringMatching(/^auth\./)])
      }
    }
    for (const path of ['/docs', '/docs/', '/docs/static/swagger-ui.css', '/docs/json']) {
      expect((await server.callRoot('GET', path, { token: null })).status, path).toBe(200)
    }
  })

  it('comes before everything that a request may say', async () => {
    const server = await start({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const bodies = [
      { body: '{', headers: {} },
      { body: 'x'.repeat(2 * 1024 * 1024), headers: {} },
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      { body: '{"level":9}', headers: { 'x-trace-id': 'a|b', 'idempotency-key': 'a|b' } },
    ]
    for (const route of ROUTES.filter(({ needs }) => needs !== 'public')) {
      const path = `${route.url.replaceAll(/:\w+/g, 'none')}?limit=abc&n=-1&status=x`
      for (const { body, headers } of route.method === 'GET' ? [{ body: null, headers: {} }] : bodies) {
        const sent = { headers, ...(body === null ? {} : { body }) }
        const { seq: after } = await server.engine.log.head()
        for (const token of [null, 'wrong']) {
          const answer = await server.callRoot(route.method, path, { ...sent, token })
          expect([answer.status, Object.keys(answer.body)], route.url).toEqual([
            401,
            ['status', 'title', 'code', 'detail', 'request_id'],
          ])
        }
        if (route.needs === 'operator') {
          const answer = await server.callRoot(route.method, path, sent)
          expect([answer.status, answer.body['code']], route.url).toEqual([403, 'auth.forbidden'])
        }
        const written = await server.engine.log.read({ after, order: 'asc', limit: 10 })
        expect(written.every(({ type }) => type === 'system.audit.v1')).toBe(true)
      }
    }
  })

  it('changes at once', async () => {
    const server = await start()
    const next = 'the-next-token-of-more-than-32-characters'
    expect((await server.call('POST', '/config', { json: { api: { auth_token: next } } })).status).toBe(200)
    expect((await server.call('GET', '/kill-switch')).status).toBe(401)
    expect((await server.call('GET', '/kill-switch', { token: next })).status).toBe(200)
  })

  it('is in no log line', async () => {
    const server = await start({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    await server.call('GET', '/kill-switch')
    await server.call('GET', `/kill-switch?token=${TOKEN}`, { token: OPERATOR_TOKEN })
    await server.call('GET', `/${TOKEN}`)
    const lines = server.logLines.join('')
    expect(lines).toContain('answered')
    expect(lines).not.toContain(TOKEN)
    expect(lines).not.toContain(OPERATOR_TOKEN)
  })
})

describe('the operator token', () => {
  it('is needed where operators act, and accepted everywhere', async () => {
    const server = await start({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const operatorOnly = ROUTES.filter(({ needs }) => needs === 'operator')
    expect(operatorOnly.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /intents/:id/approve',
      'POST /intents/:id/deny',
      'POST /karma/settle',
      'POST /karma/migrate-wallet',
      'POST /live/resume',
      'POST /learning/run',
      'POST /orders/:order_id/cancel',
      'POST /positions/close-all',
      'POST /positions/:position_id/close',
    ])
    for (const { method, path } of operatorOnly) {
      const forbidden = await server.call(method, path, { json: {} })
      expect([forbidden.status, forbidden.body['code']]).toEqual([403, 'auth.forbidden'])
      expect((await server.call(method, path, { json: {}, token: OPERATOR_TOKEN })).status).not.toBe(403)
      expect((await server.call(method, path, { json: {}, token: null })).status).toBe(401)
    }
    expect((await server.call('GET', '/kill-switch', { token: OPERATOR_TOKEN })).status).toBe(200)
    expect((await server.call('GET', '/kill-switch')).status).toBe(200)
    expect((await server.call('POST', '/config/validate', { json: {} })).status).toBe(200)
  })

  it('is needed to lower the kill switch, and not to raise it', async () => {
    const server = await start({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const set = (level: number, token?: string) =>
      server.call('POST', '/kill-switch', { json: { level, reason: 'x' }, ...(token ? { token } : {}) })
    expect((await set(2)).body).toMatchObject({ level: 2 })
    for (const level of [0, 1])
      expect((await set(level)).body).toMatchObject({ status: 403, code: 'auth.forbidden', level: 2 })
    expect((await set(2)).status).toBe(200)
    expect((await server.auditEntries()).filter(({ outcome }) => outcome === 'denied')).toMatchObject([
      { resource: '/kill-switch', reason: 'auth.forbidden' },
      { resource: '/kill-switch', reason: 'auth.forbidden' },
    ])
    expect((await set(0, OPERATOR_TOKEN)).body).toMatchObject({ level: 0 })
  })

  it('is not needed while none is configured', async () => {
    const server = await start()
    expect((await server.call('POST', '/kill-switch', { json: WRITE })).status).toBe(200)
  })
})

describe('without any token configured', () => {
  const open = { settings: { api: { auth_token: '' } } }

  it('every request is refused, unless that was allowed', async () => {
    const server = await start(open)
    expect((await server.call('GET', '/kill-switch', { token: null })).status).toBe(401)
    expect((await server.call('GET', '/kill-switch', { token: 'x' })).status).toBe(401)
    const insecure = await start({ ...open, insecureOk: true })
    expect((await insecure.call('GET', '/kill-switch', { token: null })).status).toBe(200)
    expect((await insecure.call('POST', '/kill-switch', { token: 'any', json: WRITE })).status).toBe(200)
  })

  it('the operator token is still enforced', async () => {
    const server = await start({
      settings: { api: { auth_token: '', operator_token: OPERATOR_TOKEN } },
      insecureOk: true,
    })
    expect((await server.call('GET', '/kill-switch', { token: null })).status).toBe(200)
    expect((await server.call('POST', '/kill-switch', { token: null, json: WRITE })).status).toBe(401)
    expect((await server.call('POST', '/kill-switch', { token: 'x', json: WRITE })).status).toBe(401)
    expect((await server.call('POST', '/kill-switch', { token: OPERATOR_TOKEN, json: WRITE })).status).toBe(
      200,
    )
  })
})

describe('the rate limit', () => {
  it('is off unless configured', async () => {
    const server = await start()
    const answers = await Promise.all(Array.from({ length: 300 }, () => server.call('GET', '/kill-switch')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })

  it('answers 429 with the time to wait, per token or address, and changes at once', async () => {
    const server = await start({
      settings: { api: { operator_token: OPERATOR_TOKEN, rate_limit_per_minute: 3 } },
    })
    for (let count = 0; count < 3; count += 1) {
      expect((await server.call('GET', '/kill-switch')).status).toBe(200)
    }
    server.testClock.advance(20_000)
    const limited = await server.call('POST', '/config/validate', { body: '{' })
    expect(limited.status).toBe(429)
    expect(limited.body).toMatchObject({ code: 'rate.limited', retry_after: 40 })
    expect(limited.headers.get('retry-after')).toBe('40')
    // A caller without a token learns nothing else.
    expect((await server.call('GET', '/kill-switch', { token: 'wrong' })).status).toBe(401)
    expect((await server.call('GET', '/kill-switch', { token: OPERATOR_TOKEN })).status).toBe(200)
    expect((await server.call('GET', '/health', { token: null })).status).toBe(200)
    const json = { api: { rate_limit_per_minute: 0 } }
    expect((await server.call('POST', '/config', { token: OPERATOR_TOKEN, json })).status).toBe(200)
    expect((await server.call('GET', '/kill-switch')).status).toBe(200)
  })

  it('counts anonymous callers by address', async () => {
    const server = await start({ settings: { api: { rate_limit_per_minute: 2 } } })
    const statuses = []
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await server.call('GET', '/health', { token: null })).status)
    }
    expect(statuses).toEqual([200, 200, 429])
    expect((await server.callRoot('GET', '/docs', { token: null })).status).toBe(429)
  })

  it('counts the time that passes while the clock of a replay stands still', async () => {
    let nowMs = 0
    const server = await start({
      settings: { api: { rate_limit_per_minute: 1 } },
      dependencies: { steadyNow: () => nowMs },
    })
    const statusOf = async () => (await server.call('GET', '/kill-switch')).status
    expect([await statusOf(), await statusOf()]).toEqual([200, 429])
    nowMs = 60_000
    expect(await statusOf()).toBe(200)
  })
})
