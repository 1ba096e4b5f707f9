import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { moduleOf } from '../../../../test/program.fixture.ts'
import type { EnvironmentVariables } from '../../../core/config/environment.ts'
import { redactedConfiguration } from '../../../core/config/secrets.ts'
import { openConfigurationStore } from './configuration-store.ts'
import { loadConfiguration } from './sources.ts'

const TOKEN = 'x'.repeat(43)
const secure = { insecureOk: false }

let home = ''
let path = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-store-'))
  path = join(home, 'config', 'user.yaml')
})
afterEach(() => rm(home, { recursive: true, force: true }))

const open = async (env: EnvironmentVariables = { SVC_API__AUTH_TOKEN: TOKEN }) => {
  const opened = await openConfigurationStore({ home, env })
  if (opened.status === 'invalid') throw new Error(opened.problems.join('\n'))
  return opened.store
}

const writeUser = async (text: string) => {
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(path, text)
}

describe('a configuration store', () => {
  it('does not open on a wrong configuration', async () => {
    await writeUser('bogus: 1\n')
    expect(await openConfigurationStore({ home, env: {} })).toStrictEqual({
      status: 'invalid',
      problems: ['config/user.yaml:1:8: bogus is not a known key'],
    })
  })

  it('saves a change, tells listeners, and finds it again after a restart', async () => {
    const store = await open()
    const received: string[] = []
    const stop = store.onChange((configuration, changed) => {
      received.push(`${configuration.brain.cycle_interval_seconds} ${changed.join()}`)
    })
    expect(store.describe()).toStrictEqual({
      path,
      present: false,
      setByEnvironment: ['api.auth_token'],
      waitingForRestart: [],
    })
    const result = await store.change({ brain: { cycle_interval_seconds: 60 }, api: { port: 1 } }, secure)
    expect(result).toMatchObject({
      status: 'accepted',
      path,
      changed: ['brain.cycle_interval_seconds', 'api.port'],
      restartRequired: ['api.port'],
      overriddenByEnv: [],
      warnings: [],
    })
    expect(store.describe()).toMatchObject({ path, present: true, waitingForRestart: ['api.port'] })
    expect(store.current().brain.cycle_interval_seconds).toBe(60)
    expect(received).toStrictEqual(['60 brain.cycle_interval_seconds,api.port'])
    expect(parse(await readFile(path, 'utf8'))).toStrictEqual({
      brain: { cycle_interval_seconds: 60 },
      api: { port: 1 },
    })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await open()).current()).toStrictEqual(store.current())
    stop()
    await store.change({ brain: { cycle_interval_seconds: 61 } }, secure)
    expect(received).toHaveLength(1)
  })

  it('writes no file and tells nobody for {} and for what it shows', async () => {
    const store = await open()
    store.onChange(() => {
      throw new Error('told of nothing')
    })
    for (const body of [{}, redactedConfiguration(store.current())]) {
      expect(await store.change(body, secure)).toMatchObject({ status: 'accepted', changed: [] })
    }
    expect(await readdir(home)).toStrictEqual([])
  })

  it('leaves a file that says more than it must as it is until something changes', async () => {
    const text = '# pinned\napi: { port: 5050 }\n'
    await writeUser(text)
    const store = await open()
    await store.change(redactedConfiguration(store.current()), secure)
    expect(await readFile(path, 'utf8')).toBe(text)
    await store.change({ api: { rate_limit_per_minute: 5 } }, secure)
    expect(await readFile(path, 'utf8')).toBe('# pinned\napi: { rate_limit_per_minute: 5 }\n')
  })

  it('refuses without changing or writing anything', async () => {
    const store = await open({})
    const before = store.current()
    expect(await store.change([], secure)).toMatchObject({ status: 'malformed' })
    expect(await store.change({ execution: { mode: 'yolo' } }, { insecureOk: true })).toStrictEqual({
      status: 'refused',
      faults: [{ loc: ['body', 'execution', 'mode'], msg: 'must be one of paper, live', type: 'enum' }],
    })
    expect(await store.change({ api: { auth_token: '' } }, secure)).toMatchObject({
      status: 'refused',
      faults: [{ loc: ['body', 'api', 'auth_token'] }],
    })
    expect(store.current()).toBe(before)
    expect(await readdir(home)).toStrictEqual([])
  })

  it('validates like it changes, and writes nothing', async () => {
    const store = await open()
    const before = store.current()
    const valid = await store.validate({ audit: { reads: true } }, secure)
    expect(valid.status === 'valid' && valid.configuration.audit.reads).toBe(true)
    expect((await store.validate({ audit: 1 }, secure)).status).toBe('refused')
    expect((await store.validate(5, secure)).status).toBe('malformed')
    expect(store.current()).toBe(before)
    expect(await readdir(home)).toStrictEqual([])
  })

  it('warns when the new token is short', async () => {
    const store = await open({})
    expect(await store.change({ api: { auth_token: 'short' } }, secure)).toMatchObject({
      warnings: ['api.auth_token is shorter than 32 characters'],
    })
  })

  it('takes over what another process or a person wrote', async () => {
    const store = await open()
    await writeUser('api: { port: 7 }\n')
    expect(await store.reload(secure)).toMatchObject({ status: 'accepted', changed: ['api.port'] })
    expect(store.current().api.port).toBe(7)
    await writeUser('api: { port: 7 }\naudit: { reads: true }\n')
    await store.change({ metrics: { public: true } }, secure)
    expect(store.current().audit.reads).toBe(true)
    expect(parse(await readFile(path, 'utf8'))).toStrictEqual({
      api: { port: 7 },
      audit: { reads: true },
      metrics: { public: true },
    })
  })

  it('refuses to change a file that was broken by hand, and goes on as before', async () => {
    const store = await open()
    await writeUser('api: [\n')
    const result = await store.change({ audit: { reads: true } }, secure)
    expect(result).toMatchObject({ status: 'refused', faults: [{ loc: ['body'], type: 'conflict' }] })
    expect(store.current().audit.reads).toBe(false)
    expect(await readFile(path, 'utf8')).toBe('api: [\n')
  })

  it('makes all of many changes at once, one after the other', async () => {
    const store = await open()
    const bodies = [
      { audit: { reads: true } },
      { metrics: { public: true } },
      { bogus: 1 },
      { api: { port: 9 } },
      { logging: { level: 'DEBUG' } },
      { audit: { reads: null } },
    ]
    const results = await Promise.all(bodies.map((body) => store.change(body, secure)))
    expect(results.map(({ status }) => status)).toStrictEqual([
      'accepted',
      'accepted',
      'refused',
      'accepted',
      'accepted',
      'accepted',
    ])
    expect(parse(await readFile(path, 'utf8'))).toStrictEqual({
      metrics: { public: true },
      api: { port: 9 },
      logging: { level: 'DEBUG' },
    })
  })

  it('goes on after a change that could not be saved', async () => {
    const store = await open()
    await writeFile(join(home, 'config'), 'a file where the folder should be')
    await expect(store.change({ audit: { reads: true } }, secure)).rejects.toThrow('could not be written')
    expect(store.current().audit.reads).toBe(false)
    await rm(join(home, 'config'))
    expect(await store.change({ audit: { reads: true } }, secure)).toMatchObject({ status: 'accepted' })
  })

  it('never shows a torn file while several processes write', async () => {
    const module = moduleOf('src/adapters/platform/config-file/configuration-store')
    const writer = `
      const { openConfigurationStore } = await import(${JSON.stringify(module)})
      const { store } = await openConfigurationStore({ home: process.argv[1], env: {} })
      for (let port = 1; port <= 8; port++) {
        const symbols = Array.from({ length: port * 10 }, (_, index) => 'SYMBOL' + index)
        await store.change({ api: { port }, execution: { dcg_symbols: symbols } }, { insecureOk: true })
      }`
    const run = promisify(execFile)
    const start = () => run(process.execPath, ['--input-type=module', '-e', writer, home])
    const state = { running: true }
    const writers = Promise.allSettled([start(), start()]).finally(() => {
      state.running = false
    })
    while (state.running) {
      const loaded = await loadConfiguration({ home, env: {} })
      if (loaded.status === 'invalid') throw new Error(loaded.problems.join('\n'))
      const { api, execution } = loaded.configuration
      const isComplete = api.port === 5050 || execution.dcg_symbols.length === api.port * 10
      expect(isComplete).toBe(true)
    }
    expect((await writers).map(({ status }) => status)).toStrictEqual(['fulfilled', 'fulfilled'])
    expect(await readdir(join(home, 'config'))).toStrictEqual(['user.yaml'])
    expect((await loadConfiguration({ home, env: {} })).status).toBe('loaded')
  })

  it.skipIf(process.getuid?.() === 0)('says when it may not write', async () => {
    await writeUser('audit: { reads: true }\n')
    await chmod(join(home, 'config'), 0o500)
    const store = await open()
    await expect(store.change({ audit: { reads: false } }, secure)).rejects.toThrow('EACCES')
    await chmod(join(home, 'config'), 0o700)
  })
})
