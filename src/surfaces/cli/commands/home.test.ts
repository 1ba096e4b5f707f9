import { EventEmitter, once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const userFile = () => join(home.folder, 'config', 'user.yaml')
const identityFile = () => join(home.folder, 'identity', 'identity.json')
const settings = async () => parse(await readFile(userFile(), 'utf8'))
const audits = async () =>
  (await home.records())
    .filter(({ type }) => type === 'system.audit.v1')
    .map(({ payload }) => JSON.parse(payload).resource)

describe('init', () => {
  it('makes folders, a token and an identity, and tells which', async () => {
    const { exitCode, stdout } = await home.run(['init', '--dev', '--preset', 'conservative', '--json'])
    expect(exitCode).toBe(0)
    const { created, config_path, node_id } = JSON.parse(stdout)
    expect(created).toEqual(['config', 'data', 'identity', 'config/user.yaml', 'identity/identity.json'])
    expect(config_path).toBe(userFile())
    expect(node_id).toMatch(/^svc-[0-9a-f]{16}$/)
    expect((await stat(userFile())).mode & 0o777).toBe(0o600)
    const { preset, api } = await settings()
    expect(preset).toBe('conservative')
    expect(api.auth_token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(stdout).not.toContain(api.auth_token)
    expect(api.operator_token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(JSON.parse(stdout).operator_token).toBe(api.operator_token)
  })

  it('leaves tokens to the environment that names one', async () => {
    for (const name of ['SVC_API__AUTH_TOKEN', 'SVC_API__OPERATOR_TOKEN']) {
      const other = await openTestHome()
      const environment = { [name]: 'a-token-of-more-than-thirty-two-characters' }
      expect((await other.run(['init', '--dev'], { environment })).exitCode).toBe(0)
      const file = await readFile(join(other.folder, 'config', 'user.yaml'), 'utf8')
      expect(Object.keys(parse(file).api)).toEqual(['auth_token'])
      await other.close()
    }
  })

  it('keeps what is there', async () => {
    await home.run(['init', '--dev'])
    const before = [await readFile(userFile(), 'utf8'), await readFile(identityFile(), 'utf8')]
    const { exitCode, stdout } = await home.run(['init', '--dev', '--preset', 'degen'])
    expect(exitCode).toBe(0)
    expect([await readFile(userFile(), 'utf8'), await readFile(identityFile(), 'utf8')]).toEqual(before)
    expect(stdout).toContain('nothing: everything exists already')
    expect(stdout).toContain('svc config set preset degen')
  })

  it('says where the token is, not the token', async () => {
    const { stdout } = await home.run(['init', '--dev'])
    expect(stdout).toContain(`api.auth_token in ${userFile()}`)
    expect(stdout).not.toContain((await settings()).api.auth_token)
  })

  it('refuses to save a key in plain text unasked', async () => {
    const { exitCode, stderr } = await home.run(['init'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('SECURITY ERROR')
    expect(stderr).toContain('SVC_MASTER_PASSWORD')
    expect(existsSync(identityFile())).toBe(false)
  })

  it('writes nothing where it refuses, and shows the operator token when it succeeds', async () => {
    await home.run(['init'])
    expect(await readdir(home.folder)).toEqual([])
    const { exitCode, stdout } = await home.run(['init', '--dev'])
    expect(exitCode).toBe(0)
    const { api } = await settings()
    expect(stdout.split(api.operator_token)).toHaveLength(2)
    expect((await home.run(['init', '--dev'])).stdout).not.toContain(api.operator_token)
  })

  it.each(['init', 'up'])('%s writes nothing where the identity cannot be opened', async (command) => {
    await mkdir(join(home.folder, 'identity'))
    await writeFile(identityFile(), '{}', { mode: 0o600 })
    const { exitCode, stderr } = await home.run([command])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('damaged identity file')
    expect(await readdir(home.folder)).toEqual(['identity'])
  })

  it('refuses a preset nobody knows', async () => {
    const { exitCode, stderr } = await home.run(['init', '--preset', 'yolo'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('conservative, balanced, degen, custom')
    expect(existsSync(userFile())).toBe(false)
  })

  it('is recorded where there is a log', async () => {
    await home.run(['kill-switch', 'set', '1'])
    await home.run(['init', '--dev'])
    expect(await audits()).toEqual(['cli:kill-switch set', 'cli:init'])
  })
})

describe('up', () => {
  it('makes an empty folder a home and serves it', async () => {
    const { exitCode, stdout } = await home.run(['up'])
    expect(exitCode).toBe(0)
    const { api, market } = await settings()
    expect(market.feed).toBe('simulated')
    expect(api.auth_token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(JSON.parse(await readFile(identityFile(), 'utf8'))).toHaveProperty('warning')
    expect(stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:5050\/api\/v1$/m)
    expect(stdout).toMatch(/^Dashboard +http:\/\/127\.0\.0\.1:5051$/m)
    expect(stdout).toContain(`api.auth_token in ${userFile()}`)
    expect(stdout).not.toContain(api.auth_token)
    expect(stdout).toContain(api.operator_token)
  })

  it('keeps the token the second time', async () => {
    await home.run(['up'])
    const { api } = await settings()
    const { stdout } = await home.run(['up', '--json'])
    expect((await settings()).api).toEqual(api)
    expect(JSON.parse(stdout)).toEqual({
      listening: 'http://127.0.0.1:5050/api/v1',
      dashboard: 'http://127.0.0.1:5051',
      auth_source: `api.auth_token in ${userFile()}`,
      created: [],
    })
  })

  it('with --wait prints where it listens when trades can be decided', async () => {
    const service = new EventEmitter()
    const [asked, ready] = [once(service, 'asked'), once(service, 'ready')]
    let printed = ''
    const stdout = new Writable({
      write: (chunk, _encoding, done) => {
        printed += String(chunk)
        done()
      },
    })
    const startService = async () => ({
      baseUrl: 'http://127.0.0.1:5050/api/v1',
      dashboardUrl: null,
      ready: () => {
        service.emit('asked')
        return ready.then(() => undefined)
      },
      stopped: ready.then(() => undefined),
    })
    const running = home.run(['up', '--wait'], { stdout, dependencies: { startService } })
    await asked
    expect(printed).toBe('')
    service.emit('ready')
    expect((await running).exitCode).toBe(0)
    expect(printed).toContain('listening on http://127.0.0.1:5050/api/v1')
  })

  it('encrypts the identity when there is a password', async () => {
    await home.run(['up'], { environment: { SVC_MASTER_PASSWORD: 'correct horse' } })
    const identity = JSON.parse(await readFile(identityFile(), 'utf8'))
    expect(identity).toHaveProperty('private_key_enc')
    expect(identity).not.toHaveProperty('private_key')
  })
})

describe('serve', () => {
  it('refuses to listen without a token', async () => {
    const { exitCode, stdout, stderr } = await home.run(['serve'])
    expect(exitCode).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('SECURITY ERROR: API auth token is empty')
    for (const name of ['api.auth_token', 'SVC_API__AUTH_TOKEN', 'SVC_INSECURE_OK'])
      expect(stderr).toContain(name)
    expect(home.services).toEqual([])
  })

  it('serves without a token only when that is allowed', async () => {
    const { exitCode, stdout } = await home.run(['serve'], { environment: { SVC_INSECURE_OK: '1' } })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('every request passes')
  })

  it('says when the token comes from the environment', async () => {
    const token = 'a-token-of-more-than-thirty-two-characters'
    const { stdout } = await home.run(['serve'], { environment: { SVC_API__AUTH_TOKEN: token } })
    expect(stdout).toContain('environment variable SVC_API__AUTH_TOKEN')
    expect(stdout).not.toContain(token)
  })

  it('passes on what the command line says', async () => {
    const environment = { SVC_INSECURE_OK: '1' }
    await home.run(['serve'], { environment })
    await home.run(['serve', '--host', '0.0.0.0', '--port', '0', '--dashboard-port', '7001'], { environment })
    const { stdout } = await home.run(['serve', '--no-dashboard'], { environment })
    expect(home.services).toEqual([
      { dashboard: true, role: 'all' },
      { host: '0.0.0.0', port: 0, dashboardPort: 7001, dashboard: true, role: 'all' },
      { dashboard: false, role: 'all' },
    ])
    expect(stdout).toMatch(/^Dashboard +off$/m)
  })

  it('names every key at fault', async () => {
    await mkdir(join(home.folder, 'config'))
    await writeFile(userFile(), 'execution:\n  mode: yolo\nbogus: 1\n')
    const { exitCode, stderr } = await home.run(['serve'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('execution.mode')
    expect(stderr).toContain('bogus')
    expect(home.services).toEqual([])
  })
})
