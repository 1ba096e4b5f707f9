import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { sampleEvents } from './sample-events.ts'
import { appendAll, inBatches } from './sqlite-fill.ts'

export interface SqliteBenchOptions {
  readonly rounds?: number
  /** Number of events in the large log. */
  readonly events?: number
}

const SMALL_EVENTS = 10_000
const WINDOW = 5000
const BATCH = 256
const READS = 100

/** Cost of a long log compared with a short one, each in the same rounds. */
export const benchSqlite = async ({ rounds = 7, events = 1_000_000 }: SqliteBenchOptions = {}): Promise<
  readonly BenchRow[]
> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-sqlite-'))
  try {
    return await benchGrowth(folder, rounds, events)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const benchGrowth = async (folder: string, rounds: number, events: number): Promise<readonly BenchRow[]> => {
  const large = await openFilled(join(folder, 'large.db'), events)
  const small = await openFilled(join(folder, 'small.db'), SMALL_EVENTS)
  const reads = await interleave(rounds, { large: () => readMs(large), small: () => readMs(small) })
  const appends = await interleave(rounds, { large: () => appendRate(large), small: () => appendRate(small) })
  await Promise.all([large.close(), small.close()])
  return [
    {
      id: 'append growth',
      what: `appends/s at ${events} events, each with a random dedupe key (${Math.round(median(appends.large))}/s)`,
      value: medianRatio(appends.large, appends.small),
      target: '>= 0.7',
      baseline: `from ${SMALL_EVENTS} events on (${Math.round(median(appends.small))}/s)`,
    },
    {
      id: 'read growth',
      what: `time of the newest 100 of a domain, about a symbol and by time, at ${events} events`,
      value: medianRatio(reads.large, reads.small),
      target: '<= 1.3',
      baseline: `at ${SMALL_EVENTS} events`,
    },
  ]
}

/** Rows as the log would have stored them, without a chain: SQLite generates them faster than the engine could. */
const openFilled = async (path: string, events: number): Promise<EventLog> => {
  await (await openSqliteLog({ path })).close()
  const [template] = sampleEvents(0, 1)
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA synchronous = OFF; BEGIN;
    WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ${events})
    INSERT INTO events
    SELECT value, printf('00000000-0000-7000-8000-%012x', value), 'signal.ta.v1', 'signal.ta',
      strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + value / 1000.0, 'unixepoch'), 'v1', 'producer:technical-analysis', NULL,
      'ta:' || lower(hex(randomblob(16))), json_set('${JSON.stringify(template?.payload)}', '$.ema_20', value),
      '${'ab'.repeat(32)}', '${'ab'.repeat(32)}', '${'a1'.repeat(64)}', 'svc-0123456789abcdef',
      '2026-01-01T00:00:00.000Z', NULL
    FROM numbers;
    INSERT INTO about SELECT 'symbol:SYM' || (seq % 50) || '/USDT', seq FROM events;
    INSERT INTO about SELECT 'source:producer:technical-analysis', seq FROM events;
    INSERT INTO counters VALUES ('signal.ta', ${events});
    COMMIT`)
  db.close()
  return openSqliteLog({ path })
}

const appendRate = async (log: EventLog): Promise<number> => {
  // Created before the clock runs, because creating samples is no part of appending.
  const events = sampleEvents((await log.head()).seq, WINDOW)
  return rateOf(WINDOW, () => appendAll(log, inBatches(events, BATCH)))
}

const readMs = async (log: EventLog): Promise<number> => {
  const page = { order: 'desc', limit: 100 } as const
  const rate = await rateOf(READS, async () => {
    for (let read = 0; read < READS; read += 1) {
      await log.read({ ...page, types: ['signal.ta'] })
      await log.read({ ...page, about: 'symbol:SYM7/USDT' })
      await log.readByTime({ domain: 'signal.ta', limit: 100, offset: 0 })
    }
  })
  return 1000 / rate
}
