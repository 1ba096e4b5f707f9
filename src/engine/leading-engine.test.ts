import { describe, expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../adapters/storage/memory/memory-store.ts'
import { FencedError } from './command-queue.ts'
import type { Engine } from './engine.ts'
import { access, everything, openEngine } from './engine.fixture.ts'
import { leadingEngine } from './leading-engine.ts'

const opened = async () => {
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  const engine = await openEngine(log)
  const resources = async (): Promise<readonly string[]> =>
    (await everything(log)).map(({ payload }) => (JSON.parse(payload) as { resource: string }).resource)
  return { store, log, engine, resources }
}

const asLeader = (engine: Engine, token: number) => {
  let fenced = 0
  const leader = leadingEngine(engine, token, () => {
    fenced += 1
  })
  return { leader, fenced: () => fenced }
}

describe('commands of the leader', () => {
  it('are stored under the token of its lease', async () => {
    const { store, engine, resources } = await opened()
    store.leaderToken = 4
    await asLeader(engine, 4).leader.execute(access('leader'))
    expect(await resources()).toEqual(['leader'])
    await engine.close()
  })

  it('fail once another process leads, while those of clients in the same batch are stored', async () => {
    const { store, engine, resources } = await opened()
    store.leaderToken = 5
    const { leader, fenced } = asLeader(engine, 4)
    const results = await Promise.allSettled([
      engine.execute(access('first')),
      leader.execute(access('outdated')),
      engine.execute(access('second')),
      leader.execute(access('outdated too')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(results[1]).toMatchObject({ reason: expect.any(FencedError) })
    expect(await resources()).toEqual(['first', 'second'])
    expect(fenced()).toBe(2)
    await expect(leader.execute(access('later'))).rejects.toThrow(FencedError)
    expect(await resources()).toEqual(['first', 'second'])
    await engine.close()
  })

  it('of a newer lease of the same process are stored, those of its older one are not', async () => {
    const { store, engine, resources } = await opened()
    store.leaderToken = 6
    const results = await Promise.allSettled([
      asLeader(engine, 4).leader.execute(access('older')),
      asLeader(engine, 6).leader.execute(access('newer')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await resources()).toEqual(['newer'])
    await engine.close()
  })

  it('are not stored by batches that were decided on top of a refused one', async () => {
    const { store, engine, resources } = await opened()
    store.leaderToken = 5
    const { leader } = asLeader(engine, 4)
    const many = Array.from({ length: 200 }, (_, index) =>
      index % 3 === 0 ? leader.execute(access('outdated')) : engine.execute(access(`client ${index}`)),
    )
    const results = await Promise.allSettled(many)
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(67)
    const stored = await resources()
    expect(stored).toHaveLength(133)
    expect(stored).not.toContain('outdated')
    await engine.close()
  })
})
