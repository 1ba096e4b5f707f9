import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { playAuthorCalls } from '../../../../test/author-calls.fixture.ts'
import { sha256Hex } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { chain } from '../../../core/log/hash-chain.ts'
import { TradingScenario } from '../../../core/trading/trading.fixture.ts'
import { contributionView } from '../../../core/views/contribution.ts'
import { contributorView } from '../../../core/views/contributors.ts'
import { scoreView } from '../../../core/views/reputation.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
})
afterEach(() => home.close())

const run = (...words: readonly string[]) => home.run(['contributors', ...words])
const jsonOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await run(...words, '--json')
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const ANN = ['--node-id', 'ann', '--name', 'Ann', '--role', 'curator']

describe('nobody', () => {
  it('is an empty list, and nothing is created', async () => {
    expect(await jsonOf('list')).toEqual([])
    expect(await jsonOf('leaderboard')).toEqual([])
    expect((await run('list')).stdout).toBe('No contributor is registered yet.\n')
    expect((await run('leaderboard')).stdout).toBe('No contributor is registered yet.\n')
    expect(home.log()).toBeNull()
  })

  it.each([
    ['remove', 'x'],
    ['remove', '--node-id', 'x'],
    ['score', 'x'],
    ['score', '--node-id', 'x'],
    ['explain', 'x'],
    ['explain', '--node-id', 'x'],
  ])('is whom %s %s %s finds', async (...words) => {
    const { exitCode, stderr } = await run(...words, '--json')
    expect(exitCode).toBe(1)
    const member = words.length === 2 ? 'id' : 'node_id'
    expect(JSON.parse(stderr)).toMatchObject({ status: 404, code: 'contributor.not_found', [member]: 'x' })
    expect(home.log()).toBeNull()
  })
})

describe('a contributor', () => {
  it('is registered, listed beside this node, scored and removed', async () => {
    const ann = contributorView
      .strict()
      .parse(await jsonOf('register', ...ANN, '--metadata', '{"eas":{"uid":"0x1"}}'))
    expect(ann).toMatchObject({
      node_id: 'ann',
      name: 'Ann',
      role: 'curator',
      registered_at: '2026-02-20T00:30:00.000Z',
      metadata: { eas: { uid: '0x1' } },
    })
    const records = await home.records()
    expect(records.slice(-2).map(({ type, source }) => [type, source])).toEqual([
      ['contributor.registered.v1', 'cli'],
      ['system.audit.v1', 'cli'],
    ])
    const listed = (await jsonOf('list')) as { name: string }[]
    expect(listed.map(({ name }) => name)).toEqual(['local-operator', 'Ann'])
    expect((await run('list')).stdout).toMatch(/^Node +Name +Role +Registered +Contributor\n/)

    const rated = scoreView.strict().parse(await jsonOf('score', ann.id))
    expect(rated).toMatchObject({ contributor_id: ann.id, score: 0, signals_submitted: 0, last_active: '' })
    expect(await jsonOf('score', '--node-id', 'ann')).toEqual(rated)
    expect((await run('score', ann.id)).stdout).toMatch(/^Score +0\.0\n/)

    expect(await jsonOf('remove', '--node-id', 'ann')).toEqual({ removed: ann.id })
    expect((await home.records()).at(-2)).toMatchObject({ type: 'contributor.removed.v1', source: 'cli' })
    expect((await run('remove', ann.id)).exitCode).toBe(1)
    expect((await run('score', ann.id)).exitCode).toBe(1)
    expect((await run('register', ...ANN)).exitCode).toBe(0)
  })

  it('is not registered twice, and the second time leaves no trace', async () => {
    await run('register', ...ANN)
    const before = await home.records()
    const { exitCode, stderr } = await run('register', ...ANN, '--json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({
      status: 409,
      code: 'contributor.duplicate',
      node_id: 'ann',
    })
    expect(await home.records()).toEqual(before)
  })

  it('is on the leaderboard, the best first', async () => {
    await run('register', ...ANN)
    await home.run(['signal', 'BTC up', '--conviction', '7'])
    const best = (await jsonOf('leaderboard')) as { name: string; score: number }[]
    expect(best.map(({ name, score }) => [name, score])).toEqual([
      ['local-operator', 10],
      ['Ann', 0],
    ])
    expect(await jsonOf('leaderboard', '--limit', '1')).toHaveLength(1)
    expect((await run('leaderboard')).stdout).toMatch(/^#.*\n1 .*local-operator +10\.0/)
  })

  it('cannot act through its name', async () => {
    await run('register', '--node-id', 'x', '--name', '\u001b[2Jx', '--role', 'r')
    expect((await home.run(['contributors', 'list'], { terminal: true })).stdout).not.toContain('\u001b[2J')
  })
})

