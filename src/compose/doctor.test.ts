import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { DatabaseSync } from '@photostructure/sqlite'
import { Client } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { postgresMissing, sharedPostgres } from '../../test/postgres/server.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { leaseFaultOf } from '../engine/lease-fault.ts'
import { runCommandLine } from '../surfaces/cli/run.ts'
import { createCommandDependencies } from './command-dependencies.ts'
import { environmentOf } from './environment.ts'
import { databasePath, openStore } from './store.ts'

/* Commands of a real home, in this process: its identity is saved, and its log is in SQLite or PostgreSQL. */

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

const newHome = async (url = '') => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-doctor-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const variables = { SVC_DEV_MODE: '1', ...(url !== '' && { SVC_STORE__URL: url }) }
  const environment = environmentOf(folder, variables, 'test')
  const run = async (...words: readonly string[]) => {
    const [stdout, stderr] = [captured(), captured()]
    const exitCode = await runCommandLine(words, {
      stdin: Readable.from([]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      environment: { ...variables, SVC_HOME: folder },
      currentFolder: folder,
      version: 'test',
      clock: environment.clock,
      dependenciesAt: async () => createCommandDependencies(environment),
    })
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  }
  /** The token of a process that starts now and leads; null if it cannot lead. */
  const lead = async (): Promise<number | null> => {
    const settings = { ...DEFAULT_CONFIGURATION, store: { ...DEFAULT_CONFIGURATION.store, url } }
    const { log, leadership } = await openStore(environment, settings)
    try {
      const lease = await leadership.tryToLead(0)
      await lease?.release()
      return lease?.token ?? null
    } finally {
      await leadership.close()
      await log.close()
    }
  }
  return { folder, run, lead }
}

type Home = Awaited<ReturnType<typeof newHome>>

const captured = () => {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString('utf8')
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY: false }), text: () => text }
}

const reportOf = async (home: Home, ...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run(...words, '--json')
  return { exitCode, stderr, report: JSON.parse(stdout) as Record<string, unknown> }
}

describe('a home whose data folder is gone', () => {
  it('fails "svc integrity", "svc doctor" and "svc health", which name what is missing and what to do', async () => {
    const home = await newHome()
    expect(await home.run('kill-switch', 'set', '1')).toMatchObject({ exitCode: 0 })
    await rm(join(home.folder, 'data'), { recursive: true })
    for (const words of [['integrity'], ['doctor'], ['health']]) {
      const { exitCode, stdout } = await home.run(...words)
      expect([words, exitCode]).toEqual([words, 1])
      expect(stdout).toContain('data/events.db is missing')
      expect(stdout).toContain('svc restore <file>')
    }
    expect((await reportOf(home, 'integrity')).report).toMatchObject({ ok: false, reason: 'truncated' })
    expect((await reportOf(home, 'doctor')).report).toMatchObject({
      ok: false,
      checks: [{ check: 'log', ok: false }],
    })
    // Looking at a lost log creates no other one.
    expect(existsSync(join(home.folder, 'data'))).toBe(false)
  })

  it('is no fault where nothing was written yet', async () => {
    const home = await newHome()
    await home.run('init', '--dev')
    for (const command of ['integrity', 'doctor'])
      expect(await home.run(command)).toMatchObject({ exitCode: 0 })
  })
})

const LARGEST = 2 ** 53 - 1
const YEAR_MS = 365 * 86_400_000

/** A home whose log exists. Its store holds the lease that `damage` leaves; it is found, repaired, and can be taken. */
const expectRepaired = async (url: string, damage: (home: Home) => Promise<void>): Promise<void> => {
  const home = await newHome(url)
  expect(await home.run('kill-switch', 'set', '1')).toMatchObject({ exitCode: 0 })
  await damage(home)
  expect(await reportOf(home, 'doctor')).toMatchObject({
    exitCode: 1,
    report: { ok: false, checks: [{ check: 'log', ok: true }, {}, { check: 'lease', ok: false }] },
  })
  const repaired = await home.run('doctor', '--repair')
  expect(repaired).toMatchObject({ exitCode: 0, stderr: '' })
  expect(repaired.stdout).toContain('repaired')
  expect(await home.lead()).toBe(1)
}

describe('"svc doctor" finds and repairs a lease that leaves no leader', () => {
  it('in SQLite', () =>
    expectRepaired('', async ({ folder }) => {
      const database = new DatabaseSync(databasePath(folder))
      database.exec(`INSERT INTO leaders VALUES (${LARGEST}, 'somebody')`)
      database.close()
    }))

  it.skipIf(postgresMissing !== null)('in PostgreSQL', async () => {
    const url = await (await sharedPostgres()).freshDatabase()
    await expectRepaired(url, async () => {
      const client = new Client(url)
      await client.connect()
      await client.query("UPDATE lease SET expires_at = now() + interval '1 year'")
      await client.end()
    })
  })
})

it('a damaged log is not taken as proof of which leaders there were', async () => {
  const home = await newHome()
  await home.run('kill-switch', 'set', '1')
  const database = new DatabaseSync(databasePath(home.folder))
  database.exec(`INSERT INTO leaders VALUES (${LARGEST}, 'somebody'); DROP TRIGGER events_no_update`)
  database.exec(`UPDATE events SET payload = replace(payload, '"level":1', '"level":0')`)
  database.close()
  expect((await reportOf(home, 'doctor', '--repair')).report).toMatchObject({
    ok: false,
    checks: [{ check: 'log', ok: false }, { check: 'clock' }],
  })
})

it.each([
  [1, 0, 0, true],
  [1_000_000, 300_000, 0, true],
  [1_000_001, 0, 0, false],
  [5_000_001, 0, 4_000_001, true],
  [1, 300_001, 1, false],
  [1, YEAR_MS, 1, false],
])(
  'leader %d with %d ms left behind leader %d of the log: sound = %s',
  (token, endsInMs, recorded, sound) => {
    expect(leaseFaultOf({ token, endsInMs }, recorded) === null).toBe(sound)
  },
)

it('svc doctor names own code that others can change', async () => {
  const { folder, run } = await newHome()
  const strategies = join(folder, 'strategies')
  await mkdir(strategies, { mode: 0o700 })
  await writeFile(join(strategies, 'cross.mjs'), '', { mode: 0o644 })
  expect(await run('doctor')).toMatchObject({ exitCode: 0 })

  await chmod(join(strategies, 'cross.mjs'), 0o664)
  const { exitCode, stdout } = await run('doctor', '--json')
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, checks: [{ check: 'own_code', ok: false }] })
  expect(stdout).toContain(join('strategies', 'cross.mjs'))
})
