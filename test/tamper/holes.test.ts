import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IntegrityReport } from '../../src/engine/integrity/report.ts'
import { found, SOUND } from './columns.fixture.ts'
import { modify, overwrite, remove, removeAndRecount, sql } from './edits.fixture.ts'
import { buildTamperedLogs, LAST_SEQ, node, type TamperedLogs, type Raw } from './tampered-log.fixture.ts'
import { headAfter, rechained } from './signed-log.fixture.ts'

let logs: TamperedLogs
beforeAll(async () => {
  logs = await buildTamperedLogs()
})
afterAll(() => logs.end())

const fastOf = async (edit: (raw: Raw) => void): Promise<IntegrityReport> =>
  (await logs.broken(edit)).verify('fast')

describe('the seven holes of the chain', () => {
  it('a bar that moves from one field to the next leaves the hash as it is', async () => {
    const before = logs.records.slice(0, LAST_SEQ)
    const [forged] = rechained(
      [{ ...before[13]!, traceId: 'b', dedupeKey: '|', id: 'new' }],
      headAfter(before),
    )
    const moved = { ...forged!, traceId: 'b|', dedupeKey: null }
    expect(rechained([moved], headAfter(before))[0]?.hash).toBe(forged!.hash)
    for (const record of [forged!, moved]) {
      const { verify } = await logs.broken(overwrite([{ ...record, recordedAt: before.at(-1)!.recordedAt }]))
      expect(await verify('full')).toMatchObject(found({ reason: 'field', seq: 41 }))
      expect(await verify('fast')).toMatchObject(found({ reason: 'field', seq: 41 }))
    }
  })

  it('a signature that was stripped or exchanged is missing from its leaf', async () => {
    const { verify } = await logs.broken(
      sql('UPDATE events SET signature = NULL, signer = NULL WHERE seq = 15'),
    )
    expect(await verify('full')).toMatchObject({
      checks: { hash_chain: 'pass', signatures: 'fail', checkpoint: 'fail' },
    })
  })

  it('a signature that fits the payload but belongs to another event is not for this place', async () => {
    const replay = sql(
      'UPDATE events SET (signature, signer) = (SELECT signature, signer FROM events WHERE seq = 4) WHERE seq = 5',
    )
    const { verify } = await logs.broken(replay)
    expect(await verify('full', { checkpoints: null })).toMatchObject(found({ reason: 'signature', seq: 5 }))
    expect(await verify('full')).toMatchObject(found({ reason: 'signature', seq: 5 }))
  })

  it('an end that was cut off leaves a valid chain, but not the one of the newest checkpoint', async () => {
    const { verify } = await logs.broken(removeAndRecount('seq > 31'))
    expect(await verify('full', { checkpoints: null })).toMatchObject(SOUND)
    expect(await verify('full')).toMatchObject(found({ reason: 'truncated', seq: 32 }))
    expect(await verify('fast')).toMatchObject(found({ reason: 'truncated', seq: 32 }))
  })

  it('an empty field hashes like an absent one', async () => {
    const { verify } = await logs.broken(modify('dedupe_key', `''`, 4))
    expect(await verify('full')).toMatchObject(found({ reason: 'field', seq: 4 }))
  })

  it('a second text for the same value, hashed and signed properly, is not canonical', async () => {
    for (const payload of [
      '{"number":1.50}',
      '{"b":1,"a":2}',
      '{"a":1,"a":2}',
      '{"a":"\\u0041"}',
      '{"a":"\\ud800"}',
    ]) {
      const [signature = null] = await node.signAll([payload])
      const [forged] = rechained(
        [
          {
            ...logs.records[14]!,
            id: 'new',
            payload,
            signature,
            recordedAt: logs.records.at(-1)!.recordedAt,
          },
        ],
        headAfter(logs.records),
      )
      const { verify } = await logs.broken(overwrite([forged!]))
      expect(await verify('full')).toMatchObject(found({ reason: 'canonical', seq: 41 }))
      expect(await verify('fast')).toMatchObject(found({ reason: 'canonical', seq: 41 }))
    }
  })

  it('what happened right before the window of fast verification shows in the link into it', async () => {
    expect(await fastOf(modify('hash', `'${'00'.repeat(32)}'`, 30))).toMatchObject(
      found({ reason: 'link', seq: 31 }),
    )
    expect(await fastOf(modify('prev_hash', `'${'00'.repeat(32)}'`, 31))).toMatchObject(
      found({ reason: 'link', seq: 31 }),
    )
    expect(await fastOf(remove('seq = 30'))).toMatchObject(found({ reason: 'sequence', seq: 30 }))
  })
})

describe('an event that a node said before', () => {
  it('put behind the newest checkpoint under a new id, has no signature for its place', async () => {
    const replayed = { ...logs.records[13]!, id: 'new', recordedAt: logs.records.at(-1)!.recordedAt }
    const [forged] = rechained([replayed], headAfter(logs.records))
    const { verify } = await logs.broken(overwrite([forged!]))
    for (const mode of ['fast', 'full'] as const)
      expect(await verify(mode)).toMatchObject(found({ reason: 'signature', seq: 41 }))
  })

  it('without any signature of a batch, is in none', async () => {
    const replayed = {
      ...logs.records[13]!,
      id: 'new',
      recordedAt: logs.records.at(-1)!.recordedAt,
      batchSignature: null,
      commands: null,
    }
    const [forged] = rechained([replayed], headAfter(logs.records))
    const { verify } = await logs.broken(overwrite([forged!]))
    expect(await verify('full')).toMatchObject(found({ reason: 'signature', seq: 41 }))
  })
})
