import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EnvironmentVariables } from '../../../core/config/environment.ts'
import { DEFAULT_CONFIGURATION } from '../../../core/config/validate.ts'
import { loadConfiguration } from './sources.ts'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-load-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const write = async (name: string, text: string, mode = 0o600) => {
  await mkdir(dirname(join(home, name)), { recursive: true })
  await writeFile(join(home, name), text, { mode })
}

const load = async (env: EnvironmentVariables = {}) => {
  const result = await loadConfiguration({ home, env })
  if (result.status === 'invalid') throw new Error(result.problems.join('\n'))
  return result
}

const problemsOf = async (env: EnvironmentVariables = {}) => {
  const result = await loadConfiguration({ home, env })
  return result.status === 'invalid' ? result.problems : []
}

describe('loadConfiguration', () => {
  it('is the defaults in an empty folder', async () => {
    expect(await load()).toStrictEqual({
      status: 'loaded',
      configuration: DEFAULT_CONFIGURATION,
      warnings: [],
      userPath: join(home, 'config', 'user.yaml'),
      sources: [],
    })
  })

  it('lets the environment win over user settings, preset and default file', async () => {
    await write(
      'config/default.yaml',
      'api: { port: 1, host: "::1" }\nrisk: { max_leverage: 9 }\npreset: mine\n',
    )
    await write('config/presets/mine.yaml', 'risk: { max_leverage: 3, max_drawdown_pct: 0.2 }\n')
    await write('config/presets/torn.yaml', 'a: [')
    await write('config/presets/README', 'not a preset')
    await write('config/user.yaml', `api:\n  port: 2\n  auth_token: ${'x'.repeat(43)}\n`)
    const { configuration, sources, warnings } = await load({ SVC_API__PORT: '3', HOME: '/root' })
    expect(configuration.api).toMatchObject({ port: 3, host: '::1', auth_token: 'x'.repeat(43) })
    expect(configuration.risk).toMatchObject({ max_leverage: 3, max_drawdown_pct: 0.2 })
    expect(sources).toStrictEqual([
      'config/default.yaml',
      'config/user.yaml',
      'environment variable SVC_API__PORT',
    ])
    expect(warnings).toStrictEqual([])
  })

  it('ignores keys of older versions, with a warning: an update must not keep a service from starting', async () => {
    await write(
      'config/user.yaml',
      'karma:\n  trust:\n    slope: 2\n  percentage: 0.1\nbrain:\n  link:\n    days: 3\n',
    )
    const { configuration, warnings } = await load()
    expect(configuration.karma).toStrictEqual({ ...DEFAULT_CONFIGURATION.karma, percentage: 0.1 })
    expect(warnings.filter((warning) => warning.includes('no longer'))).toStrictEqual([
      'config/user.yaml: brain.link is no longer used, and is ignored',
      'config/user.yaml: karma.trust is no longer used, and is ignored',
    ])
  })

  it('says of every fault where it is and which key, never the value', async () => {
    await write('config/default.yaml', 'bogus: 1\n')
    await write(
      'config/user.yaml',
      'api:\n  auth_token: two words hunter2\n  prot: 5\nexecution:\n  mode: yolo\n',
    )
    const problems = await problemsOf({ SVC_API__OPERATOR_TOKEN: 'hunter2 x', SVC_BRAIN__MIN_DOMAINS: 'few' })
    expect(problems.toSorted()).toStrictEqual([
      'config/default.yaml:1:8: bogus is not a known key',
      'config/user.yaml:2:15: api.auth_token must not contain blanks',
      'config/user.yaml:3:9: api.prot is not a known key; did you mean "port"?',
      'config/user.yaml:5:9: execution.mode must be one of paper, live',
      'environment variable SVC_API__OPERATOR_TOKEN: api.operator_token must not contain blanks',
      'environment variable SVC_BRAIN__MIN_DOMAINS: brain.min_domains must be a number',
    ])
    expect(problems.join()).not.toContain('hunter2')
  })

  it('says what is wrong when no source names the key', async () => {
    await write('config/user.yaml', 'execution:\n  paper_fee_bps: 100\n')
    expect(await problemsOf()).toStrictEqual([
      'settlement.band_min must be at least 0.021, one round trip of slippage and fee',
    ])
  })

  it('says all that is wrong with broken files', async () => {
    await write('config/default.yaml', 'a: 1\na: 2\n')
    await write('config/user.yaml', '- 1\n')
    expect(await problemsOf()).toStrictEqual([
      'config/default.yaml:2:1: Map keys must be unique',
      'config/user.yaml: must hold keys and values, not a single value or a list',
    ])
  })

  it('refuses a preset that cannot be read, only when it is chosen', async () => {
    await write('config/presets/torn.yaml', 'a: [')
    await load()
    const problems = await problemsOf({ SVC_PRESET: 'torn' })
    expect(problems[0]).toMatch(
      /^environment variable SVC_PRESET: preset must be readable: config\/presets\/torn.yaml:1:/,
    )
    expect(await problemsOf({ SVC_PRESET: '../user' })).toHaveLength(1)
  })

  it('reads no more presets than it may', async () => {
    for (let index = 0; index < 101; index++) {
      await write(`config/presets/p${String(index).padStart(3, '0')}.yaml`, 'api: { port: 9 }\n')
    }
    expect((await load({ SVC_PRESET: 'p099' })).configuration.api.port).toBe(9)
    expect(await problemsOf({ SVC_PRESET: 'p100' })).toHaveLength(1)
  })

  it('refuses unknown variables', async () => {
    expect(await problemsOf({ SVC_BRAIN__MIN_DOMAIN: '1' })).toStrictEqual([
      'environment variable SVC_BRAIN__MIN_DOMAIN is not a known setting; did you mean SVC_BRAIN__MIN_DOMAINS?',
    ])
  })

  it('warns of short tokens and files that others can read', async () => {
    await write('config/user.yaml', 'api: { auth_token: short }\n', 0o644)
    expect((await load({})).warnings).toStrictEqual([
      'config/user.yaml may hold secrets but others can read it (mode 644): run chmod 600',
      'api.auth_token is shorter than 32 characters',
    ])
  })
})

describe('loadConfiguration with another user file', () => {
  const check = (file: string) =>
    loadConfiguration({ home, env: { SVC_AUDIT__READS: '1' }, userFile: join(home, file) })

  it('says what would hold with another file, not with the one in use', async () => {
    await write('config/default.yaml', 'api: { host: "::1" }\n')
    await write('config/user.yaml', 'api: { port: 1 }\n')
    await write('other.yaml', 'metrics: { public: true }\n')
    const checked = await check('other.yaml')
    if (checked.status !== 'loaded') throw new Error(checked.problems.join())
    const { api, audit, metrics } = checked.configuration
    expect([api.host, api.port, audit.reads, metrics.public]).toStrictEqual(['::1', 5050, true, true])
  })

  it('names what is wrong with it, and where', async () => {
    await write('other.yaml', 'api: { prot: 1 }\n')
    const path = join(home, 'other.yaml')
    expect(await check('other.yaml')).toStrictEqual({
      status: 'invalid',
      problems: [`${path}:1:14: api.prot is not a known key; did you mean "port"?`],
    })
    await write('other.yaml', '- 1\n')
    expect(await check('other.yaml')).toStrictEqual({
      status: 'invalid',
      problems: [`${path}: must hold keys and values, not a single value or a list`],
    })
    expect(await check('no.yaml')).toStrictEqual({
      status: 'invalid',
      problems: [`${join(home, 'no.yaml')}: does not exist`],
    })
  })
})
