import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf, register, registerProducer, submit } from './acts.ts'
import { onDefaultStore } from './stores.ts'
import { cleanUp, newHome, startService, svc, TOKEN, type RunningService, type Variables } from './service.ts'

const OPERATOR = 'operator-token-of-more-than-thirty-two-characters'
const bearer = (token: string): Variables => ({ authorization: `Bearer ${token}` })

/** A token as set-up wrote it. */
const tokenIn = (home: string, name: 'auth_token' | 'operator_token'): string =>
  new RegExp(`^ *${name}: *(\\S+)$`, 'm').exec(
    readFileSync(join(home, 'config', 'user.yaml'), 'utf8'),
  )?.[1] ?? ''

describe('set-up', () => {
  afterAll(cleanUp)

  it('creates an operator token beside the API token, and shows it once', async () => {
    const home = await newHome()
    const first = await svc(home, ['init', '--dev'])
    const operator = tokenIn(home, 'operator_token')
    expect(operator).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(operator).not.toBe(tokenIn(home, 'auth_token'))
    expect(first.stdout.split(operator)).toHaveLength(2)
    expect(first.stdout).not.toContain(tokenIn(home, 'auth_token'))
    expect((await svc(home, ['init', '--dev'])).stdout).not.toContain(operator)
    for (const words of [['config', 'show'], ['health'], ['config', 'show', '--json']])
      expect((await svc(home, words)).stdout).not.toContain(operator)
  })

  it('leaves a service whose API token does not set limits or lower the kill switch', async () => {
    const home = await newHome()
    const service = await startService(home, {}, { words: ['up'] })
    const [ordinary, operator] = [tokenIn(home, 'auth_token'), tokenIn(home, 'operator_token')]
    expect(service.output()).toContain(operator)
    expect(service.output()).not.toContain('api.operator_token is not set')
    const post = (path: string, body: object, token: string) =>
      service.call('POST', path, { body, headers: bearer(token) })
    expect((await post('/config', { risk: { max_leverage: 1 } }, ordinary)).status).toBe(403)
    expect((await post('/config', { brain: { cycle_interval_seconds: 90 } }, ordinary)).status).toBe(200)
    expect((await post('/kill-switch', { level: 1, reason: 'x' }, ordinary)).status).toBe(200)
    expect((await post('/kill-switch', { level: 0, reason: 'x' }, ordinary)).status).toBe(403)
    expect((await post('/kill-switch', { level: 0, reason: 'x' }, operator)).status).toBe(200)
    await service.stop()
  })

  it('leaves tokens to the environment that names one', async () => {
    const home = await newHome()
    expect((await svc(home, ['init', '--dev'], { SVC_API__AUTH_TOKEN: TOKEN })).exitCode).toBe(0)
    expect(tokenIn(home, 'operator_token')).toBe('')
  })
})

describe('a service with one token', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome())
  })
  afterAll(cleanUp)

  it('warns at its start', () => {
    expect(service.output()).toContain('api.operator_token is not set')
  })

  it('changes settings with it, and sets no token that was not set', async () => {
    const post = (body: object) => service.call('POST', '/config', { body })
    expect((await post({ execution: { dcg_symbols: ['DOGE'] } })).status).toBe(200)
    expect((await post({ api: { operator_token: OPERATOR } })).body).toMatchObject({
      status: 400,
      code: 'config.invalid',
      errors: [{ loc: ['body', 'api', 'operator_token'] }],
    })
    expect((await service.call('GET', '/config', { headers: bearer(OPERATOR) })).status).toBe(401)
    expect((await post({ execution: { dcg_symbols: [] } })).status).toBe(200)
  })

  it('names no file outside the home folder', async () => {
    for (const body of [
      { store: { checkpoint_file: '/tmp/checkpoints' } },
      { store: { checkpoint_file: '../checkpoints' } },
      { market: { feed: 'file', file: '/etc/passwd' } },
      { market: { feed: 'file', file: 'data/../../bars.csv' } },
    ]) {
      const answer = await service.call('POST', '/config', { body })
      expect(answer.body, JSON.stringify(body)).toMatchObject({ status: 400, code: 'config.invalid' })
    }
    const body = { store: { checkpoint_file: 'data/elsewhere' } }
    expect((await service.call('POST', '/config', { body })).status).toBe(200)
  })

  it('hands out no access keys', async () => {
    const body = { name: 'mine', scopes: ['operate'] }
    expect((await service.call('POST', '/access-keys', { body })).status).toBe(403)
    expect((await service.call('GET', '/access-keys')).status).toBe(403)
  })
})

