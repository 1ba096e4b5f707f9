import { describe, expect, it } from 'vitest'
import { node, other, useIntegrityFixture } from '../../../test/tamper/integrity.fixture.ts'
import {
  fill,
  notes,
  rechained,
  recordsOf,
  resigned,
  started,
} from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../../adapters/storage/memory/memory-store.ts'
import { headOf, type LogRecord } from '../../core/log/event.ts'
import { proveEvent } from '../proofs/prove.ts'
import { catchUp, EMPTY_MEMORY, recall, snapshotOf } from '../memory.ts'
import type { Trust } from './trust.ts'
import { createFold, TrustedHeads } from './trusted-fold.ts'

const fixture = useIntegrityFixture()
const trust: Trust = { signatures: fixture.signatures, own: node, firstHash: null }

/** A first event that closes the log for keys that are not admitted. */
const closing = { ...started(node), payload: { ...started(node).payload, ephemeral: false } }

const keyEvent = (type: 'system.key_admitted.v1' | 'system.key_retired.v1') => ({
  type,
  source: 'cli',
  payload: { node_id: other.nodeId, public_key: other.publicKey, reason: 'test' },
})

const signedLog = async (records: readonly LogRecord[]) => {
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  await fill(log, records)
  const put = (changed: readonly LogRecord[]): void =>
    void store.records.splice(0, store.records.length, ...changed)
  return { log, put }
}

/** Two accepted nodes, and 20 events of the first. */
const twoNodes = async () =>
  signedLog(await recordsOf([closing, keyEvent('system.key_admitted.v1'), ...notes(18)], node))

describe('the snapshot that a reader goes on from', () => {
  const snapshotAt = async (log: MemoryLog, upTo: number, signer = node) =>
    snapshotOf(await catchUp(log, EMPTY_MEMORY, { trust, upTo }), signer)

  it('is the newest of its own key, whatever other accepted keys have signed', async () => {
    const { log } = await twoNodes()
    await log.saveSnapshot(await snapshotAt(log, 10))
    await log.saveSnapshot(await snapshotAt(log, 15, other))
    expect((await recall(log, trust)).head.seq).toBe(10)
    expect((await recall(log, { ...trust, own: other })).head.seq).toBe(15)
    expect((await recall(log, { ...trust, own: null })).head.seq).toBe(0)
    expect(await fixture.verify(log, { trust, checkpoints: null })).toMatchObject({ ok: true })
  })

  it('is none with a wrong signature in the name of an accepted key, and every way to verify names it', async () => {
    const { log } = await twoNodes()
    for (const signer of [node, other]) {
      const { signature } = await snapshotAt(log, 12, signer)
      await log.saveSnapshot({ ...(await snapshotAt(log, 15, signer)), signature })
      expect((await recall(log, { ...trust, own: signer })).head.seq).toBe(0)
      for (const mode of ['fast', 'full'] as const)
        expect(await fixture.verify(log, { mode, trust, checkpoints: null })).toMatchObject({
          ok: false,
          reason: 'snapshot',
        })
    }
  })

  it('is not believed because of the store: a snapshot of the outsider is none, whatever the store is asked for', async () => {
    const { log } = await twoNodes()
    const forged = { ...(await snapshotAt(log, 15)), signer: other.nodeId }
    log.loadSnapshot = () => Promise.resolve(forged)
    expect((await recall(log, trust)).head.seq).toBe(0)
  })

  it('is none of another state under a signature of its own', async () => {
    const { log } = await twoNodes()
    const snapshot = await snapshotAt(log, 15)
    await log.saveSnapshot({ ...snapshot, state: `${snapshot.state} ` })
    expect((await recall(log, trust)).head.seq).toBe(0)
  })
})

describe('rows that are exchanged behind a fold, with hashes that fit again', () => {
  const thief = other

  /** Events that a retired key signed, stored in the place of events that the fold has read. */
  const exchanged = async () => {
    const said = [
      closing,
      keyEvent('system.key_admitted.v1'),
      keyEvent('system.key_retired.v1'),
      ...notes(17),
    ]
    const records = await recordsOf(said, node)
    const { log, put } = await signedLog(records)
    const fold = createFold(log, trust)
    await fold()
    const forged = await resigned(
      rechained(
        records.slice(14).map((record) => ({ ...record, payload: '{"forged":true}', signer: thief.nodeId })),
        headOf(records[13]!),
      ),
      thief,
    )
    return { log, fold, forged, put: () => put([...records.slice(0, 14), ...forged]) }
  }

  it('are found by fast verification', async () => {
    const { log, fold, put } = await exchanged()
    const verify = () => fixture.verify(log, { mode: 'fast', n: 3, trust, fold, checkpoints: null })
    expect(await verify()).toMatchObject({ ok: true })
    put()
    expect(await verify()).toMatchObject({ ok: false, first_bad_seq: 20, reason: 'link' })
  })

  it('are not covered by a new checkpoint', async () => {
    const { log, fold, put } = await exchanged()
    put()
    const checkpointer = fixture.checkpointerOf(log, { fold })
    expect(await checkpointer.step('now')).toMatchObject({ status: 'stopped', fault: { reason: 'link' } })
  })

  it('are not proved by a checkpoint of a key that was retired', async () => {
    const { log, fold, forged, put } = await exchanged()
    put()
    // A thief of the retired key signs the record there.
    const theirs = fixture.checkpointerOf(log, { signer: thief })
    await theirs.step('now')
    expect((await fixture.newest())?.keyName).toBe(thief.nodeId)
    const prover = {
      log,
      checkpoints: fixture.store(),
      signatures: fixture.signatures,
      trust,
      fold,
      signer: node,
      signCheckpoint: null,
    }
    expect(await proveEvent(prover, forged[2]!)).toMatchObject({ status: 'unavailable' })
  })
})

describe('trusted heads', () => {
  it('are the newest in a range, also of many more than are kept', () => {
    const heads = new TrustedHeads()
    for (let seq = 1; seq <= 45_000; seq += 1) heads.add({ seq, hash: String(seq) })
    expect(heads.newestIn(44_999, 45_000)).toEqual({ seq: 45_000, hash: '45000' })
    const early = heads.newestIn(0, 5000)
    expect(early?.seq).toBeGreaterThan(4500)
    expect(heads.newestIn(45_000, 99_999)).toBeNull()
    expect(heads.newestIn(0, 0)).toBeNull()
  })
})
