import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConfigurationStore } from '../../../adapters/platform/config-file/configuration-store.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { configurationHashInput } from '../../../core/config/secrets.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { ConfigurationFileError } from '../../../ports/config-file.ts'
import { StoreLostError, StoreUnavailableError, type AppendResult } from '../../../ports/event-log.ts'
import { startTestServer, TOKEN, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const userYaml = () => join(server.home, 'config', 'user.yaml')

const changes = async () => {
  const records = await server.log.read({ types: ['system.config_changed'], order: 'asc', limit: 100 })
  return records.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
}

describe('GET /config/schema', () => {
  it('says what there is, what waits for a restart, and what the environment decides', async () => {
    const other = await startTestServer({ env: { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '60' } })
    const { status, body, text } = await other.call('GET', '/config/schema')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      path: 'config/user.yaml',
      schema: { properties: { api: { properties: { port: { default: 5050, minimum: 0 } } } } },
      set_by_environment: ['brain.cycle_interval_seconds'],
      waiting_for_restart: [],
      running: {},
    })
    expect(body['restart_keys']).toEqual(
      expect.arrayContaining(['api.port', 'dashboard.enabled', 'store.url', 'market.feed']),
    )
    expect(body['restart_keys']).not.toContain('risk.max_leverage')
    expect(text).not.toContain(TOKEN)
    const waiting = async (changed: object) => {
      expect((await other.call('POST', '/config', { json: changed })).status).toBe(200)
      return (await other.call('GET', '/config/schema')).body['waiting_for_restart']
    }
    const { body: atStart } = await other.call('GET', '/config')
    expect(await waiting({ api: { port: 1234 }, risk: { max_leverage: 1 } })).toEqual(['api.port'])
    const { port } = atStart['api'] as { readonly port: number }
    expect((await other.call('GET', '/config/schema')).body['running']).toEqual({ 'api.port': port })
    expect((await other.call('GET', '/config')).body).toMatchObject({
      api: { port: 1234 },
      risk: { max_leverage: 1 },
    })
    expect((await other.call('GET', '/config?values=running')).body).toMatchObject({
      api: { port, auth_token: '***REDACTED***' },
      risk: { max_leverage: 1 },
    })
    expect(await waiting({ market: { seed: 3 } })).toEqual(['market.seed', 'api.port'])
    expect(await waiting({ api: { port: null }, market: { seed: null } })).toEqual([])
    await other.close()
  })
})

describe('GET /config', () => {
  it('shows every section and no secret', async () => {
    const { status, body, text } = await server.call('GET', '/config')
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining([
        'preset',
        'weights',
        'risk',
        'brain',
        'execution',
        'kill_switch',
        'karma',
        'universe',
      ]),
    )
    expect(text).not.toContain(TOKEN)
    expect(body['api']).toMatchObject({ auth_token: '***REDACTED***', operator_token: '' })
  })
})

