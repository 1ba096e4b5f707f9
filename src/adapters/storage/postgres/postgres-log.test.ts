import { Client } from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { everything } from '../../../../test/postgres/records.fixture.ts'
import {
  postgresMissing,
  sharedPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, headAfter, recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { eventLogContract, type Tampering } from '../../../ports/event-log.contract.ts'
import { StoreUnavailableError, type EventLog } from '../../../ports/event-log.ts'
import { connectionPool } from './connection.ts'
import { openPostgresLog } from './postgres-log.ts'
import { queryThrough } from './records.ts'

describe.skipIf(postgresMissing !== null)(`the PostgreSQL log (${postgresMissing ?? 'real server'})`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await sharedPostgres()
  })

  describe('as a log', () => {
    const urls = new WeakMap<EventLog, string>()
    const openAt = async (url: string): Promise<EventLog> => {
      const log = await openPostgresLog({ url })
      urls.set(log, url)
      return log
    }
    const urlOf = (log: EventLog): string => urls.get(log) ?? ''

    eventLogContract('postgres', {
      open: async () => openAt(await server.freshDatabase()),
      reopen: async (log) => {
        await log.close()
        return openAt(urlOf(log))
      },
      second: (log) => openAt(urlOf(log)),
      tamper: (log, change) => tamper(urlOf(log), change),
      manyKeys: 2_500,
    })
  })

  describe('opening', () => {
    let url: string
    beforeEach(async () => {
      url = await server.freshDatabase()
    })

    it('creates the tables once, however many open at the same time', async () => {
      const logs = await Promise.all(Array.from({ length: 6 }, () => openPostgresLog({ url })))
      for (const log of logs) await appendTo(log, 1)
      expect(await logs[0]?.count()).toBe(6)
      await Promise.all(logs.map((log) => log.close()))
    })

    it.each([
      ['5', ''],
      ['4', 'DROP TABLE leaders; DROP TABLE lease;'],
    ])('brings a log of format version %s up to date', async (version, older) => {
      const before = await openPostgresLog({ url })
      const records = (await appendTo(before, 3)).map((record) => ({ ...record, commands: null }))
      const head = await before.head()
      await before.close()
      await run(
        url,
        `ALTER TABLE events DROP COLUMN commands; ${older} UPDATE meta SET value = '${version}' WHERE name = 'format_version'`,
      )
      const after = await openPostgresLog({ url })
      expect(await after.head()).toEqual(head)
      expect(await after.read({ order: 'asc', limit: 10 })).toEqual(records)
      expect(await after.append(recordsAfter(head, 1), head, 1)).toEqual({ status: 'fenced' })
      const added = recordsAfter(head, 1)
      expect(await after.append(added, head)).toEqual({ status: 'appended' })
      expect(await after.read({ order: 'desc', limit: 1 })).toEqual(added)
      await after.close()
    })

    it('refuses a format it does not know', async () => {
      await (await openPostgresLog({ url })).close()
      await run(url, `UPDATE meta SET value = '999' WHERE name = 'format_version'`)
      await expect(openPostgresLog({ url })).rejects.toThrow('format version 999')
    })

    it('refuses a database of another encoding', async () => {
      await run(server.url, `CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`)
      const latin = server.url.replace('/postgres?', '/latin?')
      await expect(openPostgresLog({ url: latin })).rejects.toThrow('UTF8')
    })

    it('refuses an address of something else', async () => {
      await expect(openPostgresLog({ url: 'mysql://localhost/log' })).rejects.toThrow('postgres://')
    })

    it('tells a server that is not there from a bug', async () => {
      await expect(openPostgresLog({ url: `${url}-unknown` })).rejects.toThrow(StoreUnavailableError)
    })
  })

  describe('using it', () => {
    let url: string
    let log: EventLog
    beforeEach(async () => {
      url = await server.freshDatabase()
      log = await openPostgresLog({ url, readConnectionsMax: 2 })
      return () => log.close()
    })

    it.each(['UPDATE events SET source = NULL', 'DELETE FROM events', 'TRUNCATE events'])(
      'never allows %s',
      async (statement) => {
        await appendTo(log, 1)
        await expect(run(url, statement)).rejects.toThrow('append only')
        expect(await log.count()).toBe(1)
      },
    )

    it('gives a statement up that the server cannot finish in time', async () => {
      const impatient = await openPostgresLog({ url, statementTimeoutMs: 200 })
      const rival = new Client({ connectionString: url })
      await rival.connect()
      await rival.query('BEGIN; LOCK TABLE events IN SHARE MODE')
      const records = recordsAfter(EMPTY_HEAD, 1)
      await expect(impatient.append(records, EMPTY_HEAD)).rejects.toThrow(StoreUnavailableError)
      await rival.end()
      expect(await log.append(records, EMPTY_HEAD)).toEqual({ status: 'appended' })
      await impatient.close()
    })

    it.each([
      ['a full disk', '53100'],
      ['too little memory', '53200'],
      ['a failed disk', '58030'],
      ['a server that became a standby', '25006'],
    ])('is unavailable for %s, and available again after it', async (_, code) => {
      await run(url, refuseInserts(code))
      const records = recordsAfter(EMPTY_HEAD, 1)
      await expect(log.append(records, EMPTY_HEAD)).rejects.toThrow(StoreUnavailableError)
      await run(url, 'DROP TRIGGER refuse ON events')
      expect(await log.append(records, EMPTY_HEAD)).toEqual({ status: 'appended' })
    })

    it('does not call a refusal unavailable that will come again', async () => {
      await run(url, refuseInserts('22000'))
      const refused = await log
        .append(recordsAfter(EMPTY_HEAD, 1), EMPTY_HEAD)
        .catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(Error)
      expect(refused).not.toBeInstanceOf(StoreUnavailableError)
    })

    it('goes on where a small integer ends', async () => {
      await appendTo(log, 1)
      const [last] = recordsAfter({ ...(await log.head()), seq: 2 ** 31 + 8 }, 1)
      if (last === undefined) throw new Error('one was asked for')
      await run(
        url,
        `INSERT INTO events SELECT $1, $2, type, dom, ts, schema_version, source, trace_id, NULL, payload, hash,
         decode($3, 'hex'), signature, signer, recorded_at, batch_signature, 2 FROM events`,
        [last.seq, last.id, last.hash],
      )
      const stored = await appendTo(log, 3, (seq) => ({
        type: 'brain.cycle.v1',
        payload: { order_id: `o${seq}` },
      }))
      expect(stored[0]?.seq).toBe(2 ** 31 + 10)
      await log.close()
      log = await openPostgresLog({ url })
      expect(await log.read({ types: ['brain.cycle'], order: 'asc', limit: 5 })).toEqual(stored)
      expect(await log.read({ about: `o${stored[1]?.seq}`, order: 'asc', limit: 5 })).toEqual([stored[1]])
    })

    it('takes a thousand waiting appends and no more', async () => {
      const records = recordsAfter(EMPTY_HEAD, 1_001)
      const outcomes = await Promise.allSettled(
        records.map((record, index) => log.append([record], headAfter(records.slice(0, index)))),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_000)
      expect(outcomes.at(-1)).toMatchObject({ reason: { name: 'StoreUnavailableError' } })
      expect(await everything(log)).toEqual(records.slice(0, 1_000))
    })

    it('lets a read wait for a free connection longer than for a server that does not answer', async () => {
      const pool = connectionPool({ url, statementTimeoutMs: 10_000 }, 1)
      const [, row] = await Promise.all([
        pool.query('SELECT pg_sleep(2.2)'),
        queryThrough(pool)({ text: 'SELECT 1', values: [] }),
      ])
      expect(row).toEqual([['1']])
      await pool.end()
    })

    it('takes a thousand waiting reads besides those under way, and no more', async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 1_003 }, () => log.count()))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_002)
      expect(outcomes.at(-1)).toMatchObject({ reason: { name: 'StoreUnavailableError' } })
    })

    it('ends with closing, which may be said twice, also at once', async () => {
      await appendTo(log, 1)
      await Promise.all([log.close(), log.close()])
      await log.close()
      const records = recordsAfter(EMPTY_HEAD, 1)
      await expect(log.append(records, EMPTY_HEAD)).rejects.toThrow('the log is closed')
      await expect(log.head()).rejects.toThrow('the log is closed')
      expect(() => log.watch(() => undefined)).toThrow('the log is closed')
    })
  })
})

