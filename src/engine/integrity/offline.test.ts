import { describe, expect, it } from 'vitest'
import {
  fill,
  headAfter,
  nodeOf,
  notes,
  rechained,
  recordsOf,
  started,
} from '../../../test/tamper/signed-log.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { parseSignedCheckpoint, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { LogRecord } from '../../core/log/event.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { CHECKPOINT_PACE, createCheckpointer } from './checkpointer.ts'
import { verifyExport, type OfflineReport } from './offline.ts'

const node = nodeOf(1)
const other = nodeOf(2)

/** An event record as the interface and the export write it; members in no particular order. */
const lineOf = (record: LogRecord): string =>
  JSON.stringify({
    payload: JSON.parse(record.payload) as JsonObject,
    seq: record.seq,
    id: record.id,
    type: record.type,
    ts: record.ts,
    schema_version: record.schemaVersion,
    source: record.source,
    trace_id: record.traceId,
    dedupe_key: record.dedupeKey,
    prev_hash: record.prevHash,
    hash: record.hash,
    signature: record.signature,
    signer: record.signer,
    recorded_at: record.recordedAt,
    batch_signature: record.batchSignature,
    ...(record.commands === null ? {} : { commands: record.commands }),
  })

async function* linesOf(lines: readonly string[]): AsyncIterable<string> {
  yield* lines
}

const verifyLines = (
  lines: readonly string[],
  checkpoints?: readonly SignedCheckpoint[],
): Promise<OfflineReport> =>
  verifyExport(linesOf(lines), {
    signatures,
    clock: Date,
    ...(checkpoints === undefined ? {} : { checkpoints: { notes: checkpoints, unreadable: 0 } }),
  })

const checkpointsAt = async (
  records: readonly LogRecord[],
  ...sizes: number[]
): Promise<readonly SignedCheckpoint[]> => {
  const kept: SignedCheckpoint[] = []
  for (const size of sizes) {
    const log = new MemoryLog()
    await fill(log, records.slice(0, size))
    const checkpoints = {
      location: 'here',
      read: () => Promise.resolve({ notes: kept, unreadable: 0 }),
      append: (text: string) => Promise.resolve(void kept.push(parseSignedCheckpoint(text)!)),
      setAside: () => Promise.resolve(null),
    }
    await createCheckpointer({
      log,
      checkpoints,
      signer: node,
      signatures,
      clock: Date,
      ...CHECKPOINT_PACE,
    }).step('now')
  }
  return kept
}

const wellSigned = (count: number): Promise<readonly LogRecord[]> =>
  recordsOf([started(node), ...notes(count - 1)], node)

