import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import type { Head, LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { startPostgres } from '../../test/postgres/server.ts'
import { interleave, medianRatio, type BenchRow } from '../harness.ts'
import { openTextbook, ratePerSecond, TEXTBOOK_WRITERS } from './postgres-textbook.ts'
import { lastHead, recordsOf, sampleEvents } from './sample-events.ts'

const CALLERS = 64
const BATCH = 100
// Two batches are always on their way: while the server stores one, the next is made here.
const GROUP_MAX = CALLERS / 2
const GROUPS_IN_FLIGHT = 3

/** What the log adds to PostgreSQL and what it saves, each against a baseline on the same server in the same rounds. */
export const benchPostgres = async (rounds = 7, roundMs = 1_500): Promise<readonly BenchRow[]> => {
  const server = await startPostgres({ shared_buffers: '256MB', max_wal_size: '4GB' })
  try {
    const url = await server.freshDatabase()
    const log = await openPostgresLog({ url })
    const textbook = await openTextbook(url)
    const rates = await interleave(rounds, {
      groupCommit: () => groupCommit(log, roundMs),
      lockedHead: () => textbook.appendUnderLock(roundMs),
      chained: () => chainedBatches(log, roundMs),
      raw: () => textbook.insertBatches(BATCH, roundMs),
    })
    await log.close()
    await textbook.close()
    return [
      {
        id: 'T8',
        what: `PostgreSQL appends/s, group commit, ${CALLERS} callers`,
        value: medianRatio(rates.groupCommit, rates.lockedHead),
        target: '>= 25',
        baseline: `SELECT ... FOR UPDATE, ${TEXTBOOK_WRITERS} writers`,
      },
      {
        id: 'T8b',
        what: `PostgreSQL events/s, chained batches of ${BATCH}`,
        value: medianRatio(rates.chained, rates.raw),
        target: '>= 0.80',
        baseline: `unnest insert without chain, batches of ${BATCH}`,
      },
    ]
  } finally {
    await server.stop()
  }
}

interface Caller {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Callers append one event each and wait; whatever waits when the writer has a place becomes one batch. */
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
        // Callers that were answered come back before the next batch is cut.
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
