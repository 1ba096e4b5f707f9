import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { StoreLostError } from '../../src/ports/event-log.ts'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { testClock, testSigner } from '../signer.fixture.ts'

/* Attacks by a thief who writes to the database while an engine runs on it. */

interface Place {
  readonly open: () => Promise<EventLog>
  /** Runs statements as the owner of the tables, with the triggers of the log dropped. */
  readonly sql: (statement: string) => Promise<void>
  /** Columns that only this store has, and their values in a planted row. */
  readonly further: readonly [string, string]
  /** Text of a column with the hash of an event: a row of SQLite holds text, one of PostgreSQL bytes. */
  readonly otherHash: string
}

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

const sqlite = async (): Promise<Place> => {
  const folder = await mkdtemp(join(tmpdir(), 'while-running-'))
  folders.push(folder)
  const path = join(folder, 'events.db')
  return {
    open: () => openSqliteLog({ path }),
    sql: async (statement) => {
      const raw = new DatabaseSync(path)
      raw.exec('DROP TRIGGER IF EXISTS events_no_update; DROP TRIGGER IF EXISTS events_no_delete')
      raw.exec(statement)
      raw.close()
    },
    further: ['', ''],
    otherHash: `'${'ab'.repeat(32)}'`,
  }
}

const postgres = async (): Promise<Place> => {
  const url = await (await sharedPostgres()).freshDatabase()
  return {
    open: () => openPostgresLog({ url }),
    sql: async (statement) => {
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query('ALTER TABLE events DISABLE TRIGGER events_append_only')
      await client.query(statement)
      await client.end()
    },
    further: [', dom_count', ', 1'],
    otherHash: `decode('${'ab'.repeat(32)}', 'hex')`,
  }
}

const set = (level: 1 | 2) =>
  ({
    kind: 'set-kill-switch',
    move: { level, reason: 'stop', operator: 'svc-1', surface: 'api' },
  }) as const

/** Runs an engine, changes the database under it, and raises the kill switch. */
const attacked = async (
  { open, sql }: Place,
  statement: string,
  check: (engine: Engine, raised: Promise<unknown>) => Promise<void>,
): Promise<void> => {
  const log = await open()
  const engine = await Engine.open({
    log,
    signer: testSigner(),
    clock: testClock(),
    snapshotEveryEvents: 1000,
    onError: () => undefined,
  })
  try {
    await engine.execute(set(1))
    await sql(statement)
    await check(engine, engine.execute(set(2)))
  } finally {
    await engine.close()
    await log.close()
  }
}

const NEWEST = '(SELECT max(seq) FROM events)'

const COPIED = `type, dom, ts, schema_version, source, trace_id, payload, prev_hash, hash, signature, signer, recorded_at,
  batch_signature`

/** Copies the newest event to this place. */
const rowAt = (seq: string, [column, value]: Place['further']): string =>
  `INSERT INTO events (seq, id, dedupe_key, ${COPIED}${column})
   SELECT ${seq}, 'planted', 'planted', ${COPIED}${value} FROM events WHERE seq = ${NEWEST}`

const STORES = [
  { name: 'SQLite', open: sqlite, missing: null },
  { name: 'PostgreSQL', open: postgres, missing: postgresMissing },
] as const

describe.each(STORES)('a thief who writes to $name while an engine runs', ({ open, missing }) => {
  const refusesAll = async (engine: Engine, raised: Promise<unknown>): Promise<void> => {
    await expect(raised).rejects.toBeInstanceOf(StoreLostError)
    await expect(engine.execute(set(2))).rejects.toBeInstanceOf(StoreLostError)
    await engine.fresh()
    expect(engine.state.trading.killSwitch).toMatchObject({ level: 3 })
    expect(engine.lost?.message).toContain('nothing more is stored')
  }

  it.skipIf(missing !== null)(
    'and deletes the newest events locks it: each command is answered',
    async () => {
      const place = await open()
      await attacked(place, `DELETE FROM events WHERE seq = ${NEWEST}`, refusesAll)
    },
  )

  it.skipIf(missing !== null)(
    'and exchanges the newest event locks it: each command is answered',
    async () => {
      const place = await open()
      await attacked(place, `UPDATE events SET hash = ${place.otherHash} WHERE seq = ${NEWEST}`, refusesAll)
    },
  )

  it.skipIf(missing !== null).each(['9007199254740991', '9223372036854775807'])(
    'and adds a row behind the largest event (%s) changes nothing',
    async (seq) => {
      const place = await open()
      await attacked(place, rowAt(seq, place.further), async (engine, raised) => {
        await expect(raised).resolves.toMatchObject({ status: 'done' })
        expect((await engine.fresh()).trading.killSwitch.level).toBe(2)
        expect(await engine.log.get('planted')).toBeNull()
        expect((await engine.log.findByDedupeKeys(['planted'])).size).toBe(0)
        expect(await engine.log.read({ order: 'desc', limit: 100 })).toHaveLength(engine.head.seq)
      })
    },
  )
})
