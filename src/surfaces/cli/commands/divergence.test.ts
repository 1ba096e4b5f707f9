import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

it('compares nothing on a log that does not verify, and ends with 1', async () => {
  await home.run(['kill-switch', 'set', '1', '--reason', 'first'])
  // An intact log without bars gets as far as the replay.
  expect(JSON.parse((await home.run(['divergence', '--json'])).stderr)).toMatchObject({
    code: 'backtest.no_bars',
  })
  const seq = (await home.records()).find(({ payload }) => payload.includes('first'))?.seq
  await home.replaceRecords(
    (await home.records()).map((record) => ({ ...record, payload: record.payload.replace('first', 'last') })),
  )
  const { exitCode, stdout, stderr } = await home.run(['divergence', '--json'])
  expect([exitCode, stdout]).toEqual([1, ''])
  const failure = JSON.parse(stderr) as { readonly code: string; readonly detail: string }
  expect(failure.code).toBe('integrity.broken')
  expect(failure.detail).toContain(`event ${seq}`)
})
