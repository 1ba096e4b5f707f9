import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBarStore } from '../adapters/history/bar-files/bar-store.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { sqliteLeadership } from '../adapters/storage/sqlite/sqlite-leadership.ts'
import { openSqliteLog } from '../adapters/storage/sqlite/sqlite-log.ts'
import { sqliteTarget } from '../adapters/storage/sqlite/sqlite-target.ts'
import type { RunWithResult } from '../backtest/runs/runs.ts'
import { writeWholeFile } from '../surfaces/cli/exporting.ts'
import { EndedSessions } from '../surfaces/dashboard/sessions.ts'
import { runFiles } from './run-files.ts'
import { writeServiceFile } from './service-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drafts-'))
})
afterEach(() => rm(folder, { recursive: true }))

const BAR = { openMs: Date.parse('2024-01-01'), open: 1, high: 1, low: 1, close: 1, volume: 1 }

/**
 * File, draft ending and write function of every draft. A process with the same id in another container would use the
 * same draft name.
 */
const DRAFTS: readonly (readonly [
  file: string,
  ending: string,
  write: (path: string) => Promise<unknown>,
])[] = [
  ['out', '.partial', (path) => writeWholeFile(path, { force: false }, (write) => write('text'))],
  ['r1.json', '.part', () => runFiles(folder, () => undefined).save({ id: 'r1' } as RunWithResult)],
  [
    'data/service.json',
    '.partial',
    () => writeServiceFile(folder, { pid: process.pid, base_url: '', node_id: 'svc-1', started_at_ms: 1 }),
  ],
  ['ended', '', async (path) => new EndedSessions(path).add('0'.repeat(64), 2, 1)],
  [
    'bars/binance/BTC-USDT/1h/.2024-01.parquet',
    '.partial',
    () =>
      createBarStore(folder).merge({ venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }, [BAR], {
        replaces: false,
      }),
  ],
  ['copy.db', '.partial', (path) => copied(path)],
  ['events.db.leader', '', (path) => led(path.replace('.leader', ''))],
]

const copied = async (path: string): Promise<void> => {
  const draft = await sqliteTarget({ path }).draft({ replace: false, at: '2026-02-20T00:00:00.000Z' })
  await draft.install()
}

const led = async (path: string): Promise<void> => {
  const log = await openSqliteLog({ path })
  const timer = createSystemTimer(() => Date.now())
  const lease = await sqliteLeadership({ path, log, replacedWithinMs: 5000, timer }).tryToLead(0)
  await lease?.release()
  await log.close()
}

it.each(DRAFTS)('the draft of %s has a name that no other process has (%s)', async (file, ending, write) => {
  const path = join(folder, file)
  const drafted = `${path}.${process.pid}${ending}`
  await mkdir(drafted, { recursive: true })
  const left = await readdir(dirname(path))
  await write(path)
  expect(await readdir(dirname(path))).toEqual(expect.arrayContaining(left))
  expect((await readdir(dirname(path))).length).toBeGreaterThan(left.length)
})
