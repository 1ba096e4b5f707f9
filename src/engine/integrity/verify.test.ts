import { describe, expect, it } from 'vitest'
import {
  changed,
  logWith,
  node,
  other,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import {
  appendSaid,
  headAfter,
  note,
  notes,
  rechained,
  resigned,
  recordsOf,
  started,
} from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'

const fixture = useIntegrityFixture()
const { verify } = fixture

const PASS = { hash_chain: 'pass', sequence: 'pass', signatures: 'pass', checkpoint: 'pass' }

describe.each(['fast', 'full'] as const)('%s verification', (mode) => {
  it('passes an empty log', async () => {
    expect(await verify(new MemoryLog(), { mode })).toMatchObject({
      ok: true,
      mode,
      checked: 0,
      event_count: 0,
      first_bad_id: null,
      first_bad_seq: null,
      reason: null,
      head_seq: 0,
      head_hash: '',
      checks: PASS,
    })
  })

  it('passes a sound log of several nodes, with or without checkpoints', async () => {
    const own = await wellSigned(700)
    const records = [...own, ...(await recordsOf([started(other), ...notes(600)], other, headAfter(own)))]
    const log = await logWith(records)
    const report = await verify(log, { mode })
    expect(report).toMatchObject({
      ok: true,
      mode,
      checked: mode === 'full' ? 1301 : 100,
      event_count: 1301,
      head_seq: 1301,
      head_hash: records[1300]!.hash,
      checks: PASS,
    })
    expect(report.detail).toContain('no checkpoint yet')
    await fixture.checkpointAt(records, 1, 200, 701, 1300)
    expect(await verify(log, { mode })).toMatchObject({ ok: true, checks: PASS })
    expect((await verify(log, { mode })).detail).toContain('the newest checkpoint is at 1300 of 1301')
    expect(await verify(log, { mode, checkpoints: null })).toMatchObject({ ok: true })
  })

  it('verifies a log that grows and is checkpointed meanwhile as it was', async () => {
    const records = await wellSigned(30)
    const log = await logWith(records)
    const readHead = log.head.bind(log)
    // Another process appends after the head was read.
    log.head = async () => {
      const answer = await readHead()
      log.head = readHead
      await appendSaid(log, notes(5, 100), node)
      return answer
    }
    expect(await verify(log, { mode })).toMatchObject({ ok: true, head_seq: 30 })
  })

  it.each([
    ['unsigned', { signature: null, signer: null }],
    ['signed by nobody', { signer: null }],
    ['without a signature', { signature: null }],
    ['signed by a stranger', { signer: other.nodeId }],
    ['wrongly signed', { signature: 'ab'.repeat(64) }],
    ['signed in another script', { signature: 'x'.repeat(128) }],
  ])('finds an event that is %s', async (_, change) => {
    const records = changed(await wellSigned(20), 12, change)
    expect(await verify(await logWith(records), { mode })).toMatchObject({
      ok: false,
      reason: 'signature',
      first_bad_seq: 12,
      first_bad_id: records[11]!.id,
      checks: { ...PASS, signatures: 'fail' },
    })
  })

  it('takes no key under a node id that is not of this key', async () => {
    const impostor = { ...other, nodeId: node.nodeId }
    const own = await wellSigned(5)
    const records = [...own, ...(await recordsOf([started(impostor), note(9)], impostor, headAfter(own)))]
    expect(await verify(await logWith(records), { mode })).toMatchObject({
      reason: 'signature',
      first_bad_seq: 6,
    })
  })

  it.each([
    ['a border that moved', { traceId: 'b', dedupeKey: '|' }, { traceId: 'b|', dedupeKey: null }],
    ['an empty text for nothing', { source: null }, { source: '' }],
    ['an empty text for no key', { dedupeKey: null }, { dedupeKey: '' }],
  ])('finds %s although the hash fits', async (_, before, after) => {
    const records = rechained(changed(await wellSigned(20), 12, before))
    const doctored = changed(records, 12, after)
    expect(rechained(doctored)).toEqual(doctored)
    expect(await verify(await logWith(doctored), { mode })).toMatchObject({
      ok: false,
      reason: 'field',
      first_bad_seq: 12,
    })
  })

  it.each([
    ['members out of order', '{"b":1,"a":2}'],
    ['a member twice', '{"number":1,"number":2}'],
    ['another form of a number', '{"number":1.0}'],
    ['blanks', '{ "number":1}'],
    ['a list', '[1]'],
    ['a word', '"x"'],
    ['nothing', 'null'],
    ['no JSON', '{"number":'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['a number beyond all', '{"a":1e400}'],
  ])('finds a payload with %s although it is hashed and signed', async (_, payload) => {
    const records = await resigned(rechained(changed(await wellSigned(20), 12, { payload })), node)
    expect(await verify(await logWith(records), { mode })).toMatchObject({
      ok: false,
      reason: 'canonical',
      first_bad_seq: 12,
      checks: { ...PASS, hash_chain: 'fail' },
    })
  })

  it.each([
    ['earlier than the one before', '2025-01-01T00:00:00.000Z', 'order', 'sequence'],
    ['in another form', '2026-01-01 00:00:12', 'field', 'hash_chain'],
  ])('finds a time of recording %s', async (_, recordedAt, reason, check) => {
    const records = changed(await wellSigned(20), 12, { recordedAt })
    expect(await verify(await logWith(records), { mode })).toMatchObject({
      ok: false,
      reason,
      first_bad_seq: 12,
      checks: { ...PASS, signatures: 'fail', [check]: 'fail' },
    })
  })

  it('reports the earliest of several faults, and every kind of check that failed', async () => {
    const records = await wellSigned(40)
    await fixture.checkpointAt(records, 40)
    const broken = changed(changed(records.slice(0, 30), 25, { signature: null }), 28, { recordedAt: '' })
    expect(await verify(await logWith(broken), { mode })).toMatchObject({
      reason: 'signature',
      first_bad_seq: 25,
      checks: { hash_chain: 'fail', sequence: 'pass', signatures: 'fail', checkpoint: 'fail' },
    })
  })

  it.each([
    ['says that it is longer', { seq: 22 }, { reason: 'sequence', first_bad_seq: 21 }],
    ['says that it ends differently', { hash: 'ab'.repeat(32) }, { reason: 'link', first_bad_seq: 20 }],
  ])('finds that the store %s', async (_, claim, found) => {
    const log = await logWith(await wellSigned(20))
    const head = { ...(await log.head()), ...claim }
    log.head = () => Promise.resolve(head)
    expect(await verify(log, { mode })).toMatchObject({ ok: false, ...found })
  })

  it('finds that the log was exchanged for one with another first event, or for none', async () => {
    const records = await wellSigned(20)
    const pinned = (firstHash: string) => ({ signatures: fixture.signatures, own: null, firstHash })
    const log = await logWith(records)
    expect(await verify(log, { mode, trust: pinned(records[0]!.hash) })).toMatchObject({ ok: true })
    for (const exchanged of [log, new MemoryLog()])
      expect(await verify(exchanged, { mode, trust: pinned('ab'.repeat(32)) })).toMatchObject({
        ok: false,
        first_bad_seq: 1,
        // Without events from which to trust others, fast verification finds their signatures first.
        ...(mode === 'full' ? { reason: 'truncated' } : {}),
      })
  })

  it('finds that events are lost which were acknowledged, or are others', async () => {
    const records = await wellSigned(20)
    const log = await logWith(records)
    const acknowledged = (seq: number, hash = records[seq - 1]?.hash ?? '') =>
      verify(Object.assign(log, { recordedHead: () => Promise.resolve({ seq, hash }) }), { mode })
    for (const seq of [1, 20]) expect(await acknowledged(seq)).toMatchObject({ ok: true })
    const lost = { ok: false, reason: 'truncated' }
    expect(await acknowledged(21)).toMatchObject({
      ...lost,
      first_bad_seq: 21,
      detail: expect.stringContaining('1 event is lost'),
    })
    expect(await acknowledged(25)).toMatchObject({
      ...lost,
      first_bad_seq: 21,
      detail: expect.stringContaining('5 events are lost'),
    })
    expect(await acknowledged(12, 'ab'.repeat(32))).toMatchObject({ ...lost, first_bad_seq: 12 })
  })

  it('finds that the store counted more events than there are', async () => {
    const log = await logWith(await wellSigned(20))
    log.count = () => Promise.resolve(21)
    expect(await verify(log, { mode })).toMatchObject({
      ok: false,
      reason: 'truncated',
      first_bad_seq: 21,
      event_count: 21,
    })
  })
})

describe('full verification', () => {
  it('finds what is behind a broken link, too', async () => {
    const records = await wellSigned(40)
    const broken = changed(changed(records, 25, { payload: '{"number":7}' }), 30, {
      recordedAt: '2025-01-01T00:00:00.000Z',
    })
    expect(await verify(await logWith(broken))).toMatchObject({
      reason: 'hash',
      first_bad_seq: 25,
      checks: { hash_chain: 'fail', sequence: 'fail' },
    })
  })

  it('wants the first event to introduce its signer', async () => {
    const records = await recordsOf([...notes(3), started(node)], node)
    expect(await verify(await logWith(records))).toMatchObject({ reason: 'signature', first_bad_seq: 1 })
  })

  it('reports progress of every step up to the end', async () => {
    const steps: string[] = []
    await verify(await logWith(await wellSigned(1500)), {
      onProgress: ({ step, checked, total }) => steps.push(`${step} ${checked}/${total}`),
    })
    expect(steps).toContain('signatures 1500/1500')
    expect(steps.at(-1)).toBe('state 1500/1500')
    expect(steps.filter((step) => step.startsWith('signatures')).length).toBeGreaterThan(1)
  })
})

describe('fast verification', () => {
  it('looks at the last n, the link into them, and nothing before', async () => {
    const records = await wellSigned(50)
    const broken = changed(records, 30, { signature: null })
    const log = await logWith(broken)
    expect(await verify(log, { mode: 'fast', n: 20 })).toMatchObject({ ok: true, checked: 20 })
    expect(await verify(log, { mode: 'fast', n: 21 })).toMatchObject({
      ok: false,
      checked: 21,
      first_bad_seq: 30,
    })
    expect(await verify(log, { mode: 'fast', n: 100_000 })).toMatchObject({ ok: false, checked: 50 })
  })
})
