import { DatabaseSync } from '@photostructure/sqlite'
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo, headAfter, recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD, type Head } from '../../../core/log/event.ts'
import { StoreUnavailableError, type EventLog } from '../../../ports/event-log.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { sqliteLeadership } from './sqlite-leadership.ts'
import { openSqliteLog, type SqliteLog } from './sqlite-log.ts'

let folder: string
let path: string
const opened: EventLog[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqlite-file-'))
  path = join(folder, 'events.db')
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
  await rm(folder, { recursive: true, force: true })
})

const open = async (at = path): Promise<SqliteLog> => {
  const log = await openSqliteLog({ path: at })
  opened.push(log)
  return log
}

const modeOf = async (name: string): Promise<string> => ((await stat(name)).mode & 0o777).toString(8)

const withFile = <Result>(use: (db: InstanceType<typeof DatabaseSync>) => Result): Result => {
  const db = new DatabaseSync(path)
  try {
    return use(db)
  } finally {
    db.close()
  }
}

describe('opening', () => {
  it('makes the folders and the file', async () => {
    const deep = join(folder, 'a', 'b', 'events.db')
    await open(deep)
    expect((await stat(deep)).size).toBeGreaterThan(0)
  })

  // StrykerJS runs tests in threads, and a thread cannot set the mask.
  it.runIf(isMainThread)(
    'makes them for their owner alone, whatever the mask of the process is',
    async () => {
      const before = process.umask(0)
      try {
        const deep = join(folder, 'data', 'events.db')
        const log = await open(deep)
        await appendTo(log, 3)
        const timer = createSystemTimer()
        const leading = await sqliteLeadership({ path: deep, log, replacedWithinMs: 5000, timer }).tryToLead(
          0,
        )
        const modes = Object.fromEntries(
          await Promise.all(
            (await readdir(join(folder, 'data'))).map(async (name) => [
              name,
              await modeOf(join(folder, 'data', name)),
            ]),
          ),
        )
        expect(modes).toMatchObject({
          'events.db': '600',
          'events.db-wal': '600',
          'events.db-shm': '600',
          'events.db.leader': '600',
        })
        expect(new Set(Object.values(modes))).toEqual(new Set(['600']))
        expect(await modeOf(join(folder, 'data'))).toBe('700')
        await leading?.release()
      } finally {
        process.umask(before)
      }
    },
  )

  it('closes files of an earlier release', async () => {
    const log = await open()
    await appendTo(log, 3)
    for (const name of [path, `${path}-wal`, `${path}-shm`]) await chmod(name, 0o644)
    await open()
    for (const name of [path, `${path}-wal`, `${path}-shm`]) expect(await modeOf(name)).toBe('600')
  })

  it('is possible for many at once, also when nobody has made the file yet', async () => {
    const logs = await Promise.all(Array.from({ length: 8 }, () => open()))
    await appendTo(logs[0]!, 3)
    for (const log of logs) expect((await log.head()).seq).toBe(3)
  })

  it('refuses a file that is no database', async () => {
    await writeFile(path, 'once upon a time '.repeat(200))
    await expect(open()).rejects.toThrow(StoreUnavailableError)
    await expect(open()).rejects.toThrow('is not an SQLite database')
  })

  it('refuses a database of something else', async () => {
    withFile((db) => db.exec('CREATE TABLE recipes (name TEXT)'))
    await expect(open()).rejects.toThrow('something else than an event log')
    expect(withFile((db) => db.prepare('SELECT count(*) AS n FROM sqlite_schema').get())).toEqual({ n: 1 })
  })

  it.each(['1', '99'])('refuses a log of format version %s', async (version) => {
    await (await open()).close()
    withFile((db) => db.exec(`UPDATE meta SET v = '${version}' WHERE k = 'format_version'`))
    await expect(open()).rejects.toThrow(`format version ${version}, this release reads version 5 only`)
  })

  it.each([
    ['4', ''],
    ['3', 'DROP TABLE leaders;'],
  ])('brings a log of format version %s up to date, with all its events', async (version, older) => {
    const before = await open()
    const records = (await appendTo(before, 3)).map((record) => ({ ...record, commands: null }))
    const head = await before.head()
    await before.close()
    withFile((db) =>
      db.exec(
        `ALTER TABLE events DROP COLUMN commands; ${older} UPDATE meta SET v = '${version}' WHERE k = 'format_version'`,
      ),
    )
    const after = await open()
    expect(await after.head()).toEqual(head)
    expect(await after.read({ order: 'asc', limit: 10 })).toEqual(records)
    const [added] = await appendTo(after, 1)
    expect(added?.commands).not.toBeNull()
    expect(await after.read({ order: 'desc', limit: 1 })).toEqual([added])
    expect(await after.lead({ after: 0, above: 0, holder: 'test' })).toBe(1)
    expect(await after.newestLeader()).toBe(1)
  })

  it('refuses a folder, and a folder that is a file', async () => {
    await mkdir(path)
    await expect(open()).rejects.toThrow('cannot be opened')
    await writeFile(join(folder, 'plain'), '')
    await expect(open(join(folder, 'plain', 'events.db'))).rejects.toThrow(StoreUnavailableError)
  })

  it.skipIf(process.getuid?.() === 0)(
    'refuses a file that it may not write to (root may write anywhere)',
    async () => {
      await (await open()).close()
      await chmod(path, 0o444)
      await chmod(folder, 0o555)
      await expect(open()).rejects.toThrow(/cannot open .*permission denied/)
      await chmod(folder, 0o755)
    },
  )

  it('waits for a locked file, and gives up', async () => {
    const db = new DatabaseSync(path)
    db.exec('BEGIN EXCLUSIVE; CREATE TABLE started (a TEXT)')
    await expect(open()).rejects.toThrow('another process has it locked for more than 5 seconds')
    db.exec('ROLLBACK')
    db.close()
    await open()
  })
})

