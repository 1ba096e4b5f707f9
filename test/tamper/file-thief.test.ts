import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/adapters/platform/logger/logger.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { openRunningEngine, type RunningEngine } from '../../src/compose/running-engine.ts'
import { databasePath, openStore } from '../../src/compose/store.ts'
import { ownKey, trustOf } from '../../src/compose/trust.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { EMPTY_HEAD, headOf, type LogRecord } from '../../src/core/log/event.ts'
import { payloadOf } from '../../src/core/log/payload.ts'
import { STATE_VERSION } from '../../src/core/state.ts'
import { verifyLog } from '../../src/engine/integrity/verify.ts'
import { catchUp, EMPTY_MEMORY, snapshotOf } from '../../src/engine/memory.ts'
import { signatures } from '../../src/adapters/platform/signatures/signatures.ts'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { nodeOf, notes, rechained, recordsOf, resigned, started, type Said } from './signed-log.fixture.ts'

/*
 * Attacks by a thief who can write everything in the data folder or in the database, and nothing in the identity
 * folder. The log is changed by hand and then opened as a service opens it.
 */
const thief = nodeOf(9)

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

interface Place {
  readonly home: string
  readonly configuration: Configuration
  /** Runs statements as the owner of the tables, with the triggers of the log dropped. */
  readonly sql: (...statements: readonly string[]) => Promise<void>
}

const newHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'thief-'))
  folders.push(home)
  return home
}

const sqlite = async (): Promise<Place> => {
  const home = await newHome()
  const sql = async (...statements: readonly string[]): Promise<void> => {
    const raw = new DatabaseSync(databasePath(home))
    raw.exec('DROP TRIGGER IF EXISTS events_no_update; DROP TRIGGER IF EXISTS events_no_delete')
    for (const statement of statements) raw.exec(statement)
    raw.close()
  }
  return { home, configuration: DEFAULT_CONFIGURATION, sql }
}

const postgres = async (): Promise<Place> => {
  const home = await newHome()
  const url = await (await sharedPostgres()).freshDatabase()
  const sql = async (...statements: readonly string[]): Promise<void> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('ALTER TABLE events DISABLE TRIGGER events_append_only')
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  const { store } = DEFAULT_CONFIGURATION
  return { home, configuration: { ...DEFAULT_CONFIGURATION, store: { ...store, url } }, sql }
}

const environmentIn = (home: string) => environmentOf(home, { SVC_DEV_MODE: '1' }, 'test')

/** Opens the log as a service does, and closes it again. */
const running = async <Result>(
  { home, configuration }: Place,
  use: (running: RunningEngine) => Promise<Result>,
): Promise<Result> => {
  const environment = environmentIn(home)
  const store = await openStore(environment, configuration)
  const opened = await openRunningEngine({
    environment,
    configuration,
    settings: () => configuration,
    store,
    logger: createLogger({
      level: 'ERROR',
      jsonOutput: false,
      secrets: [],
      clock: environment.clock,
      write: () => undefined,
    }),
    announce: 'always',
  })
  try {
    return await use(opened)
  } finally {
    await opened.close()
    await store.log.close()
  }
}

/** A log of a saved identity whose kill switch is at level 2. */
const raised = async (place: Place): Promise<void> =>
  running(place, async ({ engine }) => {
    const move = { level: 2, reason: 'stop', operator: 'svc-1', surface: 'api' } as const
    await engine.execute({ kind: 'set-kill-switch', move })
  })

const onStore = async <Result>(
  { home, configuration }: Place,
  use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Result>,
): Promise<Result> => {
  const store = await openStore(environmentIn(home), configuration)
  try {
    return await use(store)
  } finally {
    await store.log.close()
  }
}

const ACCESS_KEY = {
  name: 'thief',
  hash: 'ab'.repeat(32),
  scopes: ['operate'],
  contributor: null,
  producer: null,
  expires_at: null,
}

/** Appends events that the thief signs, as any program can that may write to the database. */
const smuggle = async (place: Place, said: (records: readonly LogRecord[]) => readonly Said[]) =>
  onStore(place, async ({ log }) => {
    const records = await log.read({ order: 'asc', limit: 1000 })
    const head = headOf(records.at(-1)!)
    const forged = (await recordsOf(said(records), thief, head)).map((record) => ({
      ...record,
      recordedAt: head.recordedAt,
    }))
    const signed = await resigned(rechained(forged, head), thief)
    expect(await log.append(signed, head)).toEqual({ status: 'appended' })
    return signed
  })

