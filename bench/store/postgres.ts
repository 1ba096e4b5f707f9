import { Client } from 'pg'
import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import type { Head, LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { startPostgres } from '../../test/postgres/server.fixture.ts'
import { interleave, medianRatio, type BenchRow } from '../harness.ts'
import { openTextbook, ratePerSecond, TEXTBOOK_WRITERS } from './postgres-textbook.ts'
import { lastHead, recordsOf, sampleEvents } from './sample-events.ts'

const CALLERS = 64
const BATCH = 100
// Two batches are always on their way: while the server stores one, the next is prepared here.
const GROUP_MAX = CALLERS / 2
const GROUPS_IN_FLIGHT = 3
/** Warm-up until all code is compiled and the server has filled its memory, because a service runs for weeks. */
const WARM_UP_MS = 3_000
/**
 * Autovacuum is off: small tables that grow would be vacuumed and analyzed every minute, during a random case. Large
 * tables rarely are.
 */
const SERVER = { shared_buffers: '256MB', max_wal_size: '4GB', autovacuum: 'off' } as const

/** Cost of the log over PostgreSQL and its savings, each against a baseline on the same server in the same rounds. */
export const benchPostgres = async (rounds = 7, roundMs = 1_500): Promise<readonly BenchRow[]> => {
  const server = await startPostgres(SERVER)
  try {
    const here = await benchDatabase(await server.freshDatabase(), rounds, roundMs)
    const slow = await benchDatabase(await withSlowSync(await server.freshDatabase()), rounds, roundMs)
    const appends = `PostgreSQL appends/s, group commit, ${CALLERS} callers`
    const textbook = `SELECT ... FOR UPDATE, ${TEXTBOOK_WRITERS} writers`
    return [
      {
        id: 'T8',
        what: appends,
        value: here.grouped,
        target: '>= 12',
        baseline: `${textbook}, on this disk`,
      },
      {
        id: 'T8 1ms',
        what: appends,
        value: slow.grouped,
        target: '>= 12',
        baseline: `${textbook}, each sync ${SLOW_SYNC_US / 1000} ms longer`,
      },
      {
        id: 'T8b',
        what: `PostgreSQL events/s, chained batches of ${BATCH}`,
        value: here.chained,
        target: '',
        baseline: `unnest insert without chain, batches of ${BATCH}`,
      },
    ]
  } finally {
    await server.stop()
  }
}

const benchDatabase = async (
  url: string,
  rounds: number,
  roundMs: number,
): Promise<{ readonly grouped: number; readonly chained: number }> => {
  const log = await openPostgresLog({ url })
  const textbook = await openTextbook(url)
  const casesOf = (durationMs: number) => ({
    groupCommit: () => groupCommit(log, durationMs),
    lockedHead: () => textbook.appendUnderLock(durationMs),
    chained: () => chainedBatches(log, durationMs),
    raw: () => textbook.insertBatches(BATCH, durationMs),
  })
  await interleave(1, casesOf(WARM_UP_MS))
  const rates = await interleave(rounds, casesOf(roundMs))
  await log.close()
  await textbook.close()
  return {
    grouped: medianRatio(rates.groupCommit, rates.lockedHead),
    chained: medianRatio(rates.chained, rates.raw),
  }
}

const SLOW_SYNC_US = 1_000

/**
 * Simulates a slower disk: every commit waits before it syncs, and blocks the others meanwhile. The advantage of group
 * commit over a commit per event depends mostly on the duration of a sync.
 */
const withSlowSync = async (url: string): Promise<string> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  const name = rows[0]?.name ?? ''
  await client.query(`ALTER DATABASE ${name} SET commit_delay = ${SLOW_SYNC_US}`)
  await client.query(`ALTER DATABASE ${name} SET commit_siblings = 0`)
  await client.end()
  return url
}

interface Caller {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Callers append one event each and wait. All events that wait when the writer is free become one batch. */
const groupCommit = async (log: EventLog, durationMs: number): Promise<number> => {
  let head = await log.head()
  const waiting: Caller[] = []
  let inFlight = 0
  const storeWaiting = (): void => {
    if (inFlight >= GROUPS_IN_FLIGHT || waiting.length === 0) return
    const callers = waiting.splice(0, GROUP_MAX)
    const expected = head
    const records = recordsOf(sampleEvents(expected.seq, callers.length), expected)
    head = lastHead(records, expected)
    inFlight += 1
    appendAll(log, records, expected)
      .then(
        () => callers.forEach(({ resolve }) => resolve()),
        (error: unknown) => callers.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        inFlight -= 1
        // Answered callers append again before the next batch is formed.
        setImmediate(storeWaiting)
      })
  }
  const append = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      setImmediate(storeWaiting)
    })
  return ratePerSecond(append, { durationMs, callers: CALLERS, eventsPerCall: 1 })
}

const chainedBatches = async (log: EventLog, durationMs: number): Promise<number> => {
  let head = await log.head()
  const append = async (): Promise<void> => {
    const records = recordsOf(sampleEvents(head.seq, BATCH), head)
    await appendAll(log, records, head)
    head = lastHead(records, head)
  }
  return ratePerSecond(append, { durationMs, callers: 1, eventsPerCall: BATCH })
}

const appendAll = async (log: EventLog, records: readonly LogRecord[], expected: Head): Promise<void> => {
  const { status } = await log.append(records, expected)
  if (status !== 'appended') throw new Error('nobody else may append during the measurement')
}
