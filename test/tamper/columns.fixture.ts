import type { IntegrityReason } from '../../src/engine/integrity/findings.ts'
import type { IntegrityReport } from '../../src/engine/integrity/report.ts'

/** The result that full verification must give. */
export type Expected =
  | { readonly reason: IntegrityReason; readonly seq: number | null }
  /** Both events have the same value, so swapping changes nothing. */
  | 'the same'

export const SOUND = { ok: true, reason: null, first_bad_seq: null, first_bad_id: null }

export const found = (expected: Expected): Partial<IntegrityReport> =>
  expected === 'the same' ? SOUND : { ok: false, reason: expected.reason, first_bad_seq: expected.seq }

export interface ColumnCase {
  /** SQL for another valid value of the column. */
  readonly other: string
  /** Result if event 15 gets the other value. */
  readonly modify: Expected
  /** Result if event 15 gets NULL, after the rule against it was removed from the schema. */
  readonly setNull: Expected | 'impossible'
  /** Result if events 15 and 16 swap their values. */
  readonly swap: Expected
}

const ZERO_HASH = `'${'00'.repeat(32)}'`

const at15 = (reason: IntegrityReason): Expected => ({ reason, seq: 15 })

const hashed = (other: string): ColumnCase => ({
  other,
  modify: at15('hash'),
  setNull: at15('hash'),
  swap: at15('hash'),
})

/** Every column of `events`. A new column without an entry fails the test. */
export const COLUMNS: Readonly<Record<string, ColumnCase>> = {
  seq: { other: '1000', modify: at15('sequence'), setNull: 'impossible', swap: at15('link') },
  id: hashed(`'019b7000-0000-7000-8000-00000000ffff'`),
  type: hashed(`'brain.other.v1'`),
  // Not part of the hash. Derived from the type, and used to look events up.
  dom: { other: `'other.domain'`, modify: at15('field'), setNull: at15('field'), swap: at15('field') },
  ts: hashed(`'2026-01-01T00:00:00.000Z'`),
  schema_version: { ...hashed(`'v2'`), swap: 'the same' },
  source: hashed(`'somebody'`),
  trace_id: hashed(`'other'`),
  dedupe_key: hashed(`'other'`),
  payload: hashed(`'{"number":15,"symbol":"ETH"}'`),
  prev_hash: { other: ZERO_HASH, modify: at15('link'), setNull: at15('link'), swap: at15('link') },
  hash: hashed(ZERO_HASH),
  // Not part of the hash either: only keys, order and the signature of the batch protect it.
  signature: {
    other: `'${'00'.repeat(64)}'`,
    modify: at15('signature'),
    setNull: at15('signature'),
    swap: at15('signature'),
  },
  signer: {
    other: `'svc-ffffffffffffffff'`,
    modify: at15('signature'),
    setNull: at15('signature'),
    swap: at15('signature'),
  },
  recorded_at: {
    other: `'2025-01-01T00:00:00.000Z'`,
    modify: at15('order'),
    setNull: at15('field'),
    swap: at15('signature'),
  },
  batch_signature: {
    other: `'1:${'00'.repeat(64)}'`,
    modify: at15('signature'),
    setNull: at15('signature'),
    swap: at15('signature'),
  },
  commands: {
    other: `'{"number":1500}'`,
    modify: at15('signature'),
    setNull: at15('signature'),
    swap: at15('signature'),
  },
}