const refuseInserts = (code: string): string => `
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON events EXECUTE FUNCTION refuse()`

const COLUMN_OF: Readonly<Record<string, string>> = {
  schemaVersion: 'schema_version',
  traceId: 'trace_id',
  dedupeKey: 'dedupe_key',
  prevHash: 'prev_hash',
  recordedAt: 'recorded_at',
}

const tamper = async (url: string, change: Tampering): Promise<void> => {
  await run(url, 'ALTER TABLE events DISABLE TRIGGER events_append_only')
  await run(url, 'DROP INDEX IF EXISTS events_id, events_dedupe_key')
  switch (change.kind) {
    case 'change':
      for (const [member, value] of Object.entries(change.columns)) {
        const column = COLUMN_OF[member] ?? member
        const bytes = ['hash', 'prev_hash', 'signature'].includes(column)
        await run(url, `UPDATE events SET ${column} = ${bytes ? `decode($2, 'hex')` : '$2'} WHERE seq = $1`, [
          change.seq,
          value,
        ])
      }
      return
    case 'delete':
      return run(url, 'DELETE FROM events WHERE seq = $1', [change.seq])
    case 'renumber':
      return run(url, 'UPDATE events SET seq = $2 WHERE seq = $1', [change.seq, change.to])
  }
}

const run = async (url: string, statement: string, values: readonly unknown[] = []): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement, [...values])
  } finally {
    await client.end()
  }
}