describe('POST /config/validate', () => {
  it('checks and writes nothing', async () => {
    const before = await readFile(userYaml(), 'utf8')
    const { status, body, text } = await server.call('POST', '/config/validate', {
      json: { brain: { cycle_interval_seconds: 60 } },
    })
    expect([status, body['ok'], body['config']]).toMatchObject([
      200,
      true,
      { brain: { cycle_interval_seconds: 60 } },
    ])
    expect(text).not.toContain(TOKEN)
    expect(await readFile(userYaml(), 'utf8')).toBe(before)
    expect((await server.call('GET', '/config')).body).toMatchObject({
      brain: { cycle_interval_seconds: 1800 },
    })
    expect(await changes()).toEqual([])
  })

  it('refuses what is no configuration', async () => {
    for (const [json, loc] of [
      [{ execution: { mode: 'yolo' } }, ['body', 'execution', 'mode']],
      [{ bogus: 1 }, ['body', 'bogus']],
      [{ api: { bogus: 1 } }, ['body', 'api', 'bogus']],
      [{ api: { port: 'x' } }, ['body', 'api', 'port']],
      [{ api: { auth_token: '' } }, ['body', 'api', 'auth_token']],
    ] as const) {
      for (const path of ['/config/validate', '/config']) {
        const { status, body } = await server.call('POST', path, { json })
        expect([status, body['code'], body['errors']]).toMatchObject([400, 'config.invalid', [{ loc }]])
      }
    }
    const weights = await server.call('POST', '/config/validate', { json: { weights: { curator: 0.9 } } })
    expect([weights.status, weights.body['code']]).toEqual([400, 'config.invalid'])
    const list = await server.call('POST', '/config/validate', { json: [] })
    expect([list.status, list.body['code']]).toEqual([422, 'request.invalid'])
    const poisoned = await server.call('POST', '/config/validate', { body: '{"__proto__":{"polluted":1}}' })
    expect([poisoned.status, poisoned.body['code']]).toEqual([400, 'config.invalid'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('POST /config', () => {
  it('saves, works at once and is recorded', async () => {
    const before = (await server.call('GET', '/config')).body
    const answer = await server.call('POST', '/config', {
      json: { brain: { cycle_interval_seconds: 60 } },
      headers: { 'x-trace-id': 'change-1' },
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, path: userYaml(), restart_required: [], overridden_by_env: [] },
    ])
    expect((await stat(userYaml())).mode & 0o777).toBe(0o600)
    const after = (await server.call('GET', '/config')).body
    expect(after).toEqual({
      ...before,
      brain: { ...(before['brain'] as object), cycle_interval_seconds: 60 },
    })
    const config_hash = sha256Hex(configurationHashInput(server.configuration.current()))
    const configuration = { brain: { cycle_interval_seconds: 60 } }
    expect(await changes()).toEqual([
      { changed: ['brain.cycle_interval_seconds'], config_hash, configuration, changed_by: 'token' },
    ])
    const [record] = await server.log.read({ types: ['system.config_changed'], order: 'asc', limit: 1 })
    expect(record).toMatchObject({ source: 'api', traceId: 'change-1' })
    expect(record?.payload).not.toContain(TOKEN)
    const reopened = await openConfigurationStore({ home: server.home, env: {} })
    expect(reopened.status === 'opened' && reopened.store.current().brain.cycle_interval_seconds).toBe(60)
  })

  it('changes nothing for {} and for what GET shows', async () => {
    const shown = (await server.call('GET', '/config')).body
    const before = await server.log.head()
    for (const json of [{}, shown]) {
      expect((await server.call('POST', '/config', { json })).status).toBe(200)
    }
    expect(await server.log.head()).toEqual(before)
    expect((await server.call('GET', '/config')).body).toEqual(shown)
    expect((await server.call('GET', '/kill-switch')).status).toBe(200)
    expect((await server.call('GET', '/kill-switch', { token: null })).status).toBe(401)
    expect(await changes()).toEqual([])
  })

  it('keeps lists', async () => {
    const json = { execution: { dcg_symbols: ['LUNA', 'FTT'] }, api: { cors_origins: ['https://a.example'] } }
    await server.call('POST', '/config', { json })
    expect((await server.call('GET', '/config')).body).toMatchObject(json)
  })

  it('says what needs a restart and what the environment decides', async () => {
    const other = await startTestServer({ env: { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '99' } })
    const { body } = await other.call('POST', '/config', {
      json: { brain: { cycle_interval_seconds: 60 }, api: { port: 6000 } },
    })
    expect(body).toMatchObject({
      restart_required: ['api.port'],
      overridden_by_env: ['brain.cycle_interval_seconds'],
    })
    await other.close()
  })

  it('says when it could not be saved', async () => {
    const broken = await startTestServer({
      dependencies: {
        configuration: {
          ...server.configuration,
          change: () => Promise.reject(new ConfigurationFileError(`${server.home} is full`)),
        },
      },
    })
    const { status, body, headers, text } = await broken.call('POST', '/config', { json: {} })
    expect([status, body['code']]).toEqual([503, 'config.not_saved'])
    expect(headers.get('retry-after')).toBe('5')
    expect(text).not.toContain(server.home)
    expect(broken.logLines.join('')).toContain('is full')
    await broken.close()
  })

  it('refuses while the file is broken', async () => {
    await writeFile(userYaml(), 'api: [')
    const { status, body } = await server.call('POST', '/config', {
      json: { brain: { cycle_interval_seconds: 60 } },
    })
    expect([status, body['code']]).toEqual([400, 'config.invalid'])
  })
})

describe('a change while the store takes nothing', () => {
  it('says that it is made where it is', async () => {
    const log = new RefusingLog()
    const other = await startTestServer({ log })
    log.refusal = new StoreUnavailableError('full')
    const json = { brain: { cycle_interval_seconds: 61 } }
    const { status, body } = await other.call('POST', '/config', { json })
    expect([status, body['code']]).toEqual([503, 'store.unavailable'])
    expect(body['detail']).toContain('changed and in force')
    expect(other.configuration.current().brain.cycle_interval_seconds).toBe(61)
    await other.close()
  })

  it('is not made where the log is lost', async () => {
    const log = new RefusingLog()
    const other = await startTestServer({ log })
    log.refusal = new StoreLostError('events.db is gone')
    await other.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    const json = { brain: { cycle_interval_seconds: 61 } }
    const { status, body } = await other.call('POST', '/config', { json })
    expect([status, body['code']]).toEqual([503, 'store.unavailable'])
    expect(body['detail']).toContain('nothing was changed')
    expect(other.configuration.current().brain.cycle_interval_seconds).toBe(1800)
    await other.close()
  })
})

class RefusingLog extends MemoryLog {
  refusal: Error | null = null

  override append(...args: Parameters<MemoryLog['append']>): Promise<AppendResult> {
    return this.refusal === null ? super.append(...args) : Promise.reject(this.refusal)
  }
}