describe('an operator token', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), { SVC_API__OPERATOR_TOKEN: OPERATOR })
  })
  afterAll(cleanUp)

  it.each([
    [{ api: { rate_limit_per_minute: 0, cors_origins: ['https://evil.example'] } }],
    [{ api: { auth_token: 'x'.repeat(40) } }],
    [{ api: { operator_token: 'x'.repeat(40) } }],
    [{ execution: { dcg_symbols: ['X'] } }],
    [{ risk: { max_leverage: 5 } }],
    [{ kill_switch: { l2_loss_streak: 0 } }],
    [{ producers: { allow_private_endpoints: true } }],
    [{ store: { url: 'postgres://evil.example/x' } }],
    [{ store: { checkpoint_file: 'data/x' } }],
    [{ karma: { treasury_address: '0x00000000000000000000000000000000000000aa' } }],
    [{ preset: 'degen' }],
    [{ brain: { cycle_interval_seconds: 60 }, risk: { max_leverage: 5 } }],
  ])('is needed for %j', async (body) => {
    const before = (await service.call('GET', '/config')).text
    expect((await service.call('POST', '/config', { body })).body).toMatchObject({
      status: 403,
      code: 'auth.forbidden',
    })
    expect((await service.call('GET', '/config')).text).toBe(before)
  })

  it('is not needed to send back what is shown, or to change what tunes', async () => {
    const { body } = await service.call('GET', '/config')
    expect((await service.call('POST', '/config', { body })).status).toBe(200)
    const tuning = { producers: { quarantine_after: 6 }, learning: { enabled: false } }
    expect((await service.call('POST', '/config', { body: tuning })).status).toBe(200)
  })

  it('is needed to lower the kill switch over MCP, and not to raise it', async () => {
    const call = async (args: object): Promise<Record<string, unknown>> => {
      const params = { name: 'set_kill_switch', arguments: { reason: 'x', ...args } }
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const { result }: { result: { structuredContent: Record<string, unknown> } } = (
        await service.call('POST', '/mcp', { body })
      ).body
      return result.structuredContent
    }
    const { confirm } = await call({ level: 2 })
    expect(await call({ level: 2, confirm })).toMatchObject({ status: 'done' })
    expect(await call({ level: 0 })).toMatchObject({ error: 'operator_required' })
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 2 })
  })
})

