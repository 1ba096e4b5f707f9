import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../../test/signer.fixture.ts'
import { startTestServer, TOKEN } from '../../http/test-server.fixture.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

const PASSWORD = { SVC_MASTER_PASSWORD: 'correct horse' }

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const payloadsOf = async (type: string) =>
  (await home.records()).filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

describe('config', () => {
  beforeEach(() => home.run(['init', '--dev']))

  const userFile = () => join(home.folder, 'config', 'user.yaml')

  it('shows every key, secrets hidden', async () => {
    const { exitCode, stdout } = await home.run(['config', 'show', '--json'])
    expect(exitCode).toBe(0)
    const shown = JSON.parse(stdout)
    expect(shown.api.auth_token).toBe('***REDACTED***')
    expect(shown.api.operator_token).toBe('***REDACTED***')
    expect(shown.brain.cycle_interval_seconds).toBe(1800)
    const forPeople = (await home.run(['config', 'show'])).stdout
    expect(forPeople).toMatch(/^api\.auth_token +\*\*\*REDACTED\*\*\*$/m)
    expect(forPeople).toMatch(/^universe\.symbols +\["BTC",/m)
    expect(forPeople).toMatch(/^execution\.venue_url +\(empty\)$/m)
  })

  it('shows the value in force beside one that waits for a restart', async () => {
    const server = await startTestServer()
    try {
      const { nodeId: node_id, publicKey: public_key } = testSigner()
      const identity = { node_id, public_key, alg: 'ed25519', created_at: '2026-02-20T00:00:00Z' }
      const secret = { private_key: '0'.repeat(64), warning: 'not the key of anything' }
      const file = join(home.folder, 'identity', 'identity.json')
      await writeFile(file, JSON.stringify({ ...identity, ...secret }), { mode: 0o600 })
      await home.run(['config', 'set', 'api.port', '6001'])
      const show = async (...words: readonly string[]) =>
        home.run(['config', 'show', ...words], {
          environment: { SVC_API__AUTH_TOKEN: TOKEN },
          dependencies: {
            findService: () => Promise.resolve({ baseUrl: server.baseUrl, version: '1', uptimeSeconds: 1 }),
          },
        })
      const inForce = (await server.call('GET', '/config')).body['api'] as { readonly port: number }
      expect((await show()).stdout).toMatch(
        new RegExp(`^api\\.port +6001 \\(running: ${inForce.port}\\)$`, 'm'),
      )
      expect(JSON.parse((await show('--json')).stdout).api.port).toBe(6001)
      expect(JSON.parse((await show('--running', '--json')).stdout).api.port).toBe(inForce.port)
      expect((await home.run(['config', 'show', '--running'])).stderr).toContain(
        'no service of this home is running',
      )
    } finally {
      await server.close()
    }
  })

  it('sets one key, and the log tells', async () => {
    await home.run(['kill-switch', 'set', '1'])
    const { exitCode, stdout } = await home.run([
      'config',
      'set',
      'brain.cycle_interval_seconds',
      '60',
      '--json',
    ])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      path: userFile(),
      changed: ['brain.cycle_interval_seconds'],
      restart_required: [],
      overridden_by_env: [],
    })
    expect(await readFile(userFile(), 'utf8')).toMatch(/cycle_interval_seconds: 60/)
    expect(
      JSON.parse((await home.run(['config', 'show', '--json'])).stdout).brain.cycle_interval_seconds,
    ).toBe(60)
    expect(await payloadsOf('system.config_changed.v1')).toEqual([
      {
        changed: ['brain.cycle_interval_seconds'],
        config_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        configuration: { brain: { cycle_interval_seconds: 60 } },
        changed_by: 'cli',
      },
    ])
    expect((await payloadsOf('system.audit.v1')).at(-1)).toMatchObject({ resource: 'cli:config set' })
  })

  it('records nothing when nothing changes', async () => {
    await home.run(['kill-switch', 'set', '1'])
    const before = await home.records()
    const { stdout } = await home.run(['config', 'set', 'execution.mode', 'paper'])
    expect(stdout).toContain('in force already')
    expect(await home.records()).toEqual(before)
  })

  it('takes lists, and a secret from standard input', async () => {
    await home.run(['config', 'set', 'execution.dcg_symbols', 'DOGE, PEPE'])
    const token = 'another-token-of-more-than-thirty-two-chars'
    const { exitCode, stdout } = await home.run(['config', 'set', 'api.auth_token', '-'], {
      stdin: `${token}\n`,
    })
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain(token)
    const text = await readFile(userFile(), 'utf8')
    expect(text).toContain(token)
    expect(JSON.parse((await home.run(['config', 'show', '--json'])).stdout).execution.dcg_symbols).toEqual([
      'DOGE',
      'PEPE',
    ])
  })

  it('says what needs a restart and what the environment decides', async () => {
    const environment = { SVC_API__PORT: '7000' }
    const { stdout } = await home.run(['config', 'set', 'api.port', '6000', '--json'], { environment })
    expect(JSON.parse(stdout)).toMatchObject({ changed: [], overridden_by_env: ['api.port'] })
    const restart = await home.run(['config', 'set', 'api.port', '6001'])
    expect(restart.stdout).toMatch(/^Restart +needed for api\.port$/m)
  })

  it.each([
    ['execution.mode', 'yolo'],
    ['brain.cycle_interval_seconds', '0'],
    ['api.auth_token', ''],
    ['weights.curator', '0.9'],
  ])('fails to set %s to %j and writes nothing', async (key, value) => {
    const before = await readFile(userFile(), 'utf8')
    const { exitCode, stderr } = await home.run(['config', 'set', key, value, '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ status: 400, code: 'config.invalid' })
    expect(await readFile(userFile(), 'utf8')).toBe(before)
  })

  it('helps with a misspelt key', async () => {
    const { exitCode, stderr } = await home.run(['config', 'set', 'execution.mod', 'live'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('did you mean "mode"?')
  })

  it('validates what is in force, or a file', async () => {
    expect((await home.run(['config', 'validate'])).exitCode).toBe(0)
    const file = join(home.folder, 'candidate.yaml')
    await writeFile(file, 'api:\n  auth_token: abcdefghijklmnopqrstuvwxyz0123456789\n')
    expect(JSON.parse((await home.run(['config', 'validate', file, '--json'])).stdout)).toEqual({
      ok: true,
      problems: [],
    })
    await writeFile(file, 'execution:\n  mode: yolo\n')
    const { exitCode, stdout } = await home.run(['config', 'validate', file, '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({ ok: false, problems: [expect.stringContaining('execution.mode')] })
  })

  it('prints the schema, names of secrets included', async () => {
    const { stdout } = await home.run(['config', 'schema'])
    const schema = JSON.parse(stdout)
    expect(schema.properties.api.properties.auth_token).toMatchObject({ type: 'string' })
  })
})

describe('identity', () => {
  it('fails to save a key in plain text unasked', async () => {
    const { exitCode, stderr } = await home.run(['identity', 'create', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ status: 403, code: 'security.refused' })
    expect(stderr).toContain('SECURITY ERROR')
  })

  it('is created once and shown without its secret', async () => {
    const created = JSON.parse((await home.run(['identity', 'create', '--dev', '--json'])).stdout)
    expect(created).toMatchObject({ created: true, encrypted: false })
    const again = JSON.parse((await home.run(['identity', 'create', '--dev', '--json'])).stdout)
    expect(again).toEqual({ ...created, created: false })
    const { exitCode, stdout } = await home.run(['identity', 'show', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      node_id: created.node_id,
      public_key: created.public_key,
      encrypted: false,
      verifier_key: expect.stringMatching(/^svc-[0-9a-f]{16}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/),
    })
    expect(created.node_id).toBe(`svc-${created.public_key.slice(0, 16)}`)
  })

  it('fails with another password than the one it was saved with', async () => {
    await home.run(['identity', 'create'], { environment: PASSWORD })
    const { exitCode, stderr } = await home.run(['identity', 'create'], {
      environment: { SVC_MASTER_PASSWORD: 'wrong' },
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Invalid master password or damaged identity file')
  })

  it('says what to do when there is none, and when it is damaged', async () => {
    const none = await home.run(['identity', 'show'])
    expect(none.exitCode).toBe(1)
    expect(none.stderr).toContain('svc identity create')
    await home.run(['identity', 'create', '--dev'])
    await writeFile(join(home.folder, 'identity', 'identity.json'), '{}', { mode: 0o600 })
    expect((await home.run(['identity', 'show'])).stderr).toContain('damaged identity file')
  })

  it('is recorded where there is a log', async () => {
    await home.run(['kill-switch', 'set', '1'])
    await home.run(['identity', 'create', '--dev'])
    expect((await payloadsOf('system.audit.v1')).at(-1)).toMatchObject({ resource: 'cli:identity create' })
  })
})

describe('vault', () => {
  const vault = (words: readonly string[], stdin?: string) =>
    home.run(['vault', ...words], { environment: PASSWORD, ...(stdin === undefined ? {} : { stdin }) })

  it('keeps a value from standard input and shows names only', async () => {
    const set = await vault(['set', 'venue.api_key'], 'sk-very-secret\n')
    expect(set).toEqual({ exitCode: 0, stdout: 'venue.api_key is stored\n', stderr: '' })
    expect(JSON.parse((await vault(['list', '--json'])).stdout)).toEqual({ names: ['venue.api_key'] })
    const file = join(home.folder, 'identity', 'vault.json')
    expect(await readFile(file, 'utf8')).not.toContain('sk-very-secret')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('removes, and fails for a name it does not have', async () => {
    await vault(['set', 'a'], 'one')
    expect((await vault(['remove', 'a'])).exitCode).toBe(0)
    const { exitCode, stderr } = await vault(['remove', 'a', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ status: 404, code: 'vault.not_found' })
    expect((await vault(['list'])).stdout).toBe('The vault is empty.\n')
  })

  it('takes no value from the command line, no empty one and no bad name', async () => {
    expect((await vault(['set', 'a', 'value'])).exitCode).toBe(2)
    expect((await vault(['set', 'a'], '')).exitCode).toBe(2)
    expect((await vault(['set', 'a'], '\n')).exitCode).toBe(2)
    expect((await vault(['set', 'a b'], 'x')).exitCode).toBe(2)
    expect((await vault(['set', 'a'], 'x'.repeat(64 * 1024 + 1))).exitCode).toBe(2)
    expect(existsSync(join(home.folder, 'identity', 'vault.json'))).toBe(false)
  })

  it('needs the password, and the right one', async () => {
    const locked = await home.run(['vault', 'list', '--json'])
    expect(locked.exitCode).toBe(1)
    expect(JSON.parse(locked.stderr)).toMatchObject({ code: 'security.refused' })
    await vault(['set', 'a'], 'one')
    const wrong = await home.run(['vault', 'list'], { environment: { SVC_MASTER_PASSWORD: 'wrong' } })
    expect(wrong.stderr).toBe('error: Invalid master password or damaged vault\n')
  })

  it('is recorded by its command only', async () => {
    await home.run(['kill-switch', 'set', '1'])
    await vault(['set', 'venue.api_key'], 'sk-very-secret')
    await vault(['remove', 'venue.api_key'])
    const resources = (await payloadsOf('system.audit.v1')).map(({ resource }) => resource)
    expect(resources).toEqual(['cli:kill-switch set', 'cli:vault set', 'cli:vault remove'])
    expect(JSON.stringify(await home.records())).not.toContain('sk-very-secret')
  })
})
