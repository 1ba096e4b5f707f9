import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const YEAR_MS = 365 * 86_400_000

it('finds nothing in an empty home, and nothing in a sound log', async () => {
  expect(await home.run(['doctor'])).toMatchObject({ exitCode: 0 })
  await home.run(['kill-switch', 'set', '1'])
  const { exitCode, stdout } = await home.run(['doctor', '--json'])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    checks: [
      { check: 'log', ok: true, steps: [] },
      { check: 'clock', ok: true, steps: [] },
    ],
  })
})

it('names the first event from the future, and what to do', async () => {
  await home.run(['kill-switch', 'set', '1'])
  const before = (await home.records()).length
  home.clock.advance(YEAR_MS)
  await home.run(['kill-switch', 'set', '2'])
  home.clock.advance(-YEAR_MS)
  const { exitCode, stdout } = await home.run(['doctor'])
  expect(exitCode).toBe(1)
  expect(stdout).toContain(`events ${before + 1} to ${(await home.records()).length}`)
  expect(stdout).toContain('svc kill-switch reset --level 0')
})

it('says what to do about a log that is not what it was', async () => {
  await home.run(['kill-switch', 'set', '1', '--reason', 'first'])
  await home.replaceRecords(
    (await home.records()).map((record) => ({ ...record, payload: record.payload.replace('first', 'last') })),
  )
  const { exitCode, stdout } = await home.run(['doctor', '--json'])
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, checks: [{ check: 'log', ok: false }, {}] })
  expect(stdout).toContain('svc integrity')
})