onDefaultStore('access keys', (store) => {
  let service: RunningService
  let home: string
  let variables: Variables
  const key = async (...words: readonly string[]): Promise<string> => {
    const made = await svc(home, ['keys', 'create', ...words, '--json'], variables)
    expect(made.exitCode, made.stderr).toBe(0)
    return (JSON.parse(made.stdout) as { secret: string }).secret
  }
  const as = (token: string, method: string, path: string, body?: unknown) =>
    service.call(method, path, { headers: bearer(token), ...(body === undefined ? {} : { body }) })
  const opinionOf = (node_id: string) => ({ event_type: 'signal.curator.v1', node_id })
  beforeAll(async () => {
    home = await newHome()
    variables = { ...(await store()), SVC_DEV_MODE: '1', SVC_API__OPERATOR_TOKEN: OPERATOR }
    service = await startService(home, variables)
    await register(service, 'ann')
    await register(service, 'bob')
    await registerProducer(service, 'p1', 'onchain')
    await registerProducer(service, 'p2', 'onchain')
  })

  it('work at once, by their scopes', async () => {
    const reader = await key('--name', 'reader', '--scopes', 'read')
    expect((await as(reader, 'GET', '/config')).status).toBe(200)
    for (const [path, body] of [
      ['/signals/submit', opinionOf('ann')],
      ['/producers/p1/feedback', {}],
      ['/kill-switch', { level: 3, reason: 'x' }],
      ['/config', { brain: {} }],
      ['/positions/close-all', {}],
    ] as const)
      expect((await as(reader, 'POST', path, body)).body, path).toMatchObject({
        status: 403,
        code: 'auth.scope_missing',
      })
    expect((await as(reader, 'POST', '/access-keys', { name: 'x', scopes: ['operate'] })).status).toBe(403)
  })

  it('speak for their contributor only', async () => {
    const ann = await key('--name', 'ann', '--scopes', 'read,submit,emit', '--contributor', 'ann')
    expect((await as(ann, 'POST', '/signals/submit', opinionOf('ann'))).status).toBe(200)
    expect((await as(ann, 'POST', '/signals/submit', opinionOf('bob'))).body).toMatchObject({
      status: 403,
      code: 'auth.author_mismatch',
    })
    const contributors = (await service.call('GET', '/contributors')).body as { id: string }[]
    for (const { id } of contributors)
      expect((await as(ann, 'DELETE', `/contributors/${id}`)).status).toBe(403)
    expect((await as(ann, 'DELETE', '/producers/p1')).status).toBe(403)
    expect((await service.call('GET', '/contributors')).body).toEqual(contributors)
  })

  it('speak for their producer only', async () => {
    const p1 = await key('--name', 'p1', '--scopes', 'emit', '--producer', 'p1')
    const emitAs = async (producer_id: string): Promise<unknown> => {
      const args = { producer_id, signal_type: 'signal.onchain.v1', payload: { symbol: 'BTC' } }
      const params = { name: 'emit_producer_signal', arguments: args }
      const { result }: { result: { structuredContent: Record<string, unknown> } } = (
        await as(p1, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      ).body
      return result.structuredContent['error'] ?? 'stored'
    }
    expect([await emitAs('p1'), await emitAs('p2'), await emitAs('ann')]).toEqual([
      'stored',
      'author_mismatch',
      'author_mismatch',
    ])
    expect((await as(p1, 'POST', '/producers/p1/feedback', {})).status).toBe(200)
    expect((await as(p1, 'POST', '/producers/p1/feedback', { outcome: 'profit' })).status).toBe(403)
    expect((await as(p1, 'POST', '/producers/p2/feedback', { outcome: 'loss' })).status).toBe(403)
    expect((await as(p1, 'POST', '/signals/submit', opinionOf('ann'))).status).toBe(403)
  })

  it('are named in the audit', async () => {
    const audits = (await eventsOf(service, 'system.audit')).map(({ payload }) => payload)
    expect(audits).toContainEqual(
      expect.objectContaining({ access_key: 'ann', resource: '/signals/submit', outcome: 'allowed' }),
    )
    expect(audits).toContainEqual(
      expect.objectContaining({ access_key: 'ann', outcome: 'denied', reason: 'auth.author_mismatch' }),
    )
    await submit(service, 'bob')
    expect((await eventsOf(service, 'system.audit'))[0]?.payload).not.toHaveProperty('access_key')
  })

  it('survive a restart, and are the same in every process', async () => {
    const created = await as(OPERATOR, 'POST', '/access-keys', { name: 'lasting', scopes: ['read'] })
    expect(created.status).toBe(201)
    const { secret } = created.body as { secret: string }
    const second = await startService(home, variables)
    expect((await second.call('GET', '/config', { headers: bearer(secret) })).status).toBe(200)
    expect((await svc(home, ['keys', 'list'], variables)).stdout).toMatch(/^lasting +read/m)
    expect((await svc(home, ['keys', 'revoke', 'lasting'], variables)).exitCode).toBe(0)
    for (const { baseUrl } of [service, second]) {
      const answer = await fetch(`${baseUrl}/config`, { headers: bearer(secret) })
      expect(answer.status).toBe(401)
    }
    await second.stop()
    const ann = await key('--name', 'ann-2', '--scopes', 'read', '--expires', '1h')
    await service.stop()
    service = await startService(home, variables)
    expect((await as(ann, 'GET', '/config')).status).toBe(200)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
  })

  it('leave nothing of their secrets behind', async () => {
    const secret = (await key('--name', 'secretive', '--scopes', 'read')).slice('sk-svc-'.length)
    const { text } = await service.call('GET', '/events?limit=500')
    expect(text).toContain('secretive')
    for (const shown of [
      text,
      (await svc(home, ['keys', 'list', '--json'], variables)).stdout,
      service.output(),
    ])
      expect(shown).not.toContain(secret)
  })

  it.each([
    [['--name', 'a b', '--scopes', 'read'], 2],
    [['--name', 'x', '--scopes', 'everything'], 2],
    [['--name', 'x', '--scopes', 'read', '--contributor', 'ann', '--producer', 'p1'], 2],
    [['--name', 'x', '--scopes', 'operate', '--contributor', 'ann'], 2],
    [['--name', 'x', '--scopes', 'read', '--expires', 'soon'], 2],
    [['--name', 'x', '--scopes', 'read', '--expires', '2020-01-01'], 1],
    [['--name', 'x', '--scopes', 'submit', '--contributor', 'nobody'], 1],
    [['--name', 'ann', '--scopes', 'read'], 1],
  ])('are refused: %j', async (words, exitCode) => {
    expect((await svc(home, ['keys', 'create', ...words], variables)).exitCode).toBe(exitCode)
  })
})
