import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testClock } from '../../../test/signer.fixture.ts'
import { runCommandLine } from './run.ts'
import { openTestHome, VERSION, type TestHome } from './test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

describe('a newcomer', () => {
  it('sees what to do first and everything there is', async () => {
    const { exitCode, stdout, stderr } = await home.run([])
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/First steps:\n  svc up .*\n  svc health .*\n  svc kill-switch set 3 /)
    for (const word of [
      'brain',
      'config',
      'contributors',
      'export',
      'identity',
      'init',
      'integrity',
      'intents',
      'orders',
      'portfolio',
      'positions',
      'producers',
      'replay',
      'serve',
      'signal',
      'vault',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${word} +\\S`, 'm'))
    }
    expect(stdout.indexOf('\n  up ')).toBeLessThan(stdout.indexOf('\n  vault '))
  })

  it('sees the same as a document with --json', async () => {
    const { exitCode, stdout } = await home.run(['--json'])
    expect(exitCode).toBe(0)
    const { version, commands } = JSON.parse(stdout)
    expect(version).toBe(VERSION)
    expect(commands).toContainEqual({ name: 'up', group: 'Run', summary: expect.any(String) })
  })
})

describe('help and version', () => {
  it('opens nothing', async () => {
    const opening = () => {
      throw new Error('something was opened')
    }
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done() })
    const environment = {
      stdin: process.stdin,
      stdout,
      stderr: stdout,
      environment: {},
      currentFolder: '/',
      version: VERSION,
      clock: testClock(),
      dependenciesAt: opening,
    }
    for (const words of [['--help'], ['help', 'serve'], ['kill-switch', '--help'], ['--version'], []]) {
      expect(await runCommandLine(words, environment)).toBe(0)
    }
  })

  it('explains every command with an example and the options that all have', async () => {
    for (const word of [
      'brain',
      'config',
      'contributors',
      'health',
      'identity',
      'init',
      'integrity',
      'intents',
      'kill-switch',
      'orders',
      'portfolio',
      'positions',
      'producers',
      'replay',
      'serve',
      'signal',
      'up',
      'vault',
    ]) {
      const { exitCode, stdout } = await home.run([word, '--help'])
      expect(exitCode).toBe(0)
      expect(stdout).toContain(`Usage: svc ${word}`)
      expect(stdout).toContain('Examples:\n  $ svc ')
      expect(stdout).toContain('--json')
      expect(stdout).toContain('--home')
    }
    for (const what of ['events', 'karma']) {
      expect((await home.run(['export', what, '--help'])).stdout).toContain('Examples:')
    }
  })

  it('is one JSON document with --json', async () => {
    expect(JSON.parse((await home.run(['--version', '--json'])).stdout)).toEqual({ version: VERSION })
    expect(JSON.parse((await home.run(['serve', '--help', '--json'])).stdout).help).toContain(
      'Usage: svc serve',
    )
    expect((await home.run(['-V'])).stdout).toBe(`${VERSION}\n`)
  })
})

describe('a command line that makes no sense', () => {
  it.each([
    [['helth'], "unknown command 'helth' (Did you mean health?)"],
    [['health', '--jsn'], "unknown option '--jsn' (Did you mean --json?)"],
    [['kill-switch', 'rest'], "unknown command 'rest' (Did you mean reset?)"],
    [['kill-switch', 'frobnicate'], "unknown command 'frobnicate'"],
    [['brain', 'statsu'], "unknown command 'statsu' (Did you mean status?)"],
    [['contributors'], 'a command is missing after "svc contributors"'],
    [['producers', 'regster'], "unknown command 'regster' (Did you mean register?)"],
    [['positions', '--status', 'lost'], 'open, closed, all'],
    [['positions', 'clos'], "unknown command 'clos' (Did you mean close?)"],
    [['intents', 'aprove'], "unknown command 'aprove' (Did you mean approve?)"],
    [['orders', '--limit', '0'], 'must be a number from 1 to 500'],
    [['config', 'sett'], "unknown command 'sett' (Did you mean set?)"],
    [['config'], 'a command is missing after "svc config"'],
    [['vault', 'set'], "missing required argument 'name'"],
    [['serve', '--port', '70000'], 'must be a number from 0 to 65535'],
    [['serve', '--port'], "option '--port <number>' argument missing"],
    [['health', 'extra'], 'too many arguments'],
    [['integrity', '--full', '--fast'], 'cannot be used with option'],
    [['--home'], "option '--home <folder>' argument missing"],
  ])('%j ends with 2 and says why', async (words, why) => {
    const { exitCode, stdout, stderr } = await home.run(words)
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^error: /)
    expect(stderr).toContain(why)
    expect(stderr).toMatch(/\nSee: svc .*--help\n$/)
  })

  it('is a problem object with --json', async () => {
    const { exitCode, stdout, stderr } = await home.run(['kill-switch', 'set', '4', '--json'])
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(JSON.parse(stderr)).toEqual({
      status: 422,
      title: 'Unprocessable Content',
      code: 'request.invalid',
      detail: expect.stringContaining('0, 1, 2 or 3'),
      advice: 'See: svc kill-switch set --help',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })
})

it('takes --json and --home before or after the command', async () => {
  const before = await home.run(['--json', 'kill-switch'])
  const after = await home.run(['kill-switch', '--json'])
  expect(JSON.parse(before.stdout)).toEqual(JSON.parse(after.stdout))
  const elsewhere = await home.run(['init', '--dev', '--home', 'elsewhere', '--json'])
  expect(JSON.parse(elsewhere.stdout).config_path).toBe(`${home.folder}/elsewhere/config/user.yaml`)
})

it('ends quietly when nobody reads any more', async () => {
  const broken = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  })
  const complaints: string[] = []
  const stderr = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      complaints.push(chunk.toString())
      done()
    },
  })
  const exitCode = await runCommandLine(['--help'], {
    stdin: process.stdin,
    stdout: broken,
    stderr,
    environment: {},
    currentFolder: home.folder,
    version: VERSION,
    clock: testClock(),
    dependenciesAt: () => {
      throw new Error('not needed')
    },
  })
  expect(exitCode).toBe(0)
  expect(complaints).toEqual([])
})

it('tells of a bug by its message and ends with 1', async () => {
  const complaints: string[] = []
  const stderr = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      complaints.push(chunk.toString())
      done()
    },
  })
  const exitCode = await runCommandLine(['health'], {
    stdin: process.stdin,
    stdout: stderr,
    stderr,
    environment: {},
    currentFolder: home.folder,
    version: VERSION,
    clock: testClock(),
    dependenciesAt: () => {
      throw new Error('the roof fell in, password=hunter2')
    },
  })
  expect(exitCode).toBe(1)
  expect(complaints.join('')).toMatch(/^error: the roof fell in/)
  expect(complaints.join('')).not.toContain('hunter2')
})

it.each([['venues'], ['health'], ['data', 'list'], ['backtest']])(
  'refuses a misspelt variable before "svc %s" does anything',
  async (...words) => {
    const environment = { SVC_BRAIN__MIN_DOMAIN: '1' }
    const { exitCode, stderr } = await home.run(words, { environment })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /SVC_BRAIN__MIN_DOMAIN is not a known setting; did you mean SVC_BRAIN__MIN_DOMAINS\?/,
    )
  },
)