describe('verification of an export', () => {
  it('passes a whole log, in pages, with blank lines and without a database', async () => {
    const records = await wellSigned(1200)
    const pages: number[] = []
    const report = await verifyExport(linesOf([...records.map(lineOf), '']), {
      signatures,
      clock: Date,
      onPage: async (page) => void pages.push(page.length),
    })
    expect(report).toMatchObject({
      ok: true,
      mode: 'offline',
      checked: 1200,
      event_count: 1200,
      head_seq: 1200,
      head_hash: records[1199]!.hash,
      first_seq: 1,
      partial: false,
      unchecked_signatures: 0,
    })
    expect(report.detail).toContain('without checkpoints a cut end does not show')
    expect(pages).toEqual([500, 500, 200])
  })

  it('passes nothing at all', async () => {
    expect(await verifyLines([])).toMatchObject({ ok: true, checked: 0, first_seq: 0, partial: false })
  })

  it('passes part of a log and says what it trusted', async () => {
    const first = await wellSigned(20)
    const records = [...first, ...(await recordsOf([started(other), ...notes(20)], other, headAfter(first)))]
    const checkpoints = await checkpointsAt(records, 10, 15, 35)
    const report = await verifyLines(records.slice(12, 38).map(lineOf), checkpoints)
    expect(report).toMatchObject({
      ok: true,
      checked: 26,
      first_seq: 13,
      partial: true,
      unchecked_signatures: 8,
    })
    expect(report.detail).toContain('begins with event 13: the hash before it is trusted')
    expect(report.detail).toContain('8 signatures could not be checked')
  })

  it.each([
    ['a changed payload', (record: LogRecord) => ({ ...record, payload: '{"number":-1}' }), 'hash', 12],
    ['a changed hash', (record: LogRecord) => ({ ...record, hash: 'ab'.repeat(32) }), 'hash', 12],
    ['a changed link', (record: LogRecord) => ({ ...record, prevHash: 'ab'.repeat(32) }), 'link', 12],
    ['a changed number', (record: LogRecord) => ({ ...record, seq: 99 }), 'sequence', 12],
    ['a stripped signature', (record: LogRecord) => ({ ...record, signature: null }), 'signature', 12],
    ['a foreign signer', (record: LogRecord) => ({ ...record, signer: other.nodeId }), 'signature', 12],
    ['an empty source', (record: LogRecord) => ({ ...record, traceId: '' }), 'field', 12],
    [
      'an earlier time',
      (record: LogRecord) => ({ ...record, recordedAt: '2020-01-01T00:00:00.000Z' }),
      'order',
      12,
    ],
  ])('finds %s', async (_, change, reason, seq) => {
    const records = (await wellSigned(30)).map((record) => (record.seq === 12 ? change(record) : record))
    expect(await verifyLines(records.map(lineOf))).toMatchObject({ ok: false, reason, first_bad_seq: seq })
  })

  it.each([
    ['left out', (lines: readonly string[]) => lines.toSpliced(11, 1), 'sequence', 12],
    ['put in twice', (lines: readonly string[]) => lines.toSpliced(11, 0, lines[11]!), 'sequence', 12],
    [
      'exchanged with the next',
      (lines: readonly string[]) => lines.toSpliced(11, 2, lines[12]!, lines[11]!),
      'sequence',
      12,
    ],
  ])('finds an event that was %s', async (_, change, reason, seq) => {
    const lines = (await wellSigned(30)).map(lineOf)
    expect(await verifyLines(change(lines))).toMatchObject({ ok: false, reason, first_bad_seq: seq })
  })

  it.each([
    ['no JSON', (line: string) => line.slice(0, -1), 'field', 12],
    ['no record', () => '{"seq":12}', 'field', 12],
    ['a payload that is no object', (line: string) => line.replace('{"number":11}', '[11]'), 'field', 12],
    ['a member of the wrong type', (line: string) => line.replace('"seq":12', '"seq":"12"'), 'field', 12],
    [
      'a payload without a canonical text',
      (line: string) => line.replace('"number":11', '"number":1e999'),
      'canonical',
      12,
    ],
  ])('finds a line that is %s, and names the line', async (_, change, reason, seq) => {
    const lines = (await wellSigned(30)).map((record) => lineOf(record))
    const broken = lines.toSpliced(11, 1, change(lines[11]!))
    expect(broken[11]).not.toBe(lines[11])
    const report = await verifyLines(broken)
    expect(report).toMatchObject({ ok: false, reason, first_bad_seq: seq })
    expect(report.detail).toContain('line 12')
  })

  it('finds a cut end only with checkpoints, and a rewritten middle also without', async () => {
    const records = await wellSigned(40)
    const checkpoints = await checkpointsAt(records, 10, 30)
    const cut = records.slice(0, 25).map(lineOf)
    expect(await verifyLines(cut)).toMatchObject({ ok: true })
    expect(await verifyLines(cut, checkpoints)).toMatchObject({
      ok: false,
      reason: 'truncated',
      first_bad_seq: 26,
    })
    const rewritten = rechained(records.filter(({ seq }) => seq !== 15)).map(lineOf)
    for (const lines of [verifyLines(rewritten), verifyLines(rewritten, checkpoints)])
      expect(await lines).toMatchObject({ ok: false, reason: 'signature', first_bad_seq: 15 })
    expect(await verifyLines(records.map(lineOf), checkpoints)).toMatchObject({ ok: true })
  })

  it('holds part of a log against the checkpoints in it', async () => {
    const records = await wellSigned(10)
    const rest = await recordsOf([started(node), ...notes(29, 50)], node, headAfter(records))
    const checkpoints = await checkpointsAt([...records, ...rest], 15, 30)
    const rewritten = rechained(
      rest.filter(({ seq }) => seq !== 20),
      headAfter(records),
    )
    expect(await verifyLines(rest.map(lineOf), checkpoints)).toMatchObject({ ok: true, partial: true })
    expect(await verifyLines(rewritten.map(lineOf), checkpoints)).toMatchObject({
      ok: false,
      reason: 'signature',
      first_bad_seq: 20,
      checks: { checkpoint: 'fail' },
    })
  })
})
