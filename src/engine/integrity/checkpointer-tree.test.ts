import { describe, expect, it } from 'vitest'
import { treeHash } from '../../../test/rfc6962.fixture.ts'
import {
  logWith,
  node,
  rootHexOf,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import { fill } from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { checkpointText, signedNote } from '../../core/log/checkpoint.ts'
import type { LogRecord } from '../../core/log/event.ts'
import type { NodeRange } from '../../core/log/tree.ts'
import { sha256 } from '../sha256.ts'

const fixture = useIntegrityFixture()

const eventRootHexOf = (records: readonly LogRecord[]): string =>
  treeHash(records.map((record) => Buffer.from(record.hash, 'hex'))).toString('hex')

const newestRoots = async (): Promise<readonly (string | null)[]> => {
  const note = (await fixture.newest())!
  return [note.root, note.eventRoot].map((root) => (root === null ? null : Buffer.from(root).toString('hex')))
}

/** A log whose tree nodes were changed in the database. */
class WrongNodes extends MemoryLog {
  override async treeNodes(range: NodeRange): Promise<readonly Uint8Array[]> {
    const nodes = await super.treeNodes(range)
    return range.level === 0 ? nodes : nodes.map(() => new Uint8Array(32).fill(7))
  }
}

describe('the root over event hashes', () => {
  it('is signed with each checkpoint, in steps and after a restart', async () => {
    const records = await wellSigned(700)
    const log = await logWith(records.slice(0, 300))
    await fixture.checkpointerOf(log).step('now')
    expect(await newestRoots()).toEqual([
      rootHexOf(records.slice(0, 300)),
      eventRootHexOf(records.slice(0, 300)),
    ])
    await fill(log, records.slice(300))
    expect(await fixture.checkpointerOf(log).step('now')).toMatchObject({ status: 'signed', size: 700 })
    expect(await newestRoots()).toEqual([rootHexOf(records), eventRootHexOf(records)])
  })

  it('is computed from the events when the newest checkpoint is of a release without it', async () => {
    const records = await wellSigned(30)
    await fixture.checkpointAt(records, 20)
    const { note: _, ...newest } = (await fixture.newest())!
    const older = checkpointText({ ...newest, eventRoot: null })
    const { nodeId: keyName, publicKey } = node
    await fixture.store().setAside('2026-06-01T00:00:00.000Z')
    await fixture
      .store()
      .append(signedNote(older, { keyName, publicKey, signature: node.sign(older) }, sha256))
    expect(await newestRoots()).toEqual([rootHexOf(records.slice(0, 20)), null])
    const checkpointer = fixture.checkpointerOf(await logWith(records), { stepMax: 15 })
    expect(await checkpointer.step('now')).toEqual({ status: 'catching-up' })
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 30 })
    expect(await newestRoots()).toEqual([rootHexOf(records), eventRootHexOf(records)])
    expect(await fixture.verify(await logWith(records))).toMatchObject({ ok: true })
  })

  it('never comes from stored nodes that give another root than the signed one', async () => {
    const records = await wellSigned(700)
    await fixture.checkpointAt(records, 600)
    const log = new WrongNodes()
    await fill(log, records)
    const checkpointer = fixture.checkpointerOf(log)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 700 })
    expect(await newestRoots()).toEqual([rootHexOf(records), eventRootHexOf(records)])
  })

  it('is signed once for those who ask at the same time', async () => {
    const checkpointer = fixture.checkpointerOf(await logWith(await wellSigned(50)))
    const steps = await Promise.all([
      checkpointer.step('now'),
      checkpointer.step('now'),
      checkpointer.step('due'),
    ])
    expect(steps.map(({ status }) => status)).toEqual(['signed', 'idle', 'idle'])
    expect((await fixture.store().read('all')).notes).toHaveLength(1)
  })
})
