import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { Head } from '../../src/core/log/event.ts'
import { appendTo } from '../records.fixture.ts'
import { runScript } from './run-script.fixture.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Report {
  readonly acknowledged: Head
  readonly head: Head
  readonly readable: number
  readonly errors: readonly string[]
}

/** Blocks of 512 bytes that a file may have: the journal alone, or the database behind its checkpoints. */
it.each([2_000, 12_000])(
  'a disk that is full after %i blocks loses nothing that was acknowledged',
  async (blocks) => {
    const path = join(folder, String(blocks), 'events.db')
    const end = await runScript('fill-disk-process', [path], { shellSetup: `ulimit -f ${blocks}` })
    expect(end.code, end.stderr).toBe(0)
    const reported = JSON.parse(end.stdout) as Report
    expect(reported.errors).toEqual(['StoreUnavailableError', 'StoreUnavailableError', 'head-moved'])
    expect(reported.acknowledged.seq).toBeGreaterThan(0)
    expect(reported.head).toEqual(reported.acknowledged)
    expect(reported.readable).toBe(reported.acknowledged.seq)

    const log = await openSqliteLog({ path })
    const { seq } = reported.acknowledged
    expect(await log.head()).toEqual(reported.acknowledged)
    expect(await log.verifyHashes({ after: 0, upTo: seq })).toEqual({ ok: true, checked: seq })
    await appendTo(log, 500, (number) => ({ dedupeKey: `key-${number}` }))
    expect(await log.verifyHashes({ after: 0, upTo: seq + 500 })).toEqual({ ok: true, checked: seq + 500 })
    expect((await log.findByDedupeKeys(['key-1', `key-${seq}`, `key-${seq + 500}`])).size).toBe(3)
    await log.close()
  },
  600_000,
)
