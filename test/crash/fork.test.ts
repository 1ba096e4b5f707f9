import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { symbolRef } from '../../src/core/log/refs.ts'
import { runScript } from './run-script.fixture.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fork-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('eight processes append to one file at once: no fork, no gap, nothing lost, nothing twice', async () => {
  const path = join(folder, 'data', 'events.db')
  const writers = Array.from({ length: 8 }, (_, index) => `w${index}`)
  const batches = 40
  const ends = await Promise.all(
    writers.map((writer) =>
      runScript('append-process', [path, writer, String(batches), String(writers.length)]),
    ),
  )
  for (const { code, stderr } of ends) expect(code, stderr).toBe(0)
  const log = await openSqliteLog({ path })
  const total = writers.length * batches * 3
  expect((await log.head()).seq).toBe(total)
  expect(await log.count()).toBe(total)
  expect(await log.verifyHashes({ after: 0, upTo: total })).toEqual({ ok: true, checked: total })
  const records = await log.read({ order: 'asc', limit: total + 1 })
  expect(new Set(records.map(({ id }) => id)).size).toBe(total)
  for (const writer of writers) {
    const own = await log.read({ about: symbolRef(writer), order: 'asc', limit: total })
    const said = own.map(({ payload }) => (JSON.parse(payload) as { batch: number }).batch)
    expect(said).toEqual(Array.from({ length: batches * 3 }, (_, index) => Math.floor(index / 3)))
  }
  const keys = records.map(({ dedupeKey }) => dedupeKey ?? '')
  expect((await log.findByDedupeKeys(keys)).size).toBe(total)
  await log.close()
}, 600_000)
