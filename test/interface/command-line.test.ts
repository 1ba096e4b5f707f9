import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cleanUp, dashboardUrlOf, newHome, startProcess, startService, svc, svcProcess } from './service.ts'

afterAll(cleanUp)

const modeOf = (path: string): number => statSync(path).mode & 0o777
const PASSWORD = { SVC_MASTER_PASSWORD: 'correct horse' }

describe('svc up', () => {
  it('makes a home, serves, tells where the token is but not what it is, and keeps everything', async () => {
    const home = await newHome()
    const service = await startProcess(home, {}, { words: ['up'] })
    const settings = readFileSync(join(home, 'config', 'user.yaml'), 'utf8')
    const token = /auth_token: ([A-Za-z0-9_-]{43})\n/.exec(settings)?.[1] ?? ''
    expect(token).toHaveLength(43)
    expect(modeOf(join(home, 'config', 'user.yaml'))).toBe(0o600)
    expect(service.output()).toContain(join(home, 'config', 'user.yaml'))
    expect(service.output()).not.toContain(token)
    const headers = { authorization: `Bearer ${token}` }
    expect((await service.call('GET', '/kill-switch', { headers })).status).toBe(200)
    expect((await fetch(`${await dashboardUrlOf(service)}/healthz`)).status).toBe(200)
    expect(await service.stop('SIGINT')).toBe(0)

    const again = await startService(home, {}, { words: ['up'] })
    expect(readFileSync(join(home, 'config', 'user.yaml'), 'utf8')).toBe(settings)
    expect((await again.call('GET', '/kill-switch', { headers })).status).toBe(200)
    await again.stop()
  })
})

describe('svc backtest', () => {
  it('needs no home, leaves none behind, and answers alike twice', async () => {
    const home = await newHome()
    const before = readdirSync(home)
    const words = ['backtest', '--strategy', 'ma_crossover', '--symbol', 'ETH', '--seed', '2', '--json']
    const first = await svc(home, words)
    expect(first).toMatchObject({ exitCode: 0, stderr: '' })
    const document = JSON.parse(first.stdout) as Readonly<Record<string, unknown>>
    for (const name of ['bars', 'trades', 'total_return', 'sharpe', 'max_drawdown', 'p_value']) {
      expect(document[name]).toEqual(expect.any(Number))
    }
    expect(document).toMatchObject({ strategy: 'ma_crossover', bars: 2880 })
    expect((await svc(home, words)).stdout).toBe(first.stdout)
    expect(readdirSync(home)).toEqual(before)
  })
})

describe('svc strategies test', () => {
  // Node's test runner reports through the exit code of the process.
  it('fails when a test of a strategy does', async () => {
    const home = await newHome()
    expect(await svc(home, ['new', 'strategy', 'cross'])).toMatchObject({ exitCode: 0 })
    expect(svcProcess(home, ['strategies', 'test', 'cross'])).toMatchObject({ exitCode: 0 })
    const path = join(home, 'strategies', 'cross.test.ts')
    writeFileSync(path, readFileSync(path, 'utf8').replace("'long')", "'short')"))
    expect(svcProcess(home, ['strategies', 'test', 'cross'])).toMatchObject({ exitCode: 1 })
  })
})

describe('the identity', () => {
  interface IdentityFile {
    readonly node_id: string
    readonly public_key: string
    readonly private_key?: string
    readonly private_key_enc?: string
    readonly warning?: string
    readonly kdf?: { readonly name: string; readonly iterations: number }
  }
  const fileOf = (home: string): IdentityFile =>
    JSON.parse(readFileSync(join(home, 'identity', 'identity.json'), 'utf8')) as IdentityFile

  it('is encrypted with a master password', async () => {
    const home = await newHome()
    expect((await svc(home, ['identity', 'create'], PASSWORD)).exitCode).toBe(0)
    const file = fileOf(home)
    expect(file).toMatchObject({ kdf: { name: 'pbkdf2_hmac_sha256', iterations: 480_000 } })
    expect(file.private_key_enc).toMatch(/^gAAAA/)
    expect(file).not.toHaveProperty('private_key')
    expect(file.node_id).toBe(`svc-${file.public_key.slice(0, 16)}`)
    expect(modeOf(join(home, 'identity', 'identity.json'))).toBe(0o600)
    expect(modeOf(join(home, 'identity'))).toBe(0o700)
  })

  it('is plain text with a warning in development mode only', async () => {
    const home = await newHome()
    const refused = await svc(home, ['identity', 'create'])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('SECURITY ERROR')
    for (const name of ['SVC_MASTER_PASSWORD', 'SVC_DEV_MODE']) expect(refused.stderr).toContain(name)
    expect((await svc(home, ['identity', 'create'], { SVC_DEV_MODE: '1' })).exitCode).toBe(0)
    expect(fileOf(home)).toMatchObject({
      private_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      warning: expect.any(String),
    })
  })

  it('with a wrong password stops the start and says so', async () => {
    const home = await newHome()
    await svc(home, ['identity', 'create'], PASSWORD)
    const wrong = {
      SVC_MASTER_PASSWORD: 'battery staple',
      SVC_API__AUTH_TOKEN: 'x'.repeat(40),
      SVC_API__PORT: '0',
    }
    const ended = await svc(home, ['serve'], wrong)
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toContain('Invalid master password or damaged identity file')
  })
})

