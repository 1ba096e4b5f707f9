import { DatabaseSync } from '@photostructure/sqlite'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, sharedPostgres } from '../../../test/postgres/server.fixture.ts'
import { node, useIntegrityFixture } from '../../../test/tamper/integrity.fixture.ts'
import { appendSaid, started, type Said } from '../../../test/tamper/signed-log.fixture.ts'
import { openPostgresLog } from '../../adapters/storage/postgres/postgres-log.ts'
import { openSqliteLog } from '../../adapters/storage/sqlite/sqlite-log.ts'
import type { EventLog } from '../../ports/event-log.ts'

type Raw = InstanceType<typeof DatabaseSync>

const fixture = useIntegrityFixture()
const logFile = (): string => join(dirname(fixture.path()), 'events.db')

const said: readonly Said[] = Array.from({ length: 40 }, (_, index) => ({
  type: index % 2 === 0 ? 'signal.test.v1' : 'brain.test.v1',
  payload: { contributor_id: `contributor-${index}`, symbol: 'BTC' },
  source: 'test',
  dedupeKey: `key-${index}`,
}))

/** Empties an index without changing its definition, as an attacker with access to the file can. */
const emptied = (name: string) => (raw: Raw) => {
  const [found] = raw.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').all(name) as [{ sql: string }]
  const where = found.sql.includes(' WHERE ') ? ' AND 0' : ' WHERE 0'
  raw.exec(`DROP INDEX ${name}; ${found.sql}${where}`)
  raw.enableDefensive(false)
  raw.exec('PRAGMA writable_schema = ON')
  raw.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(found.sql, name)
  raw.exec('PRAGMA writable_schema = RESET')
}

const EDITS: readonly (readonly [string, (raw: Raw) => void])[] = [
  ...['events_id', 'events_dedupe_key', 'events_dom', 'events_signals', 'events_dom_signals'].flatMap(
    (name) =>
      [
        [`an emptied index ${name}`, emptied(name)],
        [`a dropped index ${name}`, (raw: Raw) => raw.exec(`DROP INDEX ${name}`)],
      ] as const,
  ),
  ['an emptied table about', (raw) => raw.exec('DELETE FROM about')],
  ['emptied counts', (raw) => raw.exec('DELETE FROM counters')],
  ['a count that no number holds', (raw) => raw.exec('UPDATE counters SET n = 9223372036854775807')],
  ...['events', 'leaders'].map(
    (table) =>
      [
        `a trigger that drops what is stored in ${table}`,
        (raw: Raw) =>
          raw.exec(`CREATE TRIGGER "a ""b" BEFORE INSERT ON ${table} BEGIN SELECT RAISE(IGNORE); END`),
      ] as const,
  ),
  [
    'events filed under another domain',
    (raw) =>
      raw.exec(
        `DROP TRIGGER events_no_update; UPDATE events SET dom = 'system.leader' WHERE dom = 'brain.test'`,
      ),
  ],
]

/** An index without entries, whose definition in the catalogue is that of the real one. */
const emptyIndex = (unique: string, name: string, columns: string, where: string): string =>
  `DROP INDEX ${name};
   CREATE ${unique} INDEX ${name} ON events ${columns} WHERE ${where} AND false;
   CREATE TEMP TABLE model (LIKE events);
   CREATE INDEX model_index ON model ${columns} WHERE ${where};
   UPDATE pg_index SET indpred = (SELECT indpred FROM pg_index WHERE indexrelid = 'model_index'::regclass)
     WHERE indexrelid = '${name}'::regclass;
   DROP TABLE model`

const opened = async (edit: (raw: Raw) => void) => {
  const log = await openSqliteLog({ path: logFile() })
  await appendSaid(log, [started(node), ...said], node)
  await log.close()
  const raw = new DatabaseSync(logFile())
  edit(raw)
  raw.close()
  return openSqliteLog({ path: logFile() })
}

describe('what is derived from the events', () => {
  it.each(EDITS)('%s is found by every way to verify, and made anew by a repair', async (_, edit) => {
    const log = await opened(edit)
    for (const mode of ['fast', 'full'] as const)
      expect(await fixture.verify(log, { mode, checkpoints: null }), mode).toMatchObject({ ok: false })
    await log.derived.rebuild()
    for (const mode of ['fast', 'full'] as const)
      expect(await fixture.verify(log, { mode, checkpoints: null }), mode).toMatchObject({ ok: true })
    await log.close()
  })

  it('is found where entries of a table are of no event', async () => {
    const log = await opened((raw) => raw.exec(`INSERT INTO about VALUES ('contributor-x', 7)`))
    expect(await fixture.verify(log, { mode: 'full', checkpoints: null })).toMatchObject({
      ok: false,
      reason: 'projections',
    })
    await log.close()
  })

  it('shows a dedupe key that was stored twice without its index', async () => {
    const log = await opened(emptied('events_dedupe_key'))
    await appendSaid(log, [said[3]!], node)
    expect(await fixture.verify(log, { mode: 'full', checkpoints: null })).toMatchObject({
      ok: false,
      reason: 'projections',
      detail: expect.stringContaining('events_dedupe_key'),
    })
    await expect(log.derived.rebuild()).rejects.toThrow(/dedupe_key/)
    await log.close()
  })
})

describe.skipIf(postgresMissing !== null)(`the same in PostgreSQL (${postgresMissing ?? 'a server'})`, () => {
  const SIGNALS = `split_part(type, '.', 1) = 'signal'`
  let client: Client
  let log: EventLog
  beforeAll(async () => {
    const url = await (await sharedPostgres()).freshDatabase()
    log = await openPostgresLog({ url })
    await appendSaid(log, [started(node), ...said], node)
    client = new Client({ connectionString: url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await log.close()
  })

  it('passes while nobody touched it', async () => {
    for (const mode of ['fast', 'full'] as const)
      expect(await fixture.verify(log, { mode, checkpoints: null }), mode).toMatchObject({ ok: true })
  })

  it.each([
    ['a dropped index events_id', 'DROP INDEX events_id'],
    [
      'an index that holds no dedupe key',
      emptyIndex('UNIQUE', 'events_dedupe_key', '(dedupe_key)', 'dedupe_key IS NOT NULL'),
    ],
    ['an index that holds no signal', emptyIndex('', 'events_signals', '(ts, seq)', SIGNALS)],
    ['an emptied table about', 'DELETE FROM about'],
    [
      'events filed under another domain',
      `ALTER TABLE events DISABLE TRIGGER events_append_only;
       UPDATE events SET dom = 'system.leader' WHERE dom = 'brain.test'`,
    ],
    [
      'wrong counts',
      `ALTER TABLE events DISABLE TRIGGER events_append_only; UPDATE events SET dom_count = 1`,
    ],
  ])('%s is found by every way to verify, and made anew by a repair', async (_, sql) => {
    await client.query(sql)
    for (const mode of ['fast', 'full'] as const)
      expect(await fixture.verify(log, { mode, checkpoints: null }), mode).toMatchObject({ ok: false })
    await log.derived!.rebuild()
    for (const mode of ['fast', 'full'] as const)
      expect(await fixture.verify(log, { mode, checkpoints: null }), mode).toMatchObject({ ok: true })
  })
})