describe('writing', () => {
  it('waits for another process that writes, gives up, and goes on when it is done', async () => {
    const log = await open()
    const records = await appendTo(log, 1)
    const db = new DatabaseSync(path)
    db.exec('BEGIN IMMEDIATE')
    const next = recordsAfter(headAfter(records), 1)
    const failed = log.append(next, headAfter(records))
    const behind = log.append(recordsAfter(headAfter(next), 1), headAfter(next))
    await expect(failed).rejects.toThrow(StoreUnavailableError)
    db.exec('ROLLBACK')
    db.close()
    expect(await behind).toEqual({ status: 'head-moved' })
    expect(await log.append(next, headAfter(records))).toEqual({ status: 'appended' })
  })

  it.each([
    ['a control character', { source: 'a\u001fb' }, 'control character'],
    ['the mark for nothing', { source: '\u001e' }, 'control character'],
    ['a NUL', { source: 'a\u0000b' }, 'cannot be stored'],
    ['half a character', { source: 'a\ud800b' }, 'cannot be stored'],
    ['no hash', { hash: 'ab' }, 'no SHA-256'],
    ['a hash in another script', { hash: 'AB'.repeat(32) }, 'no SHA-256'],
    ['no signature', { signature: 'ab' }, 'no Ed25519 signature'],
    ['no time of recording', { recordedAt: 'yesterday' }, 'no timestamp'],
    ['no time', { ts: '2026-01-01' }, 'no timestamp'],
    ['no JSON object', { payload: '{' }, 'JSON'],
  ])('throws for a record with %s, and stores nothing', async (_, change, message) => {
    const log = await open()
    const [record] = recordsAfter(EMPTY_HEAD, 1)
    const refused = log.append([{ ...record!, ...change }], EMPTY_HEAD)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.not.toThrow(StoreUnavailableError)
    expect(await log.head()).toEqual(EMPTY_HEAD)
  })

  it.each(['hash', 'signature'] as const)(
    'throws where a digit of a %s moved into the next',
    async (name) => {
      const log = await open()
      const [first, second] = recordsAfter(EMPTY_HEAD, 2)
      const [one, other] = [first![name] ?? '', second![name] ?? '']
      const moved = [
        { ...first!, [name]: one + other.slice(0, 2) },
        { ...second!, ...(name === 'hash' && { prevHash: one + other.slice(0, 2) }), [name]: other.slice(2) },
      ]
      await expect(log.append(moved, EMPTY_HEAD)).rejects.toThrow('in hex')
      expect(await log.head()).toEqual(EMPTY_HEAD)
    },
  )

  it('is the only thing that happens to events', async () => {
    await appendTo(await open(), 3)
    withFile((db) => {
      expect(() => db.exec(`UPDATE events SET payload = '{}'`)).toThrow('append only')
      expect(() => db.exec('DELETE FROM events')).toThrow('append only')
      expect(() => db.exec('UPDATE events SET signature = NULL WHERE seq = 1')).toThrow('append only')
    })
  })
})