describe('what makes no sense', () => {
  it.each([
    [['register'], '--node-id'],
    [['register', '--node-id', 'a', '--name', 'A'], '--role'],
    [['register', ...ANN, '--node-id', 'a|b'], 'node_id must not contain'],
    [['register', ...ANN, '--node-id', 'x'.repeat(129)], 'node_id must have at most 128'],
    [['register', ...ANN, '--name', ''], 'name must'],
    [['register', ...ANN, '--role', 'x'.repeat(65)], 'role must have at most 64'],
    [['register', ...ANN, '--metadata', '{'], 'It is not JSON'],
    [['register', ...ANN, '--metadata', '[]'], 'metadata must be an object'],
    [
      ['register', ...ANN, '--metadata', JSON.stringify({ a: 'x'.repeat(17_000) })],
      'metadata must not be larger',
    ],
    [['remove'], 'by its id or by --node-id'],
    [['remove', 'x', '--node-id', 'y'], 'by its id or by --node-id'],
    [['score'], 'by its id or by --node-id'],
    [['leaderboard', '--limit', '0'], 'from 1 to 200'],
    [['leaderboard', '--limit', '201'], 'from 1 to 200'],
    [['leaderboard', '--limit', '1.5'], 'from 1 to 200'],
  ])('%# ends with 2', async (words, why) => {
    const { exitCode, stdout, stderr } = await run(...words)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(why)
    expect(home.log()).toBeNull()
  })
})

describe('an explanation', () => {
  it('says of a newcomer that nothing is known yet', async () => {
    const { id } = await jsonOf('register', ...ANN)
    const view = contributionView.strict().parse(await jsonOf('explain', id.slice(0, 30)))
    expect(view).toMatchObject({ id, name: 'Ann', calls: 0, trust: 1 })
    expect(await jsonOf('explain', '--node-id', 'ann')).toEqual(view)
    const { stdout } = await run('explain', '--node-id', 'ann')
    expect(stdout).toContain('No call of it has been decided by the market yet.')
    expect(stdout).toMatch(/^Moves with +nobody$/m)
  })

  it('fits on one screen', async () => {
    const scenario = new TradingScenario()
    const now = () => Date.parse(scenario.now)
    await playAuthorCalls(
      { execute: (command) => scenario.do(command), now, wait: (ms) => scenario.wait(ms) },
      20,
    )
    await home.adoptRecords(
      chain(scenario.log, EMPTY_HEAD, sha256Hex).map((record) => ({ ...record, ...UNSIGNED })),
    )
    home.clock.advance(now() - home.clock.now())
    const { exitCode, stdout } = await run('explain', '--node-id', 'bob')
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').length).toBeLessThanOrEqual(24)
    expect(stdout).toMatch(/^Edge +\+0\.\d{3} \([+-]\d\.\d{3} to \+\d\.\d{3}\)/m)
    expect(stdout).toMatch(/^Moves with +ann \d+\.\d\d % \(who speaks before, same group\)$/m)
    expect(stdout).toMatch(/BTC +bearish +24h +-?\d+\.\d\d % +(hit|miss) +[+-]\d\.\d\d/)
  })
})

const UNSIGNED = { signature: null, signer: null, batchSignature: null, commands: null }
