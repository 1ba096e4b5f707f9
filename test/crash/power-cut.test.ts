import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { runSeed, seedAt, volume } from '../generated.fixture.ts'
import { killedWriter, lostOf, soundRecords, type Acknowledged } from './killed-writer.fixture.ts'

/** Set SVC_TEST_POWER_CUTS=1000 for a long run. */
const CUTS = Number(process.env['SVC_TEST_POWER_CUTS'] ?? volume({ normal: 4, full: 8 }))
/** A number that no other cut has. With it the simulated disk loses data. */
const LYING_CUT = 8888
const CUTS_PER_DISK = 40
const SHIM_SOURCE = fileURLToPath(new URL('power-cut.c', import.meta.url))
const hasCompiler = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0

let folder = ''
beforeAll(async () => {
  if (!hasCompiler) return
  folder = await mkdtemp(join(tmpdir(), 'power-cut-'))
  const shim = ['-shared', '-fPIC', '-o', join(folder, 'power-cut.so'), SHIM_SOURCE, '-ldl']
  execFileSync('cc', shim)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Content of the disk after a writer was cut off. `before` is its content when the machine started. */
const cutOff = async (
  before: string | null,
  cut: number,
  disk: { readonly lies: boolean },
): Promise<{ readonly left: string; readonly said: Acknowledged }> => {
  const [files, left] = [join(folder, `files-${cut}`), join(folder, `disk-${cut}`)]
  for (const place of [files, left]) {
    await (before === null ? mkdir(place) : cp(before, place, { recursive: true }))
  }
  const said = await killedWriter({
    path: join(files, 'events.db'),
    // Spread over the time of a batch. Another seed cuts at other times.
    writeMs: (runSeed() + cut * 37) % 120,
    environment: {
      LD_PRELOAD: join(folder, 'power-cut.so'),
      POWER_CUT_FILES: `${files}/`,
      POWER_CUT_DISK: `${left}/`,
      POWER_CUT_SEED: String((disk.lies ? cut : seedAt(cut)) + 1),
      ...(disk.lies ? { POWER_CUT_LIE: '1' } : {}),
    },
  })
  await rm(files, { recursive: true })
  return { left, said }
}

describe.skipIf(!hasCompiler)('a power cut (needs a C compiler on Linux to play the disk)', () => {
  it(
    'loses nothing that was acknowledged, whatever the disk wrote first',
    async () => {
      let acknowledged = new Map<number, string>()
      let [disk, reported]: [string | null, number] = [null, 0]
      for (let cut = 0; cut < CUTS; cut += 1) {
        // A new machine from time to time: everything on the disk is checked after every cut.
        const before = cut % CUTS_PER_DISK === 0 ? null : disk
        if (before === null) acknowledged = new Map()
        const { left, said } = await cutOff(before, cut, { lies: false })
        if (disk !== null) await rm(disk, { recursive: true })
        disk = left
        reported += said.size
        for (const [seq, id] of said) acknowledged.set(seq, id)
        const log = await openSqliteLog({ path: join(left, 'events.db') })
        expect(lostOf(acknowledged, await soundRecords(log)), `after cut ${cut}`).toEqual([])
        await log.close()
      }
      expect(reported).toBeGreaterThan(CUTS)
    },
    120_000 + CUTS * 30_000,
  )

  it('is noticed by this test on a disk that lies about syncs', async () => {
    const { left, said } = await cutOff(null, LYING_CUT, { lies: true })
    expect(said.size).toBeGreaterThan(0)
    const found = await openSqliteLog({ path: join(left, 'events.db') }).then(
      async (log) => {
        const { seq } = await log.head()
        await log.close()
        return seq
      },
      // An incomplete file counts as missing.
      () => 0,
    )
    expect(found).toBeLessThan(Math.max(...said.keys()))
  })
})
