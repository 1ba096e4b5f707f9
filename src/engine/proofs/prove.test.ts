import { describe, expect, it } from 'vitest'
import {
  changed,
  logWith,
  node,
  other,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import { appendSaid, fill, notes, started } from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { parseProof, parseVerifierKey, verifierKeyText } from '../../core/log/proof.ts'
import type { NodeRange } from '../../core/log/tree.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { sha256 } from '../sha256.ts'
import {
  proveConsistency,
  proveEvent,
  proveGrowth,
  usableCheckpoints,
  type Proved,
  type ProverDependencies,
} from './prove.ts'
import { verifyProof } from './verify-proof.ts'

const fixture = useIntegrityFixture()

const keyOf = ({ nodeId, publicKey }: typeof node): ReturnType<typeof parseVerifierKey> =>
  parseVerifierKey(verifierKeyText(nodeId, publicKey, sha256), sha256)

const proverOf = (log: EventLog, dependencies: Partial<ProverDependencies> = {}): ProverDependencies => {
  const checkpointer = fixture.checkpointerOf(log)
  return {
    log,
    checkpoints: fixture.store(),
    signatures: fixture.signatures,
    trust: { signatures: fixture.signatures, own: null, firstHash: null },
    signer: node,
    signCheckpoint: () => checkpointer.step('now'),
    ...dependencies,
  }
}

const textOf = (proof: Proved): string => {
  if (proof.status !== 'proved') throw new Error(proof.detail)
  return proof.text
}

const sizeOf = (text: string): number => {
  const proof = parseProof(text)
  return proof.kind === 'inclusion' ? proof.treeHead.size : 0
}

describe('proving an event', () => {
  it('leads to the oldest checkpoint that covers it, for every event', async () => {
    const records = await wellSigned(700)
    await fixture.checkpointAt(records, 300, 500, 700)
    const log = await logWith(records)
    for (const seq of [1, 2, 255, 256, 257, 300, 301, 499, 500, 512, 513, 700]) {
      const text = textOf(await proveEvent(proverOf(log, { signCheckpoint: null }), records[seq - 1]!))
      expect(sizeOf(text)).toBe([300, 500, 700].find((size) => size >= seq))
      expect(await verifyProof(text, keyOf(node), fixture.signatures)).toMatchObject({
        status: 'included',
        seq,
        hash: records[seq - 1]!.hash,
      })
    }
  })

  it('signs a checkpoint when none covers the event yet', async () => {
    const records = await wellSigned(40)
    await fixture.checkpointAt(records, 20)
    const log = await logWith(records)
    const text = textOf(await proveEvent(proverOf(log), records[29]!))
    expect(sizeOf(text)).toBe(40)
    expect(await verifyProof(text, keyOf(node), fixture.signatures)).toMatchObject({ status: 'included' })
    expect((await fixture.newest())?.frontier.size).toBe(40)
  })

  it('signs in as many steps as it takes', async () => {
    const records = await wellSigned(40)
    const checkpointer = fixture.checkpointerOf(await logWith(records), { stepMax: 7 })
    const prover = proverOf(await logWith(records), { signCheckpoint: () => checkpointer.step('now') })
    expect(sizeOf(textOf(await proveEvent(prover, records[29]!)))).toBe(35)
  })

  it('asks for no more checkpoints than the event needs, and for none once nothing is left to sign', async () => {
    const records = await wellSigned(40)
    const log = await logWith(records)
    const checkpointer = fixture.checkpointerOf(log, { stepMax: 10 })
    let asked = 0
    const prover = proverOf(log, {
      signCheckpoint: () => {
        asked += 1
        return checkpointer.step('now')
      },
    })
    expect(sizeOf(textOf(await proveEvent(prover, records[19]!)))).toBe(20)
    expect(asked).toBe(2)
    const idle = proverOf(log, {
      signCheckpoint: () => {
        asked += 1
        return Promise.resolve({ status: 'idle' })
      },
    })
    expect(await proveEvent(idle, records[39]!)).toMatchObject({ status: 'unavailable' })
    expect(asked).toBe(3)
  })

  it('says why there is none, without a key to sign with or where signing stopped', async () => {
    const records = await wellSigned(40)
    await fixture.checkpointAt(records, 20)
    const log = await logWith(records)
    expect(await proveEvent(proverOf(log, { signCheckpoint: null }), records[29]!)).toEqual({
      status: 'unavailable',
      detail: 'no checkpoint covers this event yet',
    })
    const forked = await wellSigned(40, 5)
    expect(await proveEvent(proverOf(await logWith(forked)), forked[29]!)).toMatchObject({
      status: 'unavailable',
      detail: expect.stringContaining('no checkpoint is signed: '),
    })
  })

  it('prefers the key that outsiders know, and takes another one of the log where there is nothing new to sign', async () => {
    const log = await logWith(await wellSigned(20))
    await appendSaid(log, [started(other), ...notes(4, 20)], other)
    await fixture.checkpointerOf(log, { signer: other }).step('now')
    const [record] = await log.read({ order: 'asc', limit: 1 })
    const theirs = textOf(await proveEvent(proverOf(log), record!))
    expect(await verifyProof(theirs, keyOf(other), fixture.signatures)).toMatchObject({ status: 'included' })
    await appendSaid(log, notes(3, 30), node)
    const ours = textOf(await proveEvent(proverOf(log), record!))
    expect(await verifyProof(ours, keyOf(node), fixture.signatures)).toMatchObject({ status: 'included' })
  })

  it('uses no checkpoint that was changed', async () => {
    const records = await wellSigned(10)
    await fixture.checkpointAt(records, 10)
    const { note } = (await fixture.newest())!
    await fixture.store().setAside('2026-06-01T00:00:00.000Z')
    await fixture.store().append(note.replace('time 2026', 'time 2025'))
    const prover = proverOf(await logWith(records), { signCheckpoint: null })
    expect(await proveEvent(prover, records[3]!)).toMatchObject({ status: 'unavailable' })
  })

  it('hands out no proof of a changed event or from a changed tree', async () => {
    const records = await wellSigned(600)
    await fixture.checkpointAt(records, 600)
    const edited = changed(records, 300, { payload: '{"n":0}' })
    const prover = proverOf(await logWith(records), { signCheckpoint: null })
    expect(await proveEvent(prover, edited[299]!)).toMatchObject({
      detail: 'event 300 does not have the hash of its content',
    })
    const log = new WrongNodes()
    await fill(log, records)
    expect(await proveEvent(proverOf(log, { signCheckpoint: null }), records[599]!)).toMatchObject({
      status: 'unavailable',
      detail: expect.stringContaining('does not lead to the root that was signed at 600'),
    })
  })

  it('reads a few hundred nodes, not the log', async () => {
    const records = await wellSigned(3000)
    await fixture.checkpointAt(records, 3000)
    const log = new CountedReads()
    await fill(log, records)
    textOf(await proveEvent(proverOf(log, { signCheckpoint: null }), records[1234]!))
    expect(log.nodes).toBeGreaterThan(10)
    expect(log.nodes).toBeLessThan(1024)
  })
})

describe('proving consistency', () => {
  it('holds between kept checkpoints', async () => {
    const records = await wellSigned(700)
    await fixture.checkpointAt(records, 100, 256, 700)
    const log = await logWith(records)
    const kept = usableCheckpoints((await fixture.store().read('all')).notes)
    for (const older of kept)
      for (const newer of kept.filter(({ size }) => size >= older.size)) {
        const text = textOf(await proveConsistency(log, older, newer))
        expect(await verifyProof(text, keyOf(node), fixture.signatures)).toMatchObject({
          status: 'consistent',
          older: { size: older.size },
          newer: { size: newer.size },
        })
      }
  })

  it('holds between kept checkpoints that are named by their sizes, in any order', async () => {
    const records = await wellSigned(700)
    await fixture.checkpointAt(records, 100, 256, 700)
    const dependencies = { log: await logWith(records), checkpoints: fixture.store() }
    const sizes = async (from: number | null, to: number | null) => {
      const proof = await proveGrowth(dependencies, from, to)
      if (proof.status !== 'proved') return proof
      const verified = await verifyProof(proof.text, keyOf(node), fixture.signatures)
      return verified.status === 'consistent' ? [verified.older.size, verified.newer.size] : verified
    }
    expect(await sizes(null, null)).toEqual([100, 700])
    expect(await sizes(256, null)).toEqual([256, 700])
    expect(await sizes(null, 256)).toEqual([100, 256])
    expect(await sizes(700, 256)).toEqual([256, 700])
    expect(await sizes(256, 256)).toEqual([256, 256])
    for (const [from, to] of [
      [99, 700],
      [100, 99],
    ] as const)
      expect(await sizes(from, to)).toEqual({ status: 'not-kept', size: 99, kept: [100, 256, 700] })
  })

  it('is not proved of a log that was rewritten in between', async () => {
    const records = await wellSigned(40)
    await fixture.checkpointAt(records, 20)
    const [older] = usableCheckpoints((await fixture.store().read('all')).notes)
    const rewritten = await wellSigned(40, 5)
    await fixture.store().setAside('2026-06-01T00:00:00.000Z')
    await fixture.checkpointAt(rewritten, 40)
    const [newer] = usableCheckpoints((await fixture.store().read('all')).notes)
    expect(await proveConsistency(await logWith(rewritten), older!, newer!)).toMatchObject({
      status: 'unavailable',
    })
  })
})

/** A log whose tree nodes were changed in the database. */
class WrongNodes extends MemoryLog {
  override async treeNodes(range: NodeRange): Promise<readonly Uint8Array[]> {
    const nodes = await super.treeNodes(range)
    return range.level === 0 ? nodes : nodes.map(() => new Uint8Array(32).fill(7))
  }
}

class CountedReads extends MemoryLog {
  nodes = 0
  override async treeNodes(range: NodeRange): Promise<readonly Uint8Array[]> {
    const nodes = await super.treeNodes(range)
    this.nodes += nodes.length
    return nodes
  }
  // oxlint-disable-next-line require-yield -- a scan is what must not happen
  override async *scan(): AsyncGenerator<never> {
    throw new Error('the log was scanned')
  }
}
