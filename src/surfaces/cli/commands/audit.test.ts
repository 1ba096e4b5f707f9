import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

describe('audit', () => {
  it('needs a store', async () => {
    const { exitCode, stderr } = await home.run(['audit'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no event store')])
  })

  it('makes the decisions of a log again, and writes nothing', async () => {
    await home.run(['kill-switch', 'set', '2', '--reason', 'x'])
    await home.run(['kill-switch', 'reset', '--reason', 'y'])
    await home.run(['learn'])
    await home.run(['brain'])
    await home.run(['signal', 'BTC up', '--direction', 'bullish', '--conviction', '7'])
    const before = await home.records()
    const { exitCode, stdout } = await home.run(['audit', '--json'])
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ ok: true, different: 0, findings: [], not_rerun: {} })
    expect(report).toMatchObject({ decisions: before.length, batches_without_commands: 0 })
    expect(report.batches).toBeGreaterThan(4)
    expect(report.batches_per_second).toBeGreaterThan(0)
    expect(exitCode).toBe(0)
    expect((await home.run(['audit'])).stdout).toContain('every decision is the same')
    for (const option of ['--from', '--since']) {
      const part = JSON.parse((await home.run(['audit', option, '3', '--to', '5', '--json'])).stdout)
      expect(part).toMatchObject({ ok: true, last_seq: expect.any(Number) })
      expect(part.first_seq).toBeGreaterThan(1)
    }
    expect(await home.records()).toEqual(before)
  })

  it('refuses a range that is none', async () => {
    await home.run(['kill-switch', 'set', '1'])
    for (const range of [
      ['--from', '999'],
      ['--from', '5', '--to', '3'],
      ['--since', '1', '--from', '2'],
      ['--from', 'yesterday'],
    ])
      expect((await home.run(['audit', ...range])).exitCode).toBe(2)
  })
})

describe('divergence', () => {
  it('needs a log with bars', async () => {
    expect((await home.run(['divergence'])).stderr).toContain('no event store')
    await home.run(['kill-switch', 'set', '1'])
    const { exitCode, stderr } = await home.run(['divergence'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the log has no bars')])
    for (const range of [
      ['--from', '999'],
      ['--from', '2', '--to', '1'],
      ['--to', 'yesterday'],
    ])
      expect((await home.run(['divergence', ...range])).exitCode).toBe(2)
  })
})