describe('the vault', () => {
  it('keeps secrets from standard input and shows names only', async () => {
    const home = await newHome()
    expect(
      (await svc(home, ['vault', 'set', 'venue.api_key'], PASSWORD, 'very-secret-value\n')).exitCode,
    ).toBe(0)
    const listed = await svc(home, ['vault', 'list', '--json'], PASSWORD)
    expect(listed.stdout).toContain('venue.api_key')
    expect(readFileSync(join(home, 'identity', 'vault.json'), 'utf8')).not.toContain('very-secret-value')
    expect((await svc(home, ['vault', 'list'], { SVC_MASTER_PASSWORD: 'wrong' })).stderr).toContain(
      'Invalid master password or damaged vault',
    )
    expect((await svc(home, ['vault', 'remove', 'venue.api_key'], PASSWORD)).exitCode).toBe(0)
    expect((await svc(home, ['vault', 'remove', 'venue.api_key'], PASSWORD)).exitCode).toBe(1)
  })
})

describe('svc', () => {
  it('prints one JSON document', async () => {
    const home = await newHome()
    await svc(home, ['init', '--dev'])
    await (await startService(home)).stop()
    for (const words of [['kill-switch'], ['integrity'], ['health'], ['replay'], ['config', 'show']]) {
      const { stdout } = await svc(home, [...words, '--json'])
      expect(() => JSON.parse(stdout) as unknown, words.join(' ')).not.toThrow()
    }
    expect(JSON.parse((await svc(home, ['health', '--json'])).stdout)).toMatchObject({
      ok: true,
      config: { present: true, ok: true, error: null },
      store: { kind: 'sqlite', present: true, chain_ok: true },
      identity: { present: true, encrypted: false },
      vault: { present: false },
      service: { reachable: false },
    })
  })

  it.each([
    [['kill-switch', 'set', '4'], 2],
    [['kill-switch', 'reset'], 2],
    [['kill-switch', 'reset', '--level', '2', '--reason', 'x'], 1],
    [['no-such-command'], 2],
    [['integrity', '--fast', 'many'], 2],
    [['config', 'set', 'no.such.key', '1'], 1],
    [['health'], 1],
    [['--version'], 0],
    [['--help'], 0],
    [[], 0],
  ] as const)('%j ends with %i', async (words, exitCode) => {
    expect((await svc(await newHome(), words)).exitCode).toBe(exitCode)
  })

  it('tells a program what is wrong as a problem object', async () => {
    const { stderr, exitCode } = await svc(await newHome(), ['kill-switch', 'set', '9', '--json'])
    expect(exitCode).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({
      status: 422,
      code: expect.any(String),
      detail: expect.any(String),
    })
  })

  it('finds a changed byte in an export', async () => {
    const home = await newHome()
    await (await startService(home)).stop()
    const file = join(home, 'log.jsonl')
    await svc(home, ['export', 'events', '--output', file])
    expect((await svc(home, ['integrity', '--file', file])).exitCode).toBe(0)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"ephemeral":true', '"ephemeral":false'))
    const { exitCode, stdout } = await svc(home, ['integrity', '--file', file, '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, reason: 'hash', first_bad_seq: 1 })
    expect((await svc(home, ['export', 'events', '--output', file])).exitCode).toBe(1)
  })

  it('serves from memory and leaves nothing behind', async () => {
    const home = await newHome()
    const service = await startService(home, {}, { words: ['serve', '--in-memory'] })
    expect((await service.call('POST', '/kill-switch', { body: { level: 1, reason: 'x' } })).status).toBe(200)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect(await service.stop()).toBe(0)
    expect(() => statSync(join(home, 'data'))).toThrow('ENOENT')
  })
})