/** Snapshot of the fold in which the key of the thief counts, signed by the thief. */
const saveThiefsSnapshot = (place: Place): Promise<void> =>
  onStore(place, async ({ log }) => {
    const trust = { signatures, own: thief, firstHash: null }
    const memory = await catchUp(log, EMPTY_MEMORY, { trust })
    const { trading, operations } = memory.state
    expect(trading.killSwitch.level).toBe(0)
    expect(operations.accessKeys.has(ACCESS_KEY.hash)).toBe(true)
    await log.saveSnapshot(snapshotOf(memory, thief))
  })

const LOWERED: Said = {
  type: 'system.kill_switch.v1',
  payload: { level: 0, prev_level: 2, reason: 'free', triggered_by: 'api' },
  source: 'api',
}

const takeOver = async (place: Place): Promise<LogRecord> => {
  await place.sql(`UPDATE events SET dom = 'system.leader' WHERE dom = 'system.started'`)
  const signed = await smuggle(place, (records) => {
    const own = records.find(({ type }) => type === 'system.started.v1')!
    const foreign = started(thief)
    return [
      { ...foreign, payload: { ...foreign.payload, ephemeral: false } },
      { type: own.type, source: 'system', payload: payloadOf(own)! },
      LOWERED,
      { type: 'system.access_key_created.v1', source: 'api', payload: ACCESS_KEY },
      ...notes(126),
    ]
  })
  await saveThiefsSnapshot(place)
  const last = signed.at(-1)!
  await writeFile(
    `${databasePath(place.home)}.head`,
    `${String(last.seq).padStart(16, '0')} ${last.hash}\n`,
  ).catch(() => undefined)
  return last
}

const verified = async (place: Place, mode: 'fast' | 'full') =>
  onStore(place, async ({ log, checkpoints, place: where }) => {
    const trust = await trustOf(place.home, await ownKey(place.home), where)
    return verifyLog(log, { mode, n: 100, checkpoints, trust, clock: Date })
  })

const STORES = [
  { name: 'SQLite', open: sqlite, missing: null },
  { name: 'PostgreSQL', open: postgres, missing: postgresMissing },
] as const

describe.each(STORES)('a thief with the files of $name', ({ open, missing }) => {
  it.skipIf(missing !== null)(
    'who refiles the starts, appends a start of its own and a snapshot, is not believed anywhere',
    async () => {
      const place = await open()
      await raised(place)
      const forged = await takeOver(place)
      expect(await verified(place, 'fast')).toMatchObject({ ok: false })
      expect(await verified(place, 'full')).toMatchObject({ ok: false, checks: { signatures: 'fail' } })
      await running(place, async ({ engine, integrity, prove }) => {
        expect(integrity.ok).toBe(false)
        expect(engine.state.trading.killSwitch.level).toBe(3)
        expect(engine.state.operations.accessKeys.has(ACCESS_KEY.hash)).toBe(false)
        expect(engine.state.operations.nodes.publicKeys.has(thief.nodeId)).toBe(false)
        expect(await prove(forged)).toMatchObject({ status: 'unavailable' })
      })
    },
  )

  it.skipIf(missing !== null)('who writes another log in its place, gives nobody rights by it', async () => {
    const place = await open()
    await raised(place)
    const own = await ownKey(place.home)
    const foreign = started(thief)
    const said: readonly Said[] = [
      { ...foreign, payload: { ...foreign.payload, ephemeral: false } },
      {
        type: 'system.key_admitted.v1',
        source: 'cli',
        payload: { node_id: own!.nodeId, public_key: own!.publicKey, reason: 'welcome' },
      },
      { type: 'system.access_key_created.v1', source: 'api', payload: ACCESS_KEY },
      ...notes(5),
    ]
    const tables = ['events', 'about', 'tree_nodes', 'snapshots']
    await place.sql(...tables.map((table) => `DELETE FROM ${table}`))
    await place.sql(`DELETE FROM counters`).catch(() => undefined)
    await onStore(place, async ({ log }) => {
      expect(await log.append(await recordsOf(said, thief), EMPTY_HEAD)).toEqual({ status: 'appended' })
    })
    for (const _ of ['the first start', 'the next one'])
      await running(place, async ({ engine, integrity }) => {
        expect(integrity).toMatchObject({ ok: false })
        expect(engine.state.trading.killSwitch.level).toBe(3)
        expect(engine.state.operations.accessKeys.has(ACCESS_KEY.hash)).toBe(false)
        expect(engine.state.operations.nodes.publicKeys.has(thief.nodeId)).toBe(false)
      })
    await onStore(place, async ({ log }) => expect(await log.loadSnapshot(STATE_VERSION)).toBeNull())
  })
})
