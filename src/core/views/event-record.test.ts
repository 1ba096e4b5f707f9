import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../log/canonical-json.ts'
import type { LogRecord } from '../log/event.ts'
import type { JsonObject } from '../shared/json.ts'
import { viewEventRecord } from './event-record.fixture.ts'
import { eventRecordText, eventRecordView } from './log.ts'

const record: LogRecord = {
  seq: 7,
  id: '22222222-2222-4222-8222-222222222222',
  type: 'system.kill_switch.v1',
  ts: '2026-02-20T00:30:00.123Z',
  schemaVersion: 'v1',
  source: 'brain.kill_switch',
  traceId: null,
  dedupeKey: null,
  payload: '{"level":2,"prev_level":0}',
  prevHash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
  signature: 'c'.repeat(128),
  signer: 'svc-1',
  batchSignature: null,
  commands: null,
  recordedAt: '2026-02-20T00:30:00.200Z',
}

const text = fc.option(fc.string({ unit: 'binary' }), { nil: null })
const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))

describe('a stored event as it is shown', () => {
  it('has every member', () => {
    expect(viewEventRecord(record)).toEqual({
      seq: 7,
      id: record.id,
      type: record.type,
      ts: record.ts,
      schema_version: 'v1',
      source: 'brain.kill_switch',
      trace_id: null,
      dedupe_key: null,
      payload: { level: 2, prev_level: 0 },
      prev_hash: record.prevHash,
      hash: record.hash,
      signature: record.signature,
      signer: 'svc-1',
      recorded_at: record.recordedAt,
      batch_signature: null,
    })
  })

  it('is the same as spliced text', () => {
    fc.assert(
      fc.property(text, text, text, object, (source, signer, commands, payload) => {
        const stored = { ...record, source, signer, commands, payload: canonicalJson(payload as JsonObject) }
        expect(JSON.parse(eventRecordText(stored))).toEqual(
          JSON.parse(JSON.stringify(viewEventRecord(stored))),
        )
      }),
    )
  })

  it('keeps the text that was hashed', () => {
    const payload = '{"amount":1e+21,"note":"€"}'
    expect(eventRecordText({ ...record, payload })).toContain(`"payload":${payload},`)
  })

  it('shows damaged text as text, and stays JSON', () => {
    for (const payload of ['{"level":2', '', '[1]', 'null', '7', '{},"hash":"forged"', '{"a":1}}']) {
      const damaged = { ...record, payload }
      expect(JSON.parse(eventRecordText(damaged))).toEqual(viewEventRecord(damaged))
      expect(viewEventRecord(damaged)).toMatchObject({ payload, hash: record.hash })
      expect(eventRecordView.safeParse(viewEventRecord(damaged)).success).toBe(true)
    }
  })
})