describe('a file that is overwritten while it is open', () => {
  const overwritten = async (): Promise<{ readonly log: SqliteLog; readonly head: Head }> => {
    const before = await open()
    await appendTo(before, 400)
    await before.close()
    const log = await open()
    // Its connections know enough of the file to go on without it.
    await appendTo(log, 1)
    const head = await log.head()
    const { size } = await stat(path)
    await writeFile(path, Buffer.alloc(size), { flag: 'r+' })
    return { log, head }
  }

  it('is lost for the next write', async () => {
    const { log, head } = await overwritten()
    const lost: Error[] = []
    log.watchLoss((error) => lost.push(error))
    await expect(log.append(recordsAfter(head, 1), head)).rejects.toThrow(
      'was overwritten while the service ran',
    )
    expect(lost).toHaveLength(1)
  })

  it('is lost soon, although nobody writes', async () => {
    const { log } = await overwritten()
    const lost: Error[] = []
    log.watchLoss((error) => lost.push(error))
    await expect.poll(() => lost.length, { timeout: 10_000 }).toBe(1)
  })

  it('cannot be read, which is no bug', async () => {
    const { log } = await overwritten()
    await expect(log.read({ order: 'asc', limit: 400 })).rejects.toBeInstanceOf(StoreUnavailableError)
  })
})

describe('a closed log', () => {
  it.runIf(process.platform === 'linux')(
    'has no other connection that would end some time later',
    async () => {
      await open()
      const openFiles = (await readdir('/proc/self/fd')).map((fd) =>
        readlink(`/proc/self/fd/${fd}`).catch(() => 'closed meanwhile'),
      )
      expect((await Promise.all(openFiles)).filter((name) => name === `${path}-wal`)).toHaveLength(1)
    },
  )

  it('has left one whole file, and answers nothing', async () => {
    const log = await open()
    await appendTo(log, 300)
    const reading = log.read({ order: 'asc', limit: 10 })
    const appending = log.append(recordsAfter(await log.head(), 1), await log.head())
    await log.close()
    await reading
    expect(await appending).toEqual({ status: 'appended' })
    const sizes = await Promise.all(
      (await readdir(folder)).filter((name) => name.endsWith('-wal')).map((name) => stat(join(folder, name))),
    )
    expect(sizes.every(({ size }) => size === 0)).toBe(true)
    expect(withFile((db) => db.prepare('SELECT count(*) AS n FROM events').get())).toEqual({ n: 301 })
    await log.close()
    await expect(log.head()).rejects.toThrow(StoreUnavailableError)
    await expect(log.append([], EMPTY_HEAD)).rejects.toThrow(StoreUnavailableError)
    await expect(log.verifyHashes({ after: 0, upTo: 1 })).rejects.toThrow(StoreUnavailableError)
    await expect(
      log.saveSnapshot({
        seq: 1,
        chainHash: '',
        stateVersion: '',
        stateHash: '',
        state: '',
        signature: '',
        signer: '',
      }),
    ).rejects.toThrow(StoreUnavailableError)
    expect(() => log.watch(() => undefined)).toThrow(StoreUnavailableError)
  })

  it('ends a verification that is under way', async () => {
    const log = await open()
    await appendTo(log, 3000)
    const [outcome] = await Promise.allSettled([log.verifyHashes({ after: 0, upTo: 3000 }), log.close()])
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailableError' } })
  })
})
