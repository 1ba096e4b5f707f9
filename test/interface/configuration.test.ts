import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, startService, svc, TOKEN, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

onDefaultStore('the configuration', (store) => {
  let home: string
  let variables: Variables
  let service: RunningService
  beforeAll(async () => {
    home = await newHome()
    variables = await store()
    service = await startService(home, variables)
  })
  const post = (body: unknown, path = '/config') => service.call('POST', path, { body })
  const current = async () =>
    (await service.call('GET', '/config')).body as Record<string, Record<string, unknown>>

  it('is shown whole, without secrets', async () => {
    const { text } = await service.call('GET', '/config')
    expect(text).not.toContain(TOKEN)
    expect(await current()).toMatchObject({
      preset: 'balanced',
      api: { auth_token: '***REDACTED***', operator_token: '', port: 0 },
      weights: { curator: 0.25 },
      kill_switch: { l3_max_drawdown_pct: 0.3 },
      stream: { keep_alive_seconds: 15 },
    })
  })

  it('is validated without being written', async () => {
    expect((await post({}, '/config/validate')).body).toMatchObject({
      ok: true,
      config: { preset: 'balanced' },
    })
    expect(() => statSync(join(home, 'config', 'user.yaml'))).toThrow('ENOENT')
    expect((await post([], '/config/validate')).status).toBe(422)
  })

  it.each([
    [{ execution: { mode: 'yolo' } }, ['body', 'execution', 'mode']],
    [{ bogus: 1 }, ['body', 'bogus']],
    [{ api: { bogus: 1 } }, ['body', 'api', 'bogus']],
    [{ weights: { curator: 0.9 } }, ['body', 'weights']],
    [{ api: { auth_token: '' } }, ['body', 'api', 'auth_token']],
  ])('%j is refused', async (body, loc) => {
    for (const path of ['/config/validate', '/config']) {
      const answer = await post(body, path)
      expect(answer.body).toMatchObject({ status: 400, code: 'config.invalid' })
      expect(
        (answer.body as { errors: { loc: string[] }[] }).errors.map((fault) => fault.loc),
      ).toContainEqual(loc)
    }
  })

  it('is changed, written 0600 and told in an event', async () => {
    const before = await current()
    const answer = await post({
      brain: { cycle_interval_seconds: 60 },
      execution: { dcg_symbols: ['DOGE'] },
      api: { cors_origins: ['https://a.example'] },
    })
    expect(answer.body).toMatchObject({ ok: true, path: expect.stringMatching(/config\/user\.yaml$/) })
    expect(statSync(join(home, 'config', 'user.yaml')).mode & 0o777).toBe(0o600)
    expect(await current()).toEqual({
      ...before,
      brain: { ...before['brain'], cycle_interval_seconds: 60 },
      execution: { ...before['execution'], dcg_symbols: ['DOGE'] },
      api: { ...before['api'], cors_origins: ['https://a.example'] },
    })
    const { items } = (await service.call('GET', '/events?type=system.config_changed')).body as {
      items: { payload: { changed: string[] } }[]
    }
    expect(items[0]?.payload.changed).toContain('brain.cycle_interval_seconds')
  })

  it('{} and the shown configuration change nothing, and the token still works', async () => {
    const before = await current()
    const file = readFileSync(join(home, 'config', 'user.yaml'), 'utf8')
    for (const body of [{}, before]) expect((await post(body)).status).toBe(200)
    expect(await current()).toEqual(before)
    expect((await service.call('GET', '/config', { headers: { authorization: '' } })).status).toBe(401)
    expect(readFileSync(join(home, 'config', 'user.yaml'), 'utf8')).toBe(file)
  })

  it('is taken over from the command line while the service runs', async () => {
    expect((await svc(home, ['config', 'set', 'universe.max_size', '50'], variables)).exitCode).toBe(0)
    await expect.poll(async () => (await current())['universe']?.['max_size']).toBe(50)
  })

  it('survives a restart', async () => {
    await service.stop()
    service = await startService(home, variables)
    expect(await current()).toMatchObject({ brain: { cycle_interval_seconds: 60 } })
  })
})

describe('a setting of the environment', () => {
  afterAll(cleanUp)

  it('beats the file', async () => {
    const other = await newHome()
    await mkdir(join(other, 'config'))
    writeFileSync(
      join(other, 'config', 'user.yaml'),
      'api:\n  auth_token: a-token-that-stands-in-the-file-only-123456\n',
      { mode: 0o600 },
    )
    const overridden = await startService(other)
    expect((await overridden.call('GET', '/kill-switch')).status).toBe(200)
    await overridden.stop()
  })

  it('may list origins: those may ask from browsers, others may not', async () => {
    const open = await startService(await newHome(), { SVC_API__CORS_ORIGINS: '["https://a.example"]' })
    const preflight = (origin: string) =>
      open.call('OPTIONS', '/kill-switch', { headers: { origin, 'access-control-request-method': 'POST' } })
    const allowed = await preflight('https://a.example')
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://a.example')
    const denied = await preflight('https://b.example')
    expect(denied.status).toBe(403)
    expect(denied.headers.get('access-control-allow-origin')).toBeNull()
    await open.stop()
  })
})
