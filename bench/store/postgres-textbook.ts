import { Client, type QueryConfig } from 'pg'
import type { LogRecord } from '../../src/core/log/event.ts'
import { recordsOf, sampleEvents } from './sample-events.ts'

/**
 * The straightforward implementation, on tables with the columns and indexes of `events`. Rates are events per second.
 */
export interface Textbook {
  /** Inserts single events, in one transaction each that locks a head row, with several writers. */
  appendUnderLock(durationMs: number): Promise<number>
  /** Inserts batches without a chain, a head or anything else. */
  insertBatches(batch: number, durationMs: number): Promise<number>
  close(): Promise<void>
}

export const TEXTBOOK_WRITERS = 8

export const openTextbook = async (url: string): Promise<Textbook> => {
  const connected = async (): Promise<Client> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    return client
  }
  const first = await connected()
  await first.query(TABLES)
  const writers = await Promise.all(Array.from({ length: TEXTBOOK_WRITERS }, connected))
  let insertedSeq = 0
  return {
    appendUnderLock: (durationMs) => {
      const free = [...writers]
      const append = async (): Promise<void> => {
        const client = free.pop()
        if (client === undefined) throw new Error('more callers than connections')
        await appendOne(client)
        free.push(client)
      }
      return ratePerSecond(append, { durationMs, callers: TEXTBOOK_WRITERS, eventsPerCall: 1 })
    },
    insertBatches: (batch, durationMs) => {
      const insert = async (): Promise<void> => {
        const rows = unchained(sampleEvents(insertedSeq, batch))
        insertedSeq += batch
        await first.query(insertInto('raw_events', rows))
      }
      return ratePerSecond(insert, { durationMs, callers: 1, eventsPerCall: batch })
    },
    close: async () => {
      await Promise.all([first, ...writers].map((client) => client.end()))
    },
  }
}

/** Calls per second. Each caller waits for its answer before the next call. */
export const ratePerSecond = async (
  call: () => Promise<void>,
  {
    durationMs,
    callers,
    eventsPerCall,
  }: { readonly durationMs: number; readonly callers: number; readonly eventsPerCall: number },
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

const TABLES = `
CREATE TABLE locked_events (LIKE events INCLUDING ALL);
CREATE TABLE raw_events (LIKE events INCLUDING ALL);
CREATE TABLE locked_head (seq bigint, hash text);
INSERT INTO locked_head VALUES (0, '')`

const appendOne = async (client: Client): Promise<void> => {
  await client.query('BEGIN')
  const { rows } = await client.query<{ seq: string; hash: string }>(
    'SELECT seq, hash FROM locked_head FOR UPDATE',
  )
  const [head] = rows
  if (head === undefined) throw new Error('the head row is missing')
  const [record] = recordsOf(sampleEvents(Number(head.seq), 1), head)
  if (record === undefined) throw new Error('one event was asked for')
  await client.query(insertInto('locked_events', [record]))
  await client.query('UPDATE locked_head SET seq = $1, hash = $2', [record.seq, record.hash])
  await client.query('COMMIT')
}

const unchained = (events: ReturnType<typeof sampleEvents>): readonly LogRecord[] =>
  events.map(({ payload, ...event }) => ({
    ...event,
    schemaVersion: 'v1',
    payload: JSON.stringify(payload),
    prevHash: 'ab'.repeat(32),
    hash: 'cd'.repeat(32),
    signature: 'a1'.repeat(64),
    signer: 'svc-0123456789abcdef',
    batchSignature: null,
    commands: null,
  }))

const insertInto = (table: string, records: readonly LogRecord[]): QueryConfig => ({
  name: `insert-${table}`,
  text: `
    INSERT INTO ${table} (seq, id, type, dom, ts, schema_version, source, trace_id, dedupe_key, payload, prev_hash, hash,
      signature, signer, recorded_at, dom_count)
    SELECT *, 0 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::text[], $9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[], $14::text[], $15::text[])`,
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
