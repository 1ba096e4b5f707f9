import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import {
  cleanUp,
  copyOf,
  newHome,
  startProcess,
  startService,
  svc,
  svcProcess,
  type RunningService,
} from './service.ts'

afterAll(cleanUp)

/** No automatic checkpoint: no other file records the newest events. */
const QUIET = { SVC_STORE__CHECKPOINT_EVERY_SECONDS: '3600', SVC_MARKET__FEED: 'none' }

/** Runs `make` for the first test that needs the result, and shares it with the others. */
const once = <Made>(make: () => Promise<Made>): (() => Promise<Made>) => {
  let made: Promise<Made> | undefined
  return () => (made ??= make())
}

const databaseIn = (home: string): string => join(home, 'data', 'events.db')

const raise = (service: RunningService, level: number) =>
  service.call('POST', '/kill-switch', { body: { level, reason: `level ${level}` } })

const killSwitchOf = async (service: RunningService) =>
  (await service.call('GET', '/kill-switch')).body as { readonly level: number; readonly reason: string }

describe.each<[string, (file: string) => void]>([
  ['its database was deleted', (file) => rmSync(file)],
  [
    'its database was exchanged for a copy',
    (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  ],
  ['its database was moved', (file) => renameSync(file, `${file}.moved`)],
  ['its journal was deleted', (file) => rmSync(`${file}-wal`)],
  [
    'its journal was exchanged for a copy',
    (file) => {
      copyFileSync(`${file}-wal`, `${file}-wal.copy`)
      renameSync(`${file}-wal.copy`, `${file}-wal`)
    },
  ],
])('a running service after %s', (_, happen) => {
  it('acknowledges nothing more, locks itself and says so', async () => {
    const home = await newHome()
    const service = await startService(home, QUIET)
    expect((await raise(service, 1)).status).toBe(200)
    happen(databaseIn(home))
    const answers = await Promise.all([2, 3, 2, 0].map((level) => raise(service, level)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    expect(answers[0]?.body).toMatchObject({ code: 'store.unavailable' })
    expect(answers[0]?.text).toContain('deleted, exchanged or overwritten')
    expect(await killSwitchOf(service)).toMatchObject({ level: 3, reason: 'log_lost' })
    expect((await service.call('GET', '/health')).status).toBe(503)
    expect((await fetch(new URL('/ready', service.baseUrl))).status).toBe(503)
    expect(service.output()).toContain('was deleted, moved or exchanged while the service ran')
    expect(await service.stop()).toBe(0)
  })
})

/** A home with more than one page of events, and a copy of its database from before. */
const filledHome = once(async () => {
  const home = await newHome()
  await (await startService(home, QUIET)).stop()
  copyFileSync(databaseIn(home), join(home, 'old.db'))
  const service = await startService(home, QUIET)
  for (let count = 0; count < 60; count += 1) await raise(service, 1 + (count % 2))
  await service.stop()
  return home
})

describe.each<[string, (file: string, old: string) => void]>([
  ['an older copy', (file, old) => copyFileSync(old, file)],
  ['zeros', (file) => overwrite(file, Buffer.alloc(statSync(file).size))],
  ['another database', (file) => overwrite(file, anotherDatabase(statSync(file).size))],
])('a running service whose database was overwritten by %s', (_, happen) => {
  it('acknowledges nothing more, locks itself and says so', async () => {
    const home = await copyOf(await filledHome())
    const [file, old] = [databaseIn(home), join(home, 'old.db')]
    const service = await startService(home, QUIET)
    expect((await raise(service, 1)).status).toBe(200)
    happen(file, old)
    const { status, text } = await raise(service, 2)
    expect([status, text]).toEqual([503, expect.stringContaining('overwritten')])
    expect(await killSwitchOf(service)).toMatchObject({ level: 3, reason: 'log_lost' })
    expect((await service.call('GET', '/health')).status).toBe(503)
    expect(service.output()).toContain('was overwritten while the service ran')
    await service.stop()
  })
})

/** Writes into the existing file, as `cp` does. */
const overwrite = (file: string, bytes: Uint8Array): void => writeFileSync(file, bytes, { flag: 'r+' })

const anotherDatabase = (bytes: number): Uint8Array => {
  const file = join(mkdtempSync(join(tmpdir(), 'signal-engine-other-')), 'other.db')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA page_size = 8192; CREATE TABLE other (text TEXT)')
  database.prepare('INSERT INTO other VALUES (?)').run('x'.repeat(2 * bytes))
  database.close()
  const content = readFileSync(file)
  rmSync(dirname(file), { recursive: true })
  return content
}

it.each(['', '-wal'])(
  'a service that writes nothing notices that events.db%s was deleted',
  async (suffix) => {
    const home = await newHome()
    const service = await startService(home, QUIET)
    rmSync(`${databaseIn(home)}${suffix}`)
    await expect.poll(async () => (await service.call('GET', '/health')).status).toBe(503)
    expect(await killSwitchOf(service)).toMatchObject({ level: 3, reason: 'log_lost' })
    await service.stop()
  },
)

/** A home whose service was killed after some events, with all of them in the journal. */
const makeKilled = async () => {
  const home = await newHome()
  await (await startService(home, QUIET)).stop()
  const killed = await startProcess(home, QUIET)
  for (const level of [1, 2, 1, 2]) expect((await raise(killed, level)).status).toBe(200)
  const [{ seq: acknowledged } = { seq: 0 }] = await eventsOf(killed, 'system')
  await killed.stop('SIGKILL')
  return { home, acknowledged }
}

const killedHome = once(makeKilled)

const copyOfKilled = async () => {
  const { home: killed, acknowledged } = await killedHome()
  const home = await copyOf(killed)
  const journal = `${databaseIn(home)}-wal`
  expect(statSync(journal).size).toBeGreaterThan(0)
  return { home, journal, acknowledged }
}

const integrityOf = async (home: string) => {
  const { exitCode, stdout } = svcProcess(home, ['integrity', '--fast', '--json'], QUIET)
  const { head_seq, reason, detail } = JSON.parse(stdout) as {
    readonly head_seq: number
    readonly reason: string | null
    readonly detail: string
  }
  return { exitCode, head_seq, reason, detail }
}

describe('a journal that is lost after kill -9', () => {
  it('shows how many events are missing, locks the engine, and an operator may accept it', async () => {
    const { home, journal, acknowledged } = await copyOfKilled()
    rmSync(journal)
    const { head_seq, detail } = await integrityOf(home)
    expect(head_seq).toBeLessThan(acknowledged)
    expect(detail).toContain('svc integrity --accept-loss')

    const service = await startService(home, QUIET)
    expect(await killSwitchOf(service)).toMatchObject({ level: 3, reason: 'integrity_failed' })
    expect(service.output()).toMatch(/\d+ events are lost/)
    // New events after the loss do not hide it.
    for (let count = 0; count < 20; count += 1) await raise(service, 2 + (count % 2))
    expect((await service.call('GET', '/integrity?mode=fast')).body).toMatchObject({ reason: 'truncated' })
    await service.stop()
    expect(await integrityOf(home)).toMatchObject({ exitCode: 1, reason: 'truncated' })

    const words = ['integrity', '--accept-loss', '--reason', 'a broken disk']
    expect(await svc(home, words, QUIET)).toMatchObject({ exitCode: 0 })
    const started = await startService(home, QUIET)
    expect((await started.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect((await eventsOf(started, 'system.restore'))[0]?.payload).toMatchObject({
      reason: 'a broken disk',
      checkpoint_size: expect.any(Number) as number,
    })
    await started.stop()
    expect(existsSync(`${databaseIn(home)}.head`)).toBe(true)
  })
})

describe.each<[string, (journal: string) => void]>([
  ['emptied', (journal) => truncateSync(journal, 0)],
  [
    'damaged',
    (journal) => {
      const bytes = readFileSync(journal)
      for (let at = 32; at < bytes.length; at += 512) bytes[at] = (bytes[at] ?? 0) ^ 0xff
      writeFileSync(journal, bytes)
    },
  ],
])('a journal that is %s after kill -9', (_, happen) => {
  it('is found', async () => {
    const { home, journal } = await copyOfKilled()
    expect(await integrityOf(home)).toMatchObject({ exitCode: 0, reason: null })
    happen(journal)
    const found = await integrityOf(home)
    expect(found).toMatchObject({ exitCode: 1, reason: 'truncated' })
    expect(found.detail).toMatch(/\d+ events are lost/)
  })
})

describe('a service that is killed', () => {
  it('loses nothing, and its next start finds nothing', async () => {
    const home = await newHome()
    const killed = await startProcess(home, QUIET)
    for (const level of [1, 2, 1]) expect((await raise(killed, level)).status).toBe(200)
    await killed.stop('SIGKILL')
    const service = await startService(home, QUIET)
    expect(await killSwitchOf(service)).toMatchObject({ level: 1 })
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await service.stop()
  })
})
