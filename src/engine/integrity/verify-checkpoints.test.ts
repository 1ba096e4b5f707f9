import { appendFile, rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  changed,
  logWith,
  node,
  other,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import { headAfter, notes, rechained, recordsOf, started } from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'

const fixture = useIntegrityFixture()
const { checkpointAt, verify } = fixture

const PASS = { hash_chain: 'pass', sequence: 'pass', signatures: 'pass', checkpoint: 'pass' }

describe.each(['fast', 'full'] as const)('%s verification against checkpoints', (mode) => {
  it('finds that the end was cut off, with the first missing event', async () => {
    const records = await wellSigned(50)
    await checkpointAt(records, 20, 40)
    const log = await logWith(records.slice(0, 35))
    expect(await verify(log, { mode })).toMatchObject({
      ok: false,
      reason: 'truncated',
      first_bad_seq: 36,
      first_bad_id: null,
      checks: { ...PASS, checkpoint: 'fail' },
    })
    expect(await verify(new MemoryLog(), { mode })).toMatchObject({
      ok: false,
      reason: 'truncated',
      first_bad_seq: 1,
    })
    // The fault is invisible without data outside of the log.
    expect(await verify(log, { mode, checkpoints: null })).toMatchObject({ ok: true })
  })

  it('accuses the checkpoint, not the log, when the checkpoint is the forged one', async () => {
    const records = await wellSigned(20)
    await checkpointAt(records, 10, 20)
    const log = await logWith(records)
    const { notes: kept } = await fixture.store().read('all')
    await rm(fixture.path())
    await fixture.store().append(kept[0]!.note)
    await fixture.store().append(kept[1]!.note.replace('time 20', 'time 19'))
    expect(await verify(log, { mode })).toMatchObject({
      ok: false,
      reason: 'checkpoint',
      first_bad_seq: null,
      checks: { ...PASS, checkpoint: 'fail' },
    })
  })

  it('mentions a checkpoint that a crash cut off, and passes', async () => {
    const records = await wellSigned(20)
    await appendFile(fixture.path(), '\n\nsignal-engine/events/ab\n12')
    const report = await verify(await logWith(records), { mode })
    expect(report).toMatchObject({ ok: true })
    expect(report.detail).toContain('unreadable pieces among the checkpoints: 1')
  })

  it('does not pass when checkpoints are there and none can be read', async () => {
    await appendFile(fixture.path(), '\n\nsome\n\n\nrubbish\n')
    expect(await verify(await logWith(await wellSigned(20)), { mode })).toMatchObject({
      ok: false,
      reason: 'checkpoint',
    })
  })
})

describe('full verification against checkpoints', () => {
  it('finds a signature that another node made of the same payload', async () => {
    const said = { type: 'signal.test.v1', payload: { same: true } }
    const mine = await recordsOf([started(node), ...notes(10), said], node)
    const records = [
      ...mine,
      ...(await recordsOf([started(other), said, ...notes(20)], other, headAfter(mine))),
    ]
    await checkpointAt(records, 13, 20, 30)
    // The signature of the payload is valid for its text. Only the signature of the batch shows that it was made for
    // another place.
    const replayed = changed(records, 14, { signature: records[11]!.signature, signer: node.nodeId })
    for (const checkpoints of [null, fixture.store()])
      expect(await verify(await logWith(replayed), { checkpoints })).toMatchObject({
        ok: false,
        reason: 'signature',
        first_bad_seq: 14,
        first_bad_id: records[13]!.id,
      })
  })

  it('finds a time of recording that was moved within its order', async () => {
    const records = await wellSigned(40)
    await checkpointAt(records, 10, 20, 30)
    const moved = changed(records, 14, { recordedAt: records[12]!.recordedAt })
    for (const checkpoints of [null, fixture.store()])
      expect(await verify(await logWith(moved), { checkpoints })).toMatchObject({
        ok: false,
        reason: 'signature',
        first_bad_seq: 14,
      })
  })

  it('finds a middle that was cut out and chained again', async () => {
    const records = await wellSigned(40)
    await checkpointAt(records, 10, 30)
    const shortened = rechained(records.filter(({ seq }) => seq !== 15))
    for (const checkpoints of [null, fixture.store()])
      expect(await verify(await logWith(shortened), { checkpoints })).toMatchObject({
        ok: false,
        reason: 'signature',
        first_bad_seq: 15,
      })
    expect(await verify(await logWith(shortened), { mode: 'fast', n: 5 })).toMatchObject({
      ok: false,
      checks: { ...PASS, signatures: 'fail', checkpoint: 'fail' },
    })
  })

  it('finds a log that was made anew from the start', async () => {
    const records = await wellSigned(40)
    await checkpointAt(records, 10, 30)
    const forged = await recordsOf([started(other), ...notes(39)], other)
    expect(await verify(await logWith(forged), { checkpoints: null })).toMatchObject({ ok: true })
    for (const mode of ['fast', 'full'] as const) {
      expect(await verify(await logWith(forged), { mode })).toMatchObject({ ok: false, reason: 'checkpoint' })
    }
  })
})
