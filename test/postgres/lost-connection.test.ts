import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import { domainOf, type LogRecord, stampedFrom } from '../../src/core/log/event.ts'
import { refsOf } from '../../src/core/log/refs.ts'
import { type EventLog, StoreUnavailableError } from '../../src/ports/event-log.ts'
import { appendTo, headAfter, recordsAfter } from '../records.fixture.ts'
import { openLine, type Line } from './line.fixture.ts'
import { everything } from './records.fixture.ts'
import { postgresMissing, startPostgres, type PostgresServer } from './server.fixture.ts'

const BATCH = 3
/** Time for which an append whose answer was lost queries its outcome. */
const CLEAR_UP_TIMEOUT_MS = 10_000

describe.skipIf(postgresMissing !== null)(`a lost connection (${postgresMissing ?? 'PostgreSQL'})`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  describe('at an exact moment', () => {
    let directUrl: string
    let line: Line
    let log: EventLog
    beforeEach(async () => {
      directUrl = await server.freshDatabase()
      line = await openLine(directUrl)
      log = await openPostgresLog({ url: line.url })
      await appendTo(log, BATCH)
    })
    afterEach(async () => {
      await log.close()
      await line.close()
    })

    it('after the commit: the append succeeded', async () => {
      const head = await log.head()
      const records = recordsAfter(head, BATCH)
      line.loseNextAnswer()
      expect(await log.append(records, head)).toEqual({ status: 'appended' })
      expect(await log.head()).toEqual(headAfter(records))
    })

    it('before the commit: nothing was stored, and the next append works', async () => {
      const head = await log.head()
      line.loseNextRequest()
      await expect(log.append(recordsAfter(head, BATCH), head)).rejects.toThrow(StoreUnavailableError)
      expect(await log.head()).toEqual(head)
      expect(await log.append(recordsAfter(head, BATCH), head)).toEqual({ status: 'appended' })
    })

    it('between two pipelined appends: each is told its own truth', async () => {
      const head = await log.head()
      const first = recordsAfter(head, BATCH)
      const second = recordsAfter(headAfter(first), BATCH)
      line.loseNextAnswer()
      const [one, two] = await Promise.allSettled([
        log.append(first, head),
        log.append(second, headAfter(first)),
      ])
      const stored = new Set((await everything(log)).map(({ hash }) => hash))
      expectTruth(one, first, stored)
      expectTruth(two, second, stored)
    })

    it('before a new connection can read: the read fails, the next one does not', async () => {
      const fresh = await openPostgresLog({ url: line.url })
      line.loseRequestWith('signal-engine reader')
      await expect(fresh.head()).rejects.toThrow(StoreUnavailableError)
      expect(await fresh.head()).toEqual(await log.head())
      await fresh.close()
    })

    it('while the server still waits: what was given up never appears', async () => {
      const head = await log.head()
      const rival = await waitingRival(directUrl, head.seq)
      const given = log.append(recordsAfter(head, BATCH), head)
      await untilWaiting(server.url)
      line.abandon()
      await expect(given).rejects.toThrow(StoreUnavailableError)
      await rival.end()
      await sleep(50)
      expect(await log.head()).toEqual(head)
    })
  })

  it('hits the writer again and again: no half batch, nothing acknowledged is lost', async () => {
    const url = await server.freshDatabase()
    const log = await openPostgresLog({ url })
    const admin = await connected(url)
    const kindsOf = (attempts: readonly Attempt[]): number =>
      new Set(attempts.map(({ outcome }) => outcome.status)).size
    const outcomes = await appendWhile(log, async (attempts) => {
      // On a busy machine it takes longer until some are hit and some are not.
      for (let round = 0; round < 30 || (kindsOf(attempts) < 2 && round < 2000); round += 1) {
        await sleep(round < 30 ? 15 : round % 60)
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name LIKE 'signal-engine writer%' AND datname = current_database()`,
        )
      }
    })
    await admin.end()
    await expectAllTrue(log, outcomes)
    expect(kindsOf(outcomes), 'it must have hit some').toBe(2)
    await log.close()
  })

  it('comes with a crash of the server: nothing acknowledged is lost and the log recovers by itself', async () => {
    const log = await openPostgresLog({ url: await server.freshDatabase() })
    let calls = 0
    log.watch(() => {
      calls += 1
    })
    const outcomes = await appendWhile(log, async () => {
      for (let round = 0; round < 2; round += 1) {
        await sleep(150)
        await server.kill()
        await sleep(100)
        await server.restart()
      }
      await sleep(150)
    })
    await expectAllTrue(log, outcomes)
    // The listening connection came back too.
    const callsBefore = calls
    await appendTo(log, BATCH)
    await expect.poll(() => calls).toBeGreaterThan(callsBefore)
    await log.close()
  })

  it('leads to a standby: what it has not received is not called lost, and the primary says what is true', async () => {
    const url = await server.freshDatabase()
    const log = await openPostgresLog({ url })
    await appendTo(log, BATCH)
    const head = await log.head()
    const rival = await waitingRival(url, head.seq)
    const given = log.append(recordsAfter(head, BATCH), head).catch(String)
    await untilWaiting(server.url)
    const lostMs = performance.now()
    // Killed, not stopped: a stop may end the rival first, and the append is stored after all.
    await server.kill()
    await server.restartAsStandby()
    await expect(log.append(recordsAfter(head, BATCH), head)).rejects.toThrow(StoreUnavailableError)
    // Longer than the longest pause of a writer that tries to connect again.
    const onStandby = await Promise.race([given, sleep(1_000, 'no answer yet')])
    const headOnStandby = await log.head()
    // Before anything is expected: the next test needs a primary.
    const admin = await connected(server.url)
    await admin.query('SELECT pg_promote()')
    const answer = await given
    // On a slow machine the standby may come too late for the time that an append waits for the truth.
    const isLate = performance.now() - lostMs > CLEAR_UP_TIMEOUT_MS
    const unknown = isLate ? '|unknown whether the batch was stored' : ''
    expect(onStandby).toMatch(new RegExp(`^no answer yet$${unknown}`))
    expect(headOnStandby).toEqual(head)
    expect(answer).toMatch(new RegExp(`nothing was stored, the connection was lost${unknown}`))
    expect(await log.append(recordsAfter(head, BATCH), head)).toEqual({ status: 'appended' })
    for (const client of [admin, rival]) await client.end()
    await log.close()
  })

  it('leaves every call an error while the server is away, and no log to open', async () => {
    const url = await server.freshDatabase()
    const log = await openPostgresLog({ url })
    const [record] = await appendTo(log, BATCH)
    const head = await log.head()
    await server.kill()
    const calls = [
      log.head(),
      log.read({ order: 'asc', limit: 1 }),
      log.count(),
      log.get(record?.id ?? ''),
      log.verifyHashes({ after: 0, upTo: 3 }),
      log.append(recordsAfter(head, BATCH), head),
      openPostgresLog({ url }),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailableError' } })
    }
    await server.restart()
    expect(await log.head()).toEqual(head)
    await log.close()
  })
})

interface Attempt {
  readonly records: readonly LogRecord[]
  readonly outcome: PromiseSettledResult<{ readonly status: string }>
}

/** Appends two batches at a time without rest, and takes note of what each was answered. */
const appendWhile = async (
  log: EventLog,
  disturb: (attempts: readonly Attempt[]) => Promise<void>,
): Promise<readonly Attempt[]> => {
  const attempts: Attempt[] = []
  let isOver = false
  const appending = (async (): Promise<void> => {
    while (!isOver) {
      const [head] = await Promise.allSettled([log.head()])
      if (head.status === 'rejected') {
        attempts.push({ records: [], outcome: head })
        await sleep(5)
        continue
      }
      const first = recordsAfter(head.value, BATCH)
      const second = recordsAfter(headAfter(first), BATCH)
      const outcomes = await Promise.allSettled([
        log.append(first, head.value),
        log.append(second, headAfter(first)),
      ])
      attempts.push({ records: first, outcome: outcomes[0] }, { records: second, outcome: outcomes[1] })
    }
  })()
  await disturb(attempts)
  isOver = true
  await appending
  return attempts
}

const expectAllTrue = async (log: EventLog, attempts: readonly Attempt[]): Promise<void> => {
  const stored = await everything(log)
  const hashes = new Set(stored.map(({ hash }) => hash))
  for (const { records, outcome } of attempts) expectTruth(outcome, records, hashes)
  expect(await log.verifyHashes({ after: 0, upTo: stored.length })).toEqual({
    ok: true,
    checked: stored.length,
  })
  await expectAllFound(log, stored)
}

/** By domain and by id, however much of the index was lost on the way. */
const expectAllFound = async (log: EventLog, stored: readonly LogRecord[]): Promise<void> => {
  const limit = stored.length + 1
  for (const [domain, count] of await log.countByDomain()) {
    const ofDomain = stored.filter(({ type }) => domainOf(type) === domain)
    expect(count).toBe(ofDomain.length)
    expect(await log.read({ types: [domain], order: 'asc', limit })).toEqual(ofDomain)
  }
  const refs = new Set(stored.flatMap((record) => refsOf(stampedFrom(record))))
  expect(refs.size).toBeGreaterThan(0)
  for (const about of refs) {
    const named = stored.filter((record) => refsOf(stampedFrom(record)).includes(about))
    expect(await log.read({ about, order: 'asc', limit })).toEqual(named)
  }
}

/** Appended means all of it is there, refused means nothing of it is, and no other error may reach a caller. */
const expectTruth = (
  outcome: PromiseSettledResult<{ readonly status: string }>,
  records: readonly LogRecord[],
  stored: ReadonlySet<string>,
): void => {
  const found = records.filter(({ hash }) => stored.has(hash)).length
  if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailableError)
  const isAppended = outcome.status === 'fulfilled' && outcome.value.status === 'appended'
  expect(found).toBe(isAppended ? records.length : 0)
}

const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** An uncommitted row under the next seq makes an append wait inside the server. */
const waitingRival = async (url: string, seq: number): Promise<Client> => {
  const rival = await connected(url)
  await rival.query('BEGIN')
  await rival.query(
    `INSERT INTO events SELECT $1, 'rival', type, dom, ts, schema_version, source, trace_id,
    NULL, payload, prev_hash, hash, signature, signer, recorded_at, batch_signature, dom_count FROM events LIMIT 1`,
    [seq + 1],
  )
  return rival
}

const untilWaiting = async (url: string): Promise<void> => {
  const admin = await connected(url)
  const isWaiting = async (): Promise<boolean> => {
    const { rowCount } = await admin.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'signal-engine writer%' AND wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  }
  while (!(await isWaiting())) await sleep(5)
  await admin.end()
}
