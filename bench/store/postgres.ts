import { hash as digest } from 'node:crypto'
import { Client } from 'pg'
import { uuidv7 } from 'uuidv7'
import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import { headOf, type Head, type LogRecord, type Stamped } from '../../src/core/log/event.ts'
import { chain } from '../../src/core/log/hash-chain.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { startPostgres } from '../../test/postgres/server.ts'

export interface BenchRow {
  readonly id: string
  readonly what: string
  /** A ratio, the median of all rounds. */
  readonly value: number
  readonly target: string
  readonly baseline: string
}

const CALLERS = 64
const TEXTBOOK_WRITERS = 8
const BATCH = 100
const BATCH_MAX = 1_000
const BATCHES_IN_FLIGHT = 2

/** T8 and T8b, each against a baseline on the same server in the same rounds. */
export const benchPostgres = async (rounds = 7, roundMs = 1_500): Promise<readonly BenchRow[]> => {
  const server = await startPostgres({ shared_buffers: '256MB', max_wal_size: '4GB' })
  try {
    const url = await server.freshDatabase()
    const log = await openPostgresLog({ url })
    const textbook = await openTextbook(url)
    const ratios = { groupCommit: [] as number[], batches: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      ratios.groupCommit.push((await groupCommit(log, roundMs)) / (await textbook.lockHead(roundMs)))
      ratios.batches.push((await chainedBatches(log, roundMs)) / (await textbook.rawBatches(roundMs)))
    }
    await log.close()
    await textbook.close()
    return [
      {
        id: 'T8',
        what: `appends/s, group commit, ${CALLERS} callers`,
        value: median(ratios.groupCommit),
        target: '>= 25',
        baseline: `SELECT ... FOR UPDATE, ${TEXTBOOK_WRITERS} writers`,
      },
      {
        id: 'T8b',
        what: `events/s, chained batches of ${BATCH}`,
        value: median(ratios.batches),
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
    if (inFlight >= BATCHES_IN_FLIGHT || waiting.length === 0) return
    const callers = waiting.splice(0, BATCH_MAX)
    const expected = head
    const records = nextRecords(expected, callers.length)
    head = lastHead(records)
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
  return ratePerSecond(
    durationMs,
    CALLERS,
    1,
    () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        setImmediate(storeWaiting)
      }),
  )
}

const appendAll = async (log: EventLog, records: readonly LogRecord[], expected: Head): Promise<void> => {
  const { status } = await log.append(records, expected)
  if (status !== 'appended') throw new Error('nobody else may append during the measurement')
}

const chainedBatches = async (log: EventLog, durationMs: number): Promise<number> => {
  let head = await log.head()
  return ratePerSecond(durationMs, 1, BATCH, async () => {
    const records = nextRecords(head, BATCH)
    await appendAll(log, records, head)
    head = lastHead(records)
  })
}

interface Textbook {
  lockHead(durationMs: number): Promise<number>
  rawBatches(durationMs: number): Promise<number>
  close(): Promise<void>
}

/** What one would write first: the same columns and indexes of `events`, and a head row to lock. */
const openTextbook = async (url: string): Promise<Textbook> => {
  const clients = await Promise.all(
    Array.from({ length: TEXTBOOK_WRITERS }, async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
    }),
  )
  const [first] = clients
  if (first === undefined) throw new Error('the baseline needs a writer')
  await first.query(`CREATE TABLE locked_events (LIKE events INCLUDING ALL)`)
  await first.query(`CREATE TABLE raw_events (LIKE events INCLUDING ALL)`)
  await first.query(`CREATE TABLE locked_head (seq bigint, hash text)`)
  await first.query(`INSERT INTO locked_head VALUES (0, '')`)
  let rawSeq = 0
  return {
    lockHead: (durationMs) => {
      const free = [...clients]
      return ratePerSecond(durationMs, TEXTBOOK_WRITERS, 1, async () => {
        const client = free.pop()
        if (client === undefined) throw new Error('more callers than connections')
        await appendUnderLock(client)
        free.push(client)
      })
    },
    rawBatches: (durationMs) =>
      ratePerSecond(durationMs, 1, BATCH, async () => {
        const rows = unchainedRecords(rawSeq, BATCH)
        rawSeq += BATCH
        await first.query(insertInto('raw_events', rows))
      }),
    close: async () => {
      await Promise.all(clients.map((client) => client.end()))
    },
  }
}

