import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestHome, type TestHome } from './test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const COMMANDS: readonly (readonly string[])[] = [
  ['kill-switch'],
  ['brain', 'status'],
  ['portfolio'],
  ['positions', '--status', 'all'],
  ['orders'],
  ['intents'],
  ['learn', 'history'],
  ['karma'],
  ['contributors', 'leaderboard'],
  ['contributors', 'score', '--node-id', 'ann'],
]

const listOf = (document: Record<string, unknown>): unknown => {
  const { as_of_point: _point, ...rest } = document
  const values = Object.values(rest)
  return values.length === 1 && Array.isArray(values[0]) ? values[0] : rest
}

describe('--as-of', () => {
  it('answers as it was', async () => {
    const json = async (words: readonly string[]) => JSON.parse((await home.run([...words, '--json'])).stdout)
    await home.run(['contributors', 'register', '--node-id', 'ann', '--name', 'Ann', '--role', 'curator'])
    await home.run(['kill-switch', 'set', '1'])
    await home.run(['learn'])
    const { seq, recordedAt } = (await home.records()).at(-1) ?? { seq: 0, recordedAt: '' }
    const before = await Promise.all(COMMANDS.map(json))
    await home.run(['kill-switch', 'set', '2'])
    await home.run(['learn'])
    await home.run(['contributors', 'register', '--node-id', 'bob', '--name', 'Bob', '--role', 'curator'])
    const count = (await home.records()).length
    for (const [index, words] of COMMANDS.entries()) {
      const past = await json([...words, '--as-of', String(seq)])
      expect(past.as_of_point).toEqual({ seq, time: recordedAt, configuration: 'current' })
      expect(listOf(past)).toEqual(before[index])
    }
    expect((await json(['kill-switch'])).level).toBe(2)
    const { stdout } = await home.run(['kill-switch', '--as-of', String(seq)])
    expect(stdout).toContain(`event ${seq}, ${recordedAt}`)
    expect(await home.records()).toHaveLength(count)
  })

  it('refuses what is no place in the log', async () => {
    const nowhere = await home.run(['portfolio', '--as-of', '3'])
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining('no event store')])
    await home.run(['kill-switch', 'set', '1'])
    const beyond = await home.run(['portfolio', '--as-of', '999'])
    expect([beyond.exitCode, beyond.stderr]).toEqual([
      1,
      expect.stringContaining('the last event has number'),
    ])
    const early = await home.run(['positions', '--as-of', '2020-01-01'])
    expect([early.exitCode, early.stderr]).toEqual([
      1,
      expect.stringContaining('the first event was recorded'),
    ])
    const rubbish = await home.run(['positions', '--as-of', 'yesterday'])
    expect([rubbish.exitCode, rubbish.stderr]).toEqual([2, expect.stringContaining('number of an event')])
  })
})
