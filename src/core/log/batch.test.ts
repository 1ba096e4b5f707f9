import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { timestampAt } from '../shared/time.ts'
import { BatchCutter } from './batch.ts'
import type { LogRecord } from './event.ts'

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

const RECORDED = timestampAt(Date.UTC(2026, 1, 20))

const recordAt = (seq: number, count: number): LogRecord => ({
  seq,
  id: `event-${seq}`,
  type: 'note.test.v1',
  ts: RECORDED,
  schemaVersion: '1',
  source: null,
  traceId: null,
  dedupeKey: null,
  payload: '{}',
  prevHash: '00'.repeat(32),
  hash: '11'.repeat(32),
  signature: 'a1'.repeat(64),
  signer: 'svc-0123456789abcdef',
  recordedAt: RECORDED,
  batchSignature: seq === count ? `${count}:${'b2'.repeat(64)}` : null,
  commands: null,
})

const cut = (change: (record: LogRecord) => LogRecord): readonly string[] => {
  const cutter = new BatchCutter(sha256Hex)
  const records = [1, 2, 3].map((seq) => change(recordAt(seq, 3)))
  return [...records.flatMap((record) => cutter.add(record)), ...cutter.end()].map(({ kind }) => kind)
}

it('holds events of one signer that were recorded at one time', () => {
  expect(cut((record) => record)).toEqual(['batch'])
})

it.each([
  ['another time of recording', { recordedAt: timestampAt(Date.UTC(2026, 1, 19)) }],
  ['another signer', { signer: 'svc-fedcba9876543210' }],
  ['commands that belong to its last event', { commands: '{}' }],
])('is no batch if one of its events has %s', (_, change) => {
  for (const changed of [1, 2])
    expect(cut((record) => (record.seq === changed ? { ...record, ...change } : record))).toEqual(['loose'])
})
