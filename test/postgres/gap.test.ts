import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { programOf } from '../program.fixture.ts'
import { appendAgainstOthers, everything } from './records.fixture.ts'
import { postgresMissing, startPostgres, type PostgresServer } from './server.fixture.ts'

const WRITERS = 8
const BATCHES_EACH = 60
const PROCESSES = 4
const BATCHES_PER_PROCESS = 50

describe.skipIf(postgresMissing !== null)(
  `reading by seq while many write (${postgresMissing ?? 'PostgreSQL'})`,
  () => {
    let server: PostgresServer
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(() => server?.stop())

    it('misses nothing and repeats nothing', async () => {
      await expectNoGaps(await server.freshDatabase())
    })

    it('misses nothing and repeats nothing while a foreign transaction stays open', async () => {
      const url = await server.freshDatabase()
      const foreign = await foreignTransaction(url)
      await expectNoGaps(url)
      await foreign.query('COMMIT')
      await foreign.end()
    })

    it('never forks between processes', async () => {
      const url = await server.freshDatabase()
      const promised = (
        await Promise.all(Array.from({ length: PROCESSES }, (_, index) => appendInProcess(url, index)))
      ).flat()
      const log = await openPostgresLog({ url })
      const stored = await everything(log)
      expect(promised).toHaveLength(PROCESSES * BATCHES_PER_PROCESS * 2)
      expect(stored.map(({ id }) => id).toSorted()).toEqual(promised.toSorted())
      expect(await log.verifyHashes({ after: 0, upTo: stored.length })).toEqual({
        ok: true,
        checked: stored.length,
      })
      await log.close()
    })
  },
)

const expectNoGaps = async (url: string): Promise<void> => {
  const logs = await Promise.all(Array.from({ length: WRITERS + 1 }, () => openPostgresLog({ url })))
  const [reader, ...writers] = logs
  if (reader === undefined) throw new Error('a reader is needed')
  let isOver = false
  const following = [
    follow(reader, undefined, () => isOver),
    // New domains keep coming up, so which of them make up the category changes under the reader.
    follow(reader, ['signal'], () => isOver),
  ]
  const promised = (await Promise.all(writers.map(writeBatches))).flat()
  isOver = true
  const [all = [], signals = []] = await Promise.all(following)
  const stored = await everything(reader)
  expect(all).toEqual(stored.map(({ seq }) => seq))
  expect(signals).toEqual(stored.filter(({ type }) => type.startsWith('signal.')).map(({ seq }) => seq))
  expect(stored.map(({ id }) => id).toSorted()).toEqual(promised.map(({ id }) => id).toSorted())
  expect(await reader.verifyHashes({ after: 0, upTo: stored.length })).toEqual({
    ok: true,
    checked: stored.length,
  })
  await Promise.all(logs.map((log) => log.close()))
}

const writeBatches = async (log: EventLog, writer: number): Promise<readonly LogRecord[]> => {
  const promised: LogRecord[] = []
  for (let batch = 0; batch < BATCHES_EACH; batch += 1) {
    const types = ['brain.cycle.v1', 'signal.ta.v1', `signal.from_${writer}_${batch}.v1`] as const
    const count = 1 + (batch % types.length)
    promised.push(
      ...(await appendAgainstOthers(log, count, (seq) => ({ type: types[seq % types.length] ?? types[0] }))),
    )
  }
  return promised
}

/** Remembers the last seq it saw and asks every millisecond for what came after it. */
const follow = async (
  log: EventLog,
  types: readonly string[] | undefined,
  isOver: () => boolean,
): Promise<readonly number[]> => {
  const seen: number[] = []
  for (;;) {
    const wasOver = isOver()
    const page = await log.read({
      after: seen.at(-1) ?? 0,
      order: 'asc',
      limit: 100,
      ...(types && { types }),
    })
    seen.push(...page.map(({ seq }) => seq))
    if (wasOver && page.length === 0) return seen
    await sleep(1)
  }
}

/** Holds a transaction number and a snapshot, as a dump or a forgotten console would. */
const foreignTransaction = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE TABLE notes (text text)')
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query(`INSERT INTO notes VALUES ('still here')`)
  return client
}

const appendInProcess = async (url: string, index: number): Promise<readonly string[]> => {
  const child = fork(programOf('postgres/appending-process'), [
    url,
    `process_${index}`,
    String(BATCHES_PER_PROCESS),
  ])
  const [ended, [promised]] = await Promise.all([
    once(child, 'exit'),
    once(child, 'message') as Promise<[readonly string[]]>,
  ])
  expect(ended[0]).toBe(0)
  return promised
}