const appendUnderLock = async (client: Client): Promise<void> => {
  await client.query('BEGIN')
  const { rows } = await client.query<{ seq: string; hash: string }>(
    'SELECT seq, hash FROM locked_head FOR UPDATE',
  )
  const [row] = rows
  if (row === undefined) throw new Error('the head row is missing')
  const records = nextRecords({ seq: Number(row.seq), hash: row.hash }, 1)
  await client.query(insertInto('locked_events', records))
  const { seq, hash } = lastHead(records)
  await client.query('UPDATE locked_head SET seq = $1, hash = $2', [seq, hash])
  await client.query('COMMIT')
}

const insertInto = (table: string, records: readonly LogRecord[]) => ({
  name: `insert-${table}`,
  text: `INSERT INTO ${table} (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload, prev_hash,
      hash, signature, signer, recorded_at, dom_count)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[], $14::text[], $15::text[], $1::bigint[])`,
  values: [
    records.map(({ seq }) => seq),
    records.map(({ id }) => id),
    records.map(({ type }) => type),
    records.map(({ type }) => type),
    records.map(({ ts }) => ts),
    records.map(({ schemaVersion }) => schemaVersion),
    records.map(({ source }) => source),
    records.map(({ traceId }) => traceId),
    records.map(({ dedupeKey }) => dedupeKey),
    records.map(({ payload }) => payload),
    records.map(({ prevHash }) => Buffer.from(prevHash, 'hex')),
    records.map(({ hash }) => Buffer.from(hash, 'hex')),
    records.map(({ signature }) => Buffer.from(signature ?? '', 'hex')),
    records.map(({ signer }) => signer),
    records.map(({ recordedAt }) => recordedAt),
  ],
})

const SIGNATURE = 'ab'.repeat(64)
const SIGNER = 'svc-8a88e3dd7409f195'
const HASH = 'cd'.repeat(32)
const TYPES = ['signal.ta.rsi.v1', 'signal.curator.v1', 'attribution.signal.v1', 'brain.cycle.v1'] as const
const SYMBOLS = ['BTC', 'ETH', 'SOL'] as const

const sha256Hex = (text: string): string => digest('sha256', text, 'hex')

const nextRecords = (head: Pick<Head, 'seq' | 'hash'>, count: number): readonly LogRecord[] =>
  chain(
    Array.from({ length: count }, (_, index) => eventAt(head.seq + 1 + index)),
    head,
    sha256Hex,
  ).map((record) => ({ ...record, signature: SIGNATURE, signer: SIGNER }))

const unchainedRecords = (seq: number, count: number): readonly LogRecord[] =>
  Array.from({ length: count }, (_, index) => {
    const { payload, ...event } = eventAt(seq + 1 + index)
    return {
      ...event,
      schemaVersion: 'v1',
      payload: JSON.stringify(payload),
      prevHash: HASH,
      hash: HASH,
      signature: SIGNATURE,
      signer: SIGNER,
    }
  })

const eventAt = (seq: number): Stamped => {
  const id = uuidv7()
  const now = new Date().toISOString()
  return {
    seq,
    id,
    type: TYPES[seq % TYPES.length] ?? TYPES[0],
    ts: now,
    source: 'producer:technical-analysis',
    traceId: null,
    dedupeKey: `rsi:${id.slice(-12)}:${seq}`,
    payload: {
      conviction: (seq % 100) / 10,
      direction: 'long',
      indicator: 'rsi',
      rationale: 'RSI crossed the lower band on the four hour chart and turned up with rising volume',
      signal_id: id,
      symbol: SYMBOLS[seq % SYMBOLS.length] ?? SYMBOLS[0],
      timeframe: '4h',
      value: 31.25,
    },
    recordedAt: now,
  }
}

const lastHead = (records: readonly LogRecord[]): Head => {
  const last = records.at(-1)
  if (last === undefined) throw new Error('a batch has a record')
  return headOf(last)
}

const ratePerSecond = async (
  durationMs: number,
  callers: number,
  eventsPerCall: number,
  call: () => Promise<void>,
): Promise<number> => {
  const start = performance.now()
  let events = 0
  const caller = async (): Promise<void> => {
    while (performance.now() - start < durationMs) {
      await call()
      events += eventsPerCall
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (events / (performance.now() - start)) * 1_000
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
