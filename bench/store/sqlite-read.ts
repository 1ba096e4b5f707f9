import { stat } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { RECORD_COLUMNS } from '../../src/adapters/storage/sqlite/records.ts'
import { stampedFrom, type LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, medianRatio, rateOf, type BenchRow } from '../harness.ts'

const READS = 200
const REBUILD = 100_000
const PAGE = 1000

export const benchRead = async (
  log: EventLog,
  path: string,
  total: number,
  rounds: number,
): Promise<readonly BenchRow[]> => [
  ...(await benchNewest(log, total, rounds)),
  ...(await benchRebuild(log, path, rounds)),
]

/** T7: the newest of one domain against the newest of all. */
const benchNewest = async (log: EventLog, total: number, rounds: number): Promise<readonly BenchRow[]> => {
  const newest = (types?: readonly string[]) => async (): Promise<number> => {
    const query = { order: 'desc', limit: 100, ...(types === undefined ? {} : { types }) } as const
    const rate = await rateOf(READS, async () => {
      for (let read = 0; read < READS; read += 1) await log.read(query)
    })
    return 1 / rate
  }
  const { domain, all } = await interleave(rounds, { domain: newest(['signal.ta']), all: newest() })
  return [
    {
      id: 'T7',
      what: `time of the newest 100 of a domain at ${total} events`,
      value: medianRatio(domain, all),
      target: '<= 1.3',
      baseline: 'time of the newest 100 by primary key',
    },
  ]
}

/** T15: reading, parsing and folding through the port against reading the same columns without it. */
const benchRebuild = async (log: EventLog, path: string, rounds: number): Promise<readonly BenchRow[]> => {
  const db = new DatabaseSync(path, { readOnly: true })
  const page = db.prepare(`SELECT ${RECORD_COLUMNS} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`)
  page.setReturnArrays(true)
  const { fold, raw } = await interleave(rounds, {
    fold: () =>
      rateOf(REBUILD, async () => {
        const counts = new Map<string, number>()
        for await (const records of log.scan({ after: 0, upTo: REBUILD })) {
          for (const record of records) {
            const { type, payload } = stampedFrom(record)
            const name = typeof payload['symbol'] === 'string' ? `${type} ${payload['symbol']}` : type
            counts.set(name, (counts.get(name) ?? 0) + 1)
          }
        }
      }),
    raw: () =>
      rateOf(REBUILD, () => {
        for (let after = 0; after < REBUILD; after += PAGE) page.all(after, after + PAGE)
      }),
  })
  db.close()
  return [
    {
      id: 'T15',
      what: 'events/s folded again from the log',
      value: medianRatio(fold, raw),
      target: '>= 0.55',
      baseline: 'rows/s read as arrays',
    },
  ]
}

/** T12: what the file holds per event, with all indexes, against what an event says. Closes the log. */
export const benchSize = async (log: EventLog, path: string, total: number): Promise<readonly BenchRow[]> => {
  const sample = await log.read({ order: 'asc', limit: 10_000 })
  const said = sample.reduce((sum, record) => sum + bytesOf(record), 0) / sample.length
  await log.close()
  const stored = (await stat(path)).size / total
  return [
    {
      id: 'T12',
      what: `bytes per event in the file (${Math.round(stored)})`,
      value: stored / said,
      target: '<= 1.22',
      baseline: `bytes of its fields; id, hashes and signature binary (${Math.round(said)})`,
    },
  ]
}

const ID_BYTES = 16
const HASH_BYTES = 32
const SEQ_BYTES = 8

const bytesOf = (record: LogRecord): number => {
  const texts = [
    record.type,
    record.ts,
    record.schemaVersion,
    record.source,
    record.traceId,
    record.dedupeKey,
    record.payload,
    record.signer,
    record.recordedAt,
  ]
  const signatureBytes = (record.signature?.length ?? 0) / 2
  const fixedBytes = SEQ_BYTES + ID_BYTES + 2 * HASH_BYTES + signatureBytes
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), fixedBytes)
}
