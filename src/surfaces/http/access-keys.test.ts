import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DENIALS_PER_CALLER_MAX } from '../denials.ts'
import { callersOf } from '../mcp/caller.fixture.ts'
import { ROUTES } from './routes/all.ts'
import { startTestServer, TOKEN, type Called, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ asOperator: true, streamLimits: { checkMs: 10 } })
  for (const node_id of ['ann', 'bob'])
    await server.call('POST', '/contributors/register', { json: { node_id, name: node_id, role: 'agent' } })
  for (const name of ['p1', 'p2'])
    await server.call('POST', '/producers/register', {
      json: { name, domain: 'onchain', endpoint: 'https://example.com/x' },
    })
})
afterAll(() => server.close())

let count = 0
const keyWith = async (request: object): Promise<{ readonly name: string; readonly secret: string }> => {
  const name = `k${(count += 1)}`
  const { status, text, body } = await server.call('POST', '/access-keys', { json: { name, ...request } })
  expect(status, text).toBe(201)
  return { name, secret: String(body['secret']) }
}

const submit = (node_id: string, token: string): Promise<Called> =>
  server.call('POST', '/signals/submit', { token, json: { event_type: 'signal.curator.v1', node_id } })

const emit = async (token: string, producer_id: string, signal_type = 'signal.onchain.v1') => {
  const args = { producer_id, signal_type, payload: { symbol: 'BTC' } }
  const { result } = await callersOf(server).tool('emit_producer_signal', args, {
    authorization: `Bearer ${token}`,
  })
  return result?.structuredContent['error'] ?? 'stored'
}

const codeOf = ({ status, body }: Called) => [status, body['code']]

