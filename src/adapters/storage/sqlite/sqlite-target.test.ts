import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { headAfter, recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import type { LogTarget } from '../../../ports/log-target.ts'
import { openSqliteLog } from './sqlite-log.ts'
import { sqliteTarget } from './sqlite-target.ts'

const AT = '2026-02-20T00:30:00.000Z'

let folder: string
let path: string
let target: LogTarget
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqlite-target-'))
  path = join(folder, 'data', 'events.db')
  target = sqliteTarget({ path })
})
afterEach(() => rm(folder, { recursive: true }))

const RECORDS = recordsAfter(EMPTY_HEAD, 5)

const copy = async (replace = false): Promise<{ readonly replaced: string | null }> => {
  const draft = await target.draft({ replace, at: AT })
  await draft.append(RECORDS.slice(0, 3), EMPTY_HEAD)
  await draft.append(RECORDS.slice(3), headAfter(RECORDS.slice(0, 3)))
  expect(await draft.head()).toMatchObject(headAfter(RECORDS))
  expect(await draft.treeNodes({ level: 0, from: 0, to: 2 })).toHaveLength(2)
  const installed = await draft.install()
  await draft.discard()
  return installed
}
const names = async () => (await readdir(join(folder, 'data'))).sort()

it('installs a copy as the log of its place, for its owner alone', async () => {
  expect(await target.look()).toEqual({ status: 'empty' })
  expect(await copy()).toEqual({ replaced: null })
  expect([await names(), (await stat(path)).mode & 0o777]).toEqual([['events.db'], 0o600])
  const log = await openSqliteLog({ path })
  expect(await log.verifyHashes({ after: 0, upTo: 5 })).toEqual({ ok: true, checked: 5 })
  await log.close()
})

it('leaves nothing of a copy that is discarded', async () => {
  const draft = await target.draft({ replace: false, at: AT })
  await draft.append(RECORDS, EMPTY_HEAD)
  await expect(draft.append(RECORDS, EMPTY_HEAD)).rejects.toThrow('a draft has one writer')
  await draft.discard()
  await draft.discard()
  expect([await names(), await target.look()]).toEqual([[], { status: 'empty' }])
})

it('says why a file is no log, and replaces it with all that belongs to it, if that is wanted', async () => {
  await (await target.draft({ replace: false, at: AT })).discard()
  await writeFile(path, 'no database'.repeat(1000))
  await writeFile(`${path}.head`, '.head')
  expect(await target.look()).toEqual({ status: 'unreadable', why: expect.stringContaining(path) })
  await expect(target.draft({ replace: false, at: AT })).rejects.toThrow(`${path} is not empty`)
  const aside = `${path}.replaced-20260220T003000000Z`
  expect(await copy(true)).toEqual({ replaced: aside })
  const kept = ['', '.head'].map((suffix) => `events.db.replaced-20260220T003000000Z${suffix}`)
  expect(await names()).toEqual(['events.db', ...kept])
  expect(await readFile(aside, 'utf8')).toContain('no database')
  expect(await readFile(`${aside}.head`, 'utf8')).toBe('.head')
})
