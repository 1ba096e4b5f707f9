import { afterEach, beforeEach, expect, it } from 'vitest'
import { catchUp, EMPTY_MEMORY, snapshotOf, stateHashOf } from '../../../engine/memory.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  // Only a saved identity goes on from its snapshots.
  await home.run(['identity', 'create', '--dev'])
  await home.run(['kill-switch', 'set', '1'])
  await home.run(['kill-switch', 'set', '3'])
})
afterEach(() => home.close())

const replay = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run(['replay', '--json', ...words])
  return { exitCode, stderr, result: stdout === '' ? null : JSON.parse(stdout) }
}

const logOf = () => {
  const log = home.log()
  if (log === null) throw new Error('no log')
  return log
}

it('folds everything again and finds the same', async () => {
  const { exitCode, result } = await replay()
  expect(exitCode).toBe(0)
  expect(result).toMatchObject({
    events_replayed: (await home.records()).length,
    elapsed_seconds: expect.any(Number),
    identical: true,
    state_hash: stateHashOf((await catchUp(logOf(), EMPTY_MEMORY, { trust: null })).state),
  })
  expect(result.projections).toMatchObject({ kill_switch: 'identical', nodes: 'identical' })
})

it('names the part of memory that a wrong snapshot gives', async () => {
  const memory = await catchUp(logOf(), EMPTY_MEMORY, { trust: null })
  const state = {
    ...memory.state,
    trading: {
      ...memory.state.trading,
      killSwitch: { ...memory.state.trading.killSwitch, level: 0 as const },
    },
  }
  await logOf().saveSnapshot(snapshotOf({ ...memory, state }, home.signer()))
  const { exitCode, result } = await replay()
  expect(exitCode).toBe(1)
  expect(result).toMatchObject({
    identical: false,
    projections: { kill_switch: 'different', nodes: 'identical' },
  })
  expect((await home.run(['replay'])).stdout).toMatch(/^kill_switch +different$/m)
})

it('takes the state hash at any event', async () => {
  const records = await home.records()
  // A cut inside a batch would leave unsigned events.
  const until = records.find(({ seq, batchSignature }) => seq >= 3 && batchSignature !== null)
  if (until === undefined) throw new Error('too few events')
  const part = await openTestHome()
  await part.replaceRecords(records.slice(0, until.seq))
  const { result } = await replay('--to', until.id)
  expect(result).toMatchObject({ events_replayed: until.seq, identical: true })
  expect(result.state_hash).toBe(JSON.parse((await part.run(['replay', '--json'])).stdout).state_hash)
  expect(result.state_hash).not.toBe((await replay()).result.state_hash)
  await part.close()
})

it('counts between two events, both included', async () => {
  const [, second, third] = await home.records()
  expect((await replay('--from', second?.id ?? '', '--to', third?.id ?? '')).result.events_replayed).toBe(2)
  expect((await replay('--from', third?.id ?? '', '--to', second?.id ?? '')).exitCode).toBe(2)
})

it('fails for an event nobody knows', async () => {
  const { exitCode, stderr } = await replay('--to', 'none')
  expect(exitCode).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ status: 404, code: 'event.not_found', event_id: 'none' })
})

it('writes nothing', async () => {
  const before = await home.records()
  await replay()
  expect(await home.records()).toEqual(before)
})

it('is identical where nothing is stored yet', async () => {
  const empty = await openTestHome()
  const { exitCode, stdout } = await empty.run(['replay', '--json'])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ events_replayed: 0, identical: true })
  await empty.close()
})