describe('an access key', () => {
  it('is 256 random bits, shown once and stored as a hash', async () => {
    const { name, secret } = await keyWith({ scopes: ['read'] })
    expect(secret).toMatch(/^sk-svc-[A-Za-z0-9_-]{43}$/)
    const stored = await server.log.read({ types: ['system.access_key_created'], order: 'desc', limit: 1 })
    expect(stored[0]?.payload).not.toContain(secret.slice(7))
    const { text } = await server.call('GET', '/access-keys')
    expect(text).toContain(`"name":"${name}"`)
    expect(text).not.toContain(secret.slice(7))
    expect(text).not.toContain('hash')
    expect(server.logLines.join('')).not.toContain(secret)
  })

  it('has the rights of its scopes and no others, at every endpoint', async () => {
    for (const scope of ['read', 'submit', 'emit', 'operate'] as const) {
      const { secret: token } = await keyWith({ scopes: [scope] })
      const needs = scope === 'operate' ? ['operator', 'control'] : [scope]
      for (const route of ROUTES.filter((each) => each.needs !== 'public' && each.streams !== true)) {
        const path = route.url.replaceAll(/:\w+/g, 'none')
        const options = { token, ...(route.body === undefined ? {} : { json: { level: 'x' } }) }
        // Skips writes that would be carried out: only the permissions are checked here.
        if (needs.includes(route.needs) && route.body === undefined && route.method !== 'GET') continue
        const answer = await server.callRoot(route.method, path, options)
        const what = `${scope} ${route.operationId} ${answer.text}`
        if (route.needs === 'access') expect(codeOf(answer), what).toEqual([403, 'auth.forbidden'])
        else if (route.needs === 'any' || needs.includes(route.needs))
          expect(answer.status, what).not.toBe(403)
        else expect(codeOf(answer), what).toEqual([403, 'auth.scope_missing'])
      }
    }
  })

  it('has the rights of its scopes at every tool', async () => {
    const { secret: reader } = await keyWith({ scopes: ['read'] })
    const { secret: emitter } = await keyWith({ scopes: ['emit'] })
    const call = async (token: string, name: string, args: object = {}) =>
      (await callersOf(server).tool(name, args, { authorization: `Bearer ${token}` })).result
        ?.structuredContent['error']
    expect(await call(reader, 'get_portfolio')).toBeUndefined()
    expect(await call(emitter, 'get_portfolio')).toBe('scope_missing')
    expect(await emit(reader, 'p1')).toBe('scope_missing')
    expect(await emit(emitter, 'p1')).toBe('stored')
    for (const token of [reader, emitter])
      expect(await call(token, 'set_kill_switch', { level: 1, reason: 'x' })).toBe('scope_missing')
  })

  it('cannot be created, listed or revoked by anybody but the operator', async () => {
    const { name, secret } = await keyWith({ scopes: ['read', 'submit', 'emit', 'operate'] })
    for (const token of [TOKEN, secret]) {
      const json = { name: 'mine', scopes: ['operate'] }
      expect(codeOf(await server.call('POST', '/access-keys', { token, json }))).toEqual([
        403,
        'auth.forbidden',
      ])
      expect(codeOf(await server.call('GET', '/access-keys', { token }))).toEqual([403, 'auth.forbidden'])
      expect((await server.call('DELETE', `/access-keys/${name}`, { token })).status).toBe(403)
    }
    const alone = await startTestServer()
    expect((await alone.call('POST', '/access-keys', { json: { name: 'k', scopes: ['read'] } })).status).toBe(
      403,
    )
    await alone.close()
  })

  it('that operates changes risk, and not who may come in', async () => {
    const { secret: token } = await keyWith({ scopes: ['operate'] })
    const post = (json: object) => server.call('POST', '/config', { token, json })
    expect((await post({ risk: { max_leverage: 1 } })).status).toBe(200)
    for (const api of [
      { operator_token: 'x'.repeat(40) },
      { auth_token: 'y'.repeat(40) },
      { cors_origins: ['https://a.b'] },
    ])
      expect(codeOf(await post({ api }))).toEqual([403, 'auth.forbidden'])
  })

  it('is named in the audit of what it did and of what it was denied', async () => {
    const { name, secret } = await keyWith({ scopes: ['submit'] })
    await submit('bob', secret)
    await server.call('GET', '/config', { token: secret })
    await emit(secret, 'p1')
    const entries = (await server.log.read({ types: ['system.audit'], order: 'asc', limit: 1000 }))
      .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
      .filter(({ access_key }) => access_key === name)
    expect(entries).toMatchObject([
      { resource: '/signals/submit', outcome: 'allowed' },
      { resource: '/config', outcome: 'denied', reason: 'auth.scope_missing' },
      { resource: 'mcp:emit_producer_signal', outcome: 'denied', reason: 'auth.scope_missing' },
    ])
  })

  it('ends when it is revoked, and so does its stream', async () => {
    const { name, secret: token } = await keyWith({ scopes: ['read'] })
    const stream = await fetch(`${server.baseUrl}/events/stream`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(stream.status).toBe(200)
    expect((await server.call('DELETE', `/access-keys/${name}`)).body).toEqual({ revoked: name })
    expect(codeOf(await server.call('GET', '/config', { token }))).toEqual([401, 'auth.invalid_token'])
    // Resolves when the server ends the stream.
    await stream.text()
  })

  it('ends at its expiry, and so does its stream', async () => {
    const expires_at = new Date(server.testClock.now() + 60_000).toISOString()
    const { name, secret: token } = await keyWith({ scopes: ['read'], expires_at })
    const stream = await fetch(`${server.baseUrl}/events/stream`, {
      headers: { authorization: `Bearer ${token}` },
    })
    server.testClock.advance(59_999)
    expect((await server.call('GET', '/config', { token })).status).toBe(200)
    server.testClock.advance(1)
    expect(codeOf(await server.call('GET', '/config', { token }))).toEqual([401, 'auth.invalid_token'])
    await stream.text()
    const { keys } = (await server.call('GET', '/access-keys')).body as {
      keys: { name: string; expired: boolean }[]
    }
    expect(keys.find((key) => key.name === name)).toMatchObject({ expired: true })
  })
})

describe('a key that is bound to a contributor', () => {
  it('ends with it, and speaks for nobody who registers under that node_id later', async () => {
    const json = { node_id: 'eve', name: 'Eve', role: 'agent' }
    const register = () => server.call('POST', '/contributors/register', { json })
    const { id } = (await register()).body
    const { name, secret } = await keyWith({ scopes: ['read', 'submit'], contributor: 'eve' })
    expect((await submit('eve', secret)).status).toBe(200)
    await server.call('DELETE', `/contributors/${String(id)}`)
    expect((await register()).status).toBe(200)
    expect(codeOf(await submit('eve', secret))).toEqual([401, 'auth.invalid_token'])
    expect((await server.call('GET', '/access-keys')).text).not.toContain(`"name":"${name}"`)
  })

  it('submits and emits in its name only', async () => {
    const { secret } = await keyWith({ scopes: ['read', 'submit', 'emit'], contributor: 'bob' })
    expect((await submit('bob', secret)).status).toBe(200)
    expect(codeOf(await submit('ann', secret))).toEqual([403, 'auth.author_mismatch'])
    expect(await emit(secret, 'bob', 'signal.curator.v1')).toBe('stored')
    expect(await emit(secret, 'ann', 'signal.curator.v1')).toBe('author_mismatch')
    expect(await emit(secret, 'p1')).toBe('author_mismatch')
  })

  it('does not speak for a producer of the same name', async () => {
    const { secret } = await keyWith({ scopes: ['submit', 'emit'], contributor: 'ann' })
    expect(await emit(secret, 'ann')).toBe('author_mismatch')
    expect(codeOf(await server.call('POST', '/producers/ann/feedback', { token: secret, json: {} }))).toEqual(
      [403, 'auth.author_mismatch'],
    )
  })

  it('registers, removes and starts nothing', async () => {
    const { secret: token } = await keyWith({ scopes: ['read', 'submit', 'emit'], contributor: 'bob' })
    const known = (await server.call('GET', '/contributors')).body as unknown as {
      id: string
      node_id: string
    }[]
    const others = known.filter(({ node_id }) => node_id !== 'bob')
    const refused = [
      ...known.map(({ id }) => server.call('DELETE', `/contributors/${id}`, { token })),
      server.call('DELETE', '/producers/p1', { token }),
      server.call('POST', '/brain/run', { token }),
      server.call('POST', '/contributors/register', {
        token,
        json: { node_id: 'eve', name: 'Eve', role: 'x' },
      }),
      server.call('POST', '/producers/register', {
        token,
        json: { name: 'eve', domain: 'onchain', endpoint: 'https://example.com/x' },
      }),
    ]
    expect(others.length).toBeGreaterThan(0)
    for (const answer of await Promise.all(refused))
      expect(codeOf(answer)).toEqual([403, 'auth.author_mismatch'])
    expect((await server.call('POST', '/trace/sessions', { token })).status).toBe(201)
  })
})

describe('a key that is bound to a producer', () => {
  it('emits in its name only', async () => {
    const { secret } = await keyWith({ scopes: ['submit', 'emit'], producer: 'p1' })
    expect(await emit(secret, 'p1')).toBe('stored')
    expect(await emit(secret, 'p2')).toBe('author_mismatch')
    // The key of a producer cannot submit as a contributor.
    expect(codeOf(await submit('p1', secret))).toEqual([403, 'auth.author_mismatch'])
    expect(await emit(secret, 'p1', 'signal.curator.v1')).toBe('author_mismatch')
  })

  it('judges neither itself nor others, and gets the report on itself', async () => {
    const { secret: token } = await keyWith({ scopes: ['emit'], producer: 'p1' })
    const feedback = (id: string, json: object) =>
      server.call('POST', `/producers/${id}/feedback`, { token, json })
    const before = await server.log.count('learning.feedback')
    for (const id of ['p1', 'p2'])
      for (const json of [
        { outcome: 'profit' },
        { correct: true },
        { pnl: 1 },
        { note: 'x' },
        { signal_id: 'x' },
      ])
        expect(codeOf(await feedback(id, json))).toEqual([403, 'auth.author_mismatch'])
    expect(await server.log.count('learning.feedback')).toBe(before)
    expect((await feedback('p1', {})).body).toMatchObject({ producer_id: 'p1', accepted: false })
    expect(codeOf(await feedback('p2', {}))).toEqual([403, 'auth.author_mismatch'])
  })
})

describe('denials', () => {
  it('of one caller are stored up to a number per minute, over REST and MCP together', async () => {
    const { name, secret: token } = await keyWith({ scopes: ['read'] })
    for (let sent = 0; sent < DENIALS_PER_CALLER_MAX; sent += 1) {
      const answer = await server.call('POST', '/brain/run', { token })
      expect(codeOf(answer)).toEqual([403, 'auth.scope_missing'])
      if (sent % 2 === 0) expect(await emit(token, 'p1')).toBe('scope_missing')
    }
    const stored = (await server.log.read({ types: ['system.audit'], order: 'desc', limit: 1000 }))
      .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
      .filter(({ access_key }) => access_key === name)
    expect(stored).toHaveLength(DENIALS_PER_CALLER_MAX)
    expect(new Set(stored.map(({ resource }) => resource))).toEqual(
      new Set(['/brain/run', 'mcp:emit_producer_signal']),
    )
  })
})

describe('the rate', () => {
  it('is counted per key, also of what is denied, and never holds back what reduces risk', async () => {
    const limited = await startTestServer({
      asOperator: true,
      settings: { api: { rate_limit_per_minute: 3 } },
    })
    const key = async (name: string, scopes: readonly string[]) => {
      limited.testClock.advance(60_000)
      const { body } = await limited.call('POST', '/access-keys', { json: { name, scopes } })
      return String(body['secret'])
    }
    const [one, other, operating] = [
      await key('one', ['read']),
      await key('other', ['read']),
      await key('operating', ['operate', 'read']),
    ]
    const read = async (token: string) => (await limited.call('GET', '/kill-switch', { token })).status
    const statuses = []
    for (let sent = 0; sent < 4; sent += 1) statuses.push(await read(one))
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await limited.call('POST', '/positions/close-all', { token: one })).status).toBe(429)
    expect(await read(other)).toBe(200)

    for (let sent = 0; sent < 4; sent += 1) await read(operating)
    expect(await read(operating)).toBe(429)
    const post = (path: string, json: object) => limited.call('POST', path, { token: operating, json })
    const set = (level: number) => post('/kill-switch', { level, reason: 'x' })
    for (const level of [1, 2, 3]) expect((await set(level)).body).toMatchObject({ level })
    expect(codeOf(await set(0))).toEqual([429, 'rate.limited'])
    expect(codeOf(await set(3))).toEqual([429, 'rate.limited'])
    expect((await post('/positions/close-all', {})).status).toBe(200)
    expect(codeOf(await post('/positions/none/close', {}))[0]).toBe(404)
    expect(codeOf(await post('/orders/none/cancel', {}))[0]).toBe(404)

    const tool = async (name: string, args: object, token = operating) => {
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
      return (await limited.call('POST', '/mcp', { token, json })).status
    }
    expect(await tool('close_all_positions', {})).toBe(200)
    expect(await tool('close_position', { position_id: 'none' })).toBe(200)
    expect(await tool('cancel_order', { order_id: 'none' })).toBe(200)
    expect(await tool('set_kill_switch', { level: 0, reason: 'x' })).toBe(429)
    expect(await tool('set_kill_switch', { level: 3, reason: 'x' })).toBe(429)
    expect(await tool('get_portfolio', {})).toBe(429)
    expect(await tool('constructor', {})).toBe(429)
    // Denials are stored, so the caller's rate limit applies to them.
    expect(await tool('close_all_positions', {}, one)).toBe(429)
    expect(await tool('cancel_order', { order_id: 'none' }, one)).toBe(429)
    expect(await tool('set_kill_switch', { level: 3, reason: 'x' }, one)).toBe(429)
    await limited.close()
  })
})
