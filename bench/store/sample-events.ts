import { timestampAt } from '../../src/core/shared/time.ts'
import { hash, randomUUID } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { headOf, type Head, type LogRecord, type Stamped } from '../../src/core/log/event.ts'
import { chain } from '../../src/core/log/hash-chain.ts'

export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

const START_MS = Date.UTC(2026, 0, 1)
const SYMBOLS = 50
const SIGNER = 'svc-0123456789abcdef'
const SIGNATURE = 'a1'.repeat(64)

/** The most frequent events of a trading engine: readings of indicators, each with its own dedupe key. */
export const sampleEvents = (afterSeq: number, count: number): readonly Stamped[] =>
  Array.from({ length: count }, (_, index) => sampleEvent(afterSeq + 1 + index))

const sampleEvent = (seq: number): Stamped => {
  const time = timestampAt(START_MS + seq)
  return {
    seq,
    id: uuidv7(),
    type: TYPES[seq % TYPES.length] ?? 'signal.ta.v1',
    ts: time,
    source: 'producer:technical-analysis',
    traceId: null,
    dedupeKey: `ta:${randomUUID()}`,
    recordedAt: time,
    payload: {
      bb_position: 0.5,
      ema_20: 60_123.5 + seq,
      ema_200: 50_111.25,
      ema_50: 60_000.125,
      resistance_distance: 0.031,
      rsi_14: 55.5,
      support_distance: 0.022,
      symbol: `SYM${seq % SYMBOLS}/USDT`,
      trend: 'bullish',
      trend_strength: 0.625,
      volume_ratio: 1.25,
    },
  }
}

const TYPES = [
  'signal.ta.v1',
  'signal.orderbook.v1',
  'signal.ta.v1',
  'signal.whale.v1',
  'signal.ta.v1',
] as const

/** Chained and signed as the engine would send them. The signature is a constant, since it is not verified here. */
export const recordsOf = (events: readonly Stamped[], head: Pick<Head, 'hash'>): readonly LogRecord[] =>
  chain(events, head, sha256Hex).map((record) => ({
    // Copied member by member: a spread costs more than all other work on a record here.
    seq: record.seq,
    id: record.id,
    type: record.type,
    ts: record.ts,
    schemaVersion: record.schemaVersion,
    source: record.source,
    traceId: record.traceId,
    dedupeKey: record.dedupeKey,
    payload: record.payload,
    prevHash: record.prevHash,
    hash: record.hash,
    signature: SIGNATURE,
    signer: SIGNER,
    recordedAt: record.recordedAt,
    batchSignature: null,
    commands: null,
  }))

export const lastHead = (records: readonly LogRecord[], before: Head): Head => {
  const last = records.at(-1)
  return last === undefined ? before : headOf(last)
}
