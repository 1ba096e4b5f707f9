import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { catchUp, EMPTY_MEMORY, recall, stateHashOf } from '../../src/engine/memory.ts'
import { runSeed, volume } from '../generated.fixture.ts'
import { killedWriter, lostOf, soundRecords } from './killed-writer.fixture.ts'

/** Two lanes of this many kills; SVC_TEST_KILLS=500 for a long night. */
const KILLS_PER_LANE = Number(process.env['SVC_TEST_KILLS'] ?? volume({ normal: 6, full: 25 }))

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kill-'))
})
afterAll(() => rm(folder, { recursive: true }))

it.concurrent.each([1, 2])(
  'kill -9 at any moment loses nothing that was acknowledged (lane %i)',
  async (lane) => {
    const path = join(folder, `lane-${lane}.db`)
    const acknowledged = new Map<number, string>()
    for (let kill = 0; kill < KILLS_PER_LANE; kill += 1) {
      // Spread over the life of a batch, elsewhere in the runs of another seed.
      const writeMs = (runSeed() + kill * 37 + lane * 11) % 120
      for (const [seq, id] of await killedWriter({ path, writeMs })) acknowledged.set(seq, id)
      const log = await openSqliteLog({ path })
      expect(lostOf(acknowledged, await soundRecords(log)), `after kill ${kill}`).toEqual([])
      await log.close()
    }
    const log = await openSqliteLog({ path })
    const recalled = await catchUp(log, await recall(log, null), { trust: null })
    expect(stateHashOf(recalled.state)).toBe(
      stateHashOf((await catchUp(log, EMPTY_MEMORY, { trust: null })).state),
    )
    expect(acknowledged.size).toBeGreaterThan(KILLS_PER_LANE)
    await log.close()
  },
  1_800_000,
)
