import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

it.each([
  [[], 'No position is open.\n'],
  [['--status', 'open'], 'No position is open.\n'],
  [['--status', 'closed'], 'No position is closed.\n'],
  [['--status', 'all'], 'There was no position yet.\n'],
])('shows none where there is none: %j', async (words, text) => {
  expect(await home.run(['positions', ...words])).toEqual({ exitCode: 0, stdout: text, stderr: '' })
  expect((await home.run(['positions', ...words, '--json'])).stdout).toBe('[]\n')
  expect(home.log()).toBeNull()
})

it('writes nothing', async () => {
  await home.run(['kill-switch', 'set', '1'])
  const before = await home.records()
  expect((await home.run(['positions', '--json'])).stdout).toBe('[]\n')
  expect(await home.records()).toEqual(before)
})

it('refuses a status nobody knows', async () => {
  const { exitCode, stderr } = await home.run(['positions', '--status', 'lost'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('open, closed, all')
})
