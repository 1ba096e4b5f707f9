import { copyFile, mkdtemp, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { filesAt, filesFault, OverwriteGuard } from './database-files.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'database-files-'))
  path = join(folder, 'events.db')
})
afterEach(() => rm(folder, { recursive: true }))

describe('the files of a database', () => {
  it('are known, and are others once a name leads elsewhere', async () => {
    expect(filesAt(path)).toEqual({ path, database: null, journal: null })
    // A file that did not exist cannot be exchanged.
    expect(filesFault(filesAt(path))).toBeNull()
    await writeFile(path, 'a')
    await writeFile(`${path}-wal`, 'b')
    const files = filesAt(path)
    expect(filesFault(files)).toBeNull()
    await writeFile(path, 'changed in place')
    expect(filesFault(files)).toBeNull()
    await rename(`${path}-wal`, join(folder, 'kept'))
    expect(filesFault(files)).toBe(
      `the journal ${path}-wal was deleted, moved or exchanged while the service ran`,
    )
    await writeFile(`${path}-wal`, 'b')
    expect(filesFault(files)).toContain('the journal')
    await rename(join(folder, 'kept'), `${path}-wal`)
    expect(filesFault(files)).toBeNull()
    await rm(path)
    expect(filesFault(files)).toBe(`${path} was deleted, moved or exchanged while the service ran`)
  })
})

describe('the content of a database', () => {
  /** A log whose events are all in one file. */
  const logOf = async (at: string, count: number): Promise<void> => {
    const log = await openSqliteLog({ path: at })
    await appendTo(log, count)
    await log.close()
  }

  it('is sound while nothing or only the time of the file has changed', async () => {
    await logOf(path, 200)
    const guard = new OverwriteGuard(path)
    expect(guard.fault()).toBeNull()
    await utimes(path, new Date(0), new Date(0))
    expect(guard.fault({ atOnce: true })).toBeNull()
    expect(guard.fault({ atOnce: true })).toBeNull()
    await rm(path)
    expect(guard.fault({ atOnce: true })).toBeNull()
  })

  it('is overwritten if the file is shorter, is no database, or lacks events', async () => {
    await logOf(path, 200)
    const whole = join(folder, 'whole.db')
    await copyFile(path, whole)
    const fault = `${path} was overwritten while the service ran`
    const guard = new OverwriteGuard(path)
    await truncate(path, 4096)
    expect(guard.fault()).toBe(fault)
    await copyFile(whole, path)
    expect(guard.fault({ atOnce: true })).toBeNull()
    await writeFile(path, 'x'.repeat(1_000_000))
    expect(guard.fault({ atOnce: true })).toBe(fault)
    // A file that holds fewer events is shorter, or has holes where they were.
    for (const hole of ['seq = 200 - 1', 'seq = 101', 'seq < 50']) {
      await copyFile(whole, path)
      const guarded = new OverwriteGuard(path)
      const db = new DatabaseSync(path)
      db.exec(
        `DROP TRIGGER events_no_delete; DELETE FROM events WHERE ${hole}; PRAGMA wal_checkpoint(TRUNCATE)`,
      )
      db.close()
      expect(guarded.fault({ atOnce: true }), hole).toBe(fault)
    }
  })

  it('is read again at most four times a second, unless a read has failed', async () => {
    await logOf(path, 5)
    const guard = new OverwriteGuard(path)
    await utimes(path, new Date(0), new Date(0))
    expect(guard.fault()).toBeNull()
    await writeFile(path, 'x'.repeat(1_000_000))
    expect(guard.fault()).toBeNull()
    expect(guard.fault({ atOnce: true })).toContain('was overwritten')
  })
})
