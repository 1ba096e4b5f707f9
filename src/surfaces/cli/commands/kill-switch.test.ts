import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const typesInLog = async () => (await home.records()).map(({ type }) => type)
const payloadsOf = async (type: string) =>
  (await home.records()).filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

describe('status', () => {
  it('is the object of the interface, also where nothing is stored yet', async () => {
    const { exitCode, stdout } = await home.run(['kill-switch', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      level: 0,
      state: 'normal',
      reason: null,
      changed_at: null,
      changed_by: null,
    })
    expect(home.log()).toBeNull()
    expect((await home.run(['kill-switch'])).stdout).toContain(`nothing is stored in ${home.folder} yet`)
  })

  it('writes nothing', async () => {
    await home.run(['kill-switch', 'set', '1'])
    const before = await home.records()
    await home.run(['kill-switch', 'status'])
    expect(await home.records()).toEqual(before)
  })
})

describe('set', () => {
  it('moves to the level, signs, and leaves its name in the log', async () => {
    const { exitCode, stdout } = await home.run([
      'kill-switch',
      'set',
      '2',
      '--reason',
      ' incident ',
      '--json',
    ])
    expect(exitCode).toBe(0)
    const view = JSON.parse(stdout)
    expect(view).toMatchObject({ level: 2, state: 'crisis', reason: 'incident' })
    expect(await typesInLog()).toEqual([
      'system.started.v1',
      'contributor.registered.v1',
      'system.kill_switch.v1',
      'alert.kill_switch',
      'system.audit.v1',
    ])
    const [raised] = await payloadsOf('system.kill_switch.v1')
    expect(raised).toMatchObject({
      level: 2,
      prev_level: 0,
      reason: 'incident',
      triggered_by: view.changed_by,
    })
    expect(await payloadsOf('system.audit.v1')).toEqual([
      {
        resource: 'cli:kill-switch set',
        action: 'write',
        outcome: 'allowed',
        reason: null,
        request_id: expect.any(String),
      },
    ])
    const records = await home.records()
    expect(records.map(({ source }) => source)).toEqual([
      'system',
      'system',
      'cli.kill_switch',
      'alerts',
      'cli',
    ])
    expect(
      records.every(({ signature, signer }) => signature?.length === 128 && signer === view.changed_by),
    ).toBe(true)
  })

  it('has a reason when none is given', async () => {
    const { stdout } = await home.run(['kill-switch', 'set', '1', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ level: 1, state: 'caution', reason: 'manual' })
  })

  it('writes nothing for the level that is there, not even a start', async () => {
    const { exitCode } = await home.run(['kill-switch', 'set', '0'])
    expect(exitCode).toBe(0)
    expect(await home.records()).toEqual([])
    await home.run(['kill-switch', 'set', '3'])
    const before = await home.records()
    expect((await home.run(['kill-switch', 'set', '3'])).exitCode).toBe(0)
    expect(await home.records()).toEqual(before)
  })

  it.each(['4', '-1', '1.5', 'one', '01', ''])('refuses %j as a level', async (level) => {
    const { exitCode, stderr } = await home.run(['kill-switch', 'set', level])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('0, 1, 2 or 3')
    expect(home.log()).toBeNull()
  })

  it.each([' ', 'x'.repeat(501), '\ud800'])('refuses %j as a reason', async (reason) => {
    expect((await home.run(['kill-switch', 'set', '1', '--reason', reason])).exitCode).toBe(2)
  })
})

describe('reset', () => {
  it('lowers to 0, or to the level asked for', async () => {
    await home.run(['kill-switch', 'set', '3'])
    const down = await home.run(['kill-switch', 'reset', '--level', '1', '--reason', 'better', '--json'])
    expect(JSON.parse(down.stdout)).toMatchObject({ level: 1, state: 'caution', reason: 'better' })
    const off = await home.run(['kill-switch', 'reset', '--reason', 'over', '--json'])
    expect(JSON.parse(off.stdout)).toMatchObject({ level: 0, state: 'normal', reason: 'over' })
    const lowered = (await payloadsOf('system.kill_switch.v1')).at(-1)
    expect(lowered).toHaveProperty('reset_by')
    expect(lowered).not.toHaveProperty('triggered_by')
    expect((await payloadsOf('system.audit.v1')).at(-1)).toMatchObject({ resource: 'cli:kill-switch reset' })
  })

  it('needs a reason', async () => {
    const { exitCode, stderr } = await home.run(['kill-switch', 'reset'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--reason')
  })

  it('fails above the current level and leaves no trace', async () => {
    await home.run(['kill-switch', 'set', '1'])
    const before = await home.records()
    const { exitCode, stderr } = await home.run([
      'kill-switch',
      'reset',
      '--level',
      '2',
      '--reason',
      'x',
      '--json',
    ])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ status: 409, code: 'kill_switch.not_lower', level: 1 })
    expect(await home.records()).toEqual(before)
  })

  it('writes nothing at the current level', async () => {
    const { exitCode } = await home.run(['kill-switch', 'reset', '--reason', 'x'])
    expect(exitCode).toBe(0)
    expect(await home.records()).toEqual([])
  })
})

it('shows text of strangers without letting it act', async () => {
  await home.run(['kill-switch', 'set', '1', '--reason', 'a\u001b[2Jb token=abc123'])
  const { stdout } = await home.run(['kill-switch'], { terminal: true })
  expect(stdout).not.toContain('\u001b[2J')
  expect(stdout).not.toContain('abc123')
})
