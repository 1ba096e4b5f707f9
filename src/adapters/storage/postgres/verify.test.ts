import fc from 'fast-check'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresMissing,
  sharedPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, sha256Hex } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD, headOf } from '../../../core/log/event.ts'
import { chainFaultOf, missingFault, type ChainFault, type EventLog } from '../../../ports/event-log.ts'
import { connectionPool } from './connection.ts'
import { openPostgresLog } from './postgres-log.ts'
import { queryThrough, type Query } from './records.ts'
import { verifyHashes } from './verify.ts'

const EVENTS = 30

describe.skipIf(postgresMissing !== null)(
  `verification by the server (${postgresMissing ?? 'PostgreSQL'})`,
  () => {
    let server: PostgresServer
    let client: Client
    let log: EventLog
    let pool: Pool
    let query: Query
    beforeAll(async () => {
      server = await sharedPostgres()
      const url = await server.freshDatabase()
      log = await openPostgresLog({ url })
      pool = connectionPool({ url, statementTimeoutMs: 10_000 }, 2)
      query = queryThrough(pool)
      await appendTo(log, EVENTS, (seq) => ({
        traceId: seq % 2 === 0 ? 'trace' : null,
        dedupeKey: seq % 3 === 0 ? `key-${seq}` : null,
        payload: { text: 'Größe 😀 | ok' },
      }))
      client = new Client({ connectionString: url })
      await client.connect()
      await client.query('ALTER TABLE events DISABLE TRIGGER events_append_only')
    })
    afterAll(async () => {
      await Promise.all([client.end(), pool.end(), log.close()])
    })

    it('tells how far it is', async () => {
      const steps: number[] = []
      const onProgress = (checked: number): void => void steps.push(checked)
      expect(await verifyHashes(query, { after: 10, upTo: EVENTS, onProgress }, 4)).toEqual({
        ok: true,
        checked: 20,
      })
      expect(steps).toEqual([8, 16, 20])
    })

    it('finds what a check of every row by hand finds, however it is sliced', async () => {
      await fc.assert(
        fc.asyncProperty(changes, fc.nat(5), slice, async (statements, after, sliceEvents) => {
          await tampered(statements, async () => {
            const fault = await firstFaultByHand(log, after, EVENTS)
            expect(await verifyHashes(query, { after, upTo: EVENTS }, sliceEvents)).toEqual(
              fault === null
                ? { ok: true, checked: EVENTS - after }
                : { ok: false, checked: Math.max(0, fault.seq - after - 1), ...fault },
            )
          })
        }),
        { numRuns: 150 },
      )
    })

    /** Damages the database for all connections, runs the check, and undoes the damage. */
    const tampered = async (statements: readonly string[], check: () => Promise<void>): Promise<void> => {
      await client.query('CREATE TABLE kept AS TABLE events')
      try {
        for (const statement of statements) await client.query(statement).catch(refusedByDatabase)
        await check()
      } finally {
        await client.query('TRUNCATE events; INSERT INTO events TABLE kept; DROP TABLE kept')
      }
    }
  },
)

/** Ignores the refusal of equal keys: not even an administrator can create them while the index exists. */
const refusedByDatabase = (error: unknown): void => {
  if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error
}

const UNIQUE_VIOLATION = '23505'

const slice = fc.integer({ min: 1, max: EVENTS })
const seq = fc.integer({ min: 1, max: EVENTS })
const text = fc.constantFrom(
  'id',
  'type',
  'ts',
  'schema_version',
  'source',
  'trace_id',
  'dedupe_key',
  'payload',
  'recorded_at',
)
const optional = fc.constantFrom('source', 'trace_id', 'dedupe_key')
const bytes = fc.constantFrom('hash', 'prev_hash')
const set = (column: string, value: string, at: number): string =>
  `UPDATE events SET ${column} = ${value} WHERE seq = ${at}`
const changes = fc.array(
  fc.oneof(
    fc
      .tuple(text, fc.constantFrom('x', '|', '\n'), seq)
      .map(([column, more, at]) => set(column, `concat(${column}, '${more}')`, at)),
    fc
      .tuple(optional, fc.constantFrom('NULL', `''`), seq)
      .map(([column, value, at]) => set(column, value, at)),
    fc.tuple(bytes, seq).map(([column, at]) => set(column, `''`, at)),
    seq.map((at) => set('recorded_at', `'1970-01-01T00:00:00.000Z'`, at)),
    seq.map((at) => set('signature', 'NULL', at)),
    seq.map((at) => `DELETE FROM events WHERE seq = ${at}`),
  ),
  { minLength: 1, maxLength: 3 },
)

const firstFaultByHand = async (log: EventLog, after: number, upTo: number): Promise<ChainFault | null> => {
  const [start] = await log.read({ after: after - 1, before: after + 1, order: 'asc', limit: 1 })
  if (after > 0 && start === undefined) return missingFault(after)
  let previous = start === undefined ? EMPTY_HEAD : headOf(start)
  for await (const page of log.scan({ after, upTo })) {
    for (const record of page) {
      const fault = chainFaultOf(previous, record, sha256Hex)
      if (fault !== null) return fault
      previous = headOf(record)
    }
  }
  return previous.seq < upTo ? missingFault(previous.seq + 1) : null
}
