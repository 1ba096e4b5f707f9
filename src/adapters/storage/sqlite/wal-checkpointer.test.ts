import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { appendTo } from '../../../../test/records.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { Checkpointer, nextPause } from './wal-checkpointer.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder: string
let path: string
let log: EventLog

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpointer-'))
  path = join(folder, 'events.db')
  log = await openSqliteLog({ path })
})
afterEach(async () => {
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

it('copies the journal beside the writer, long before the writer would', async () => {
  const sizeBefore = (await stat(path)).size
  for (let count = 0; count < 20; count += 1) await appendTo(log, 1)
  // The writer copies at 4 MiB, of which this is a fraction.
  expect((await stat(`${path}-wal`)).size).toBeLessThan(2 * 2 ** 20)
  await vi.waitUntil(async () => (await stat(path)).size > sizeBefore, { timeout: 20_000, interval: 10 })
})

it('leaves everything in one file and an empty journal', async () => {
  for (let count = 0; count < 40; count += 1) await appendTo(log, 1)
  await log.close()
  expect((await stat(`${path}-wal`)).size).toBe(0)
})

it('comes more often the more is written, and seldom when it is little', () => {
  expect(nextPause(16, 512)).toBe(8)
  expect(nextPause(16, 128)).toBe(32)
  expect(nextPause(16, 1_000_000)).toBe(1)
  expect(nextPause(100, 0)).toBe(128)
})

it('that cannot work is no trouble: the writer does it', async () => {
  const lost = new Checkpointer(join(folder, 'missing', 'events.db'))
  for (let count = 0; count < 100; count += 1) lost.note()
  await lost.close()
  await appendTo(log, 1)
  expect((await log.head()).seq).toBe(1)
})
