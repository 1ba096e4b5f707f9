import { readdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  logWith,
  node,
  other,
  rootHexOf,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import {
  appendSaid,
  fill,
  headAfter,
  notes,
  recordsOf,
  started,
} from '../../../test/tamper/signed-log.fixture.ts'
import { checkpointText, signedNote } from '../../core/log/checkpoint.ts'
import { headOf, type LogRecord } from '../../core/log/event.ts'
import { EMPTY_FRONTIER, extendFrontier, rootOf } from '../../core/log/merkle.ts'
import { sha256 } from '../sha256.ts'
import { leafOfRecord, originOf } from './tree-check.ts'

const fixture = useIntegrityFixture()

describe('a log that contradicts its newest checkpoint', () => {
  const signedLog = async (records: readonly LogRecord[]): Promise<void> => {
    await fixture.checkpointerOf(await logWith(records)).step('now')
  }

  it.each([
    ['lost its end', async (records: readonly LogRecord[]) => records.slice(0, 6), 'truncated', 7],
    ['is empty', async () => [], 'truncated', 1],
    [
      'was continued differently',
      async (records: readonly LogRecord[]) => [
        ...records.slice(0, 6),
        ...(await recordsOf(notes(10, 100), node, headAfter(records.slice(0, 6)))),
      ],
      'checkpoint',
      10,
    ],
    ['is another one', () => wellSigned(20, 500), 'checkpoint', 10],
    ['began differently', () => recordsOf([started(other), ...notes(11)], other), 'checkpoint', 1],
  ])('stops when the log %s', async (_, change, reason, seq) => {
    const records = await wellSigned(10)
    await signedLog(records)
    const before = (await fixture.newest())!.note
    const log = await logWith(await change(records))
    const checkpointer = fixture.checkpointerOf(log)
    const step = await checkpointer.step('now')
    expect(step).toMatchObject({ status: 'stopped', fault: { reason, seq } })
    expect((await fixture.newest())!.note).toBe(before)
    // Growing beyond the checkpoint again does not repair the log.
    await appendSaid(log, [started(node), ...notes(30, 900)], node)
    fixture.nowMs += 1_000_000
    expect(await checkpointer.step('due')).toEqual(step)
    expect(await fixture.checkpointerOf(log).step('due')).toMatchObject({ status: 'stopped' })
  })

  it('goes on after an operator accepted the loss, also in a process that runs', async () => {
    const records = await wellSigned(10)
    await signedLog(records)
    const log = await logWith(records.slice(0, 6))
    const checkpointer = fixture.checkpointerOf(log)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'stopped' })
    expect(await fixture.store().setAside(new Date(fixture.nowMs).toISOString())).toBe(
      `${fixture.path()}.superseded-20260601T000000000Z`,
    )
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 6 })
    expect(Buffer.from((await fixture.newest())!.root).toString('hex')).toBe(rootHexOf(records.slice(0, 6)))
    expect(await readdir(dirname(fixture.path()))).toHaveLength(2)
  })

  it('has nothing to accept without checkpoints', async () => {
    expect(await fixture.store().setAside(new Date(fixture.nowMs).toISOString())).toBeNull()
  })

  it('does not build on a note that a known node did not sign as it is', async () => {
    const records = await wellSigned(10)
    await signedLog(records)
    const { note, text } = (await fixture.newest())!
    const [signature = ''] = await other.signAll([text])
    const forgeries = [
      // The right text, signed by another key under the node's name.
      signedNote(text, { keyName: node.nodeId, publicKey: node.publicKey, signature }, sha256),
      // A valid signature by a node that the log does not know.
      signedNote(text, { keyName: other.nodeId, publicKey: other.publicKey, signature }, sha256),
      // A changed text under the old signature.
      note.replace('time 2026', 'time 2025'),
      // The key id of another key.
      signedNote(text, { keyName: node.nodeId, publicKey: other.publicKey, signature }, sha256),
    ]
    for (const forgery of forgeries) {
      await rm(fixture.path())
      await fixture.store().append(forgery)
      const step = await fixture.checkpointerOf(await logWith(records)).step('now')
      expect(step).toMatchObject({ status: 'stopped', fault: { reason: 'checkpoint', seq: null } })
    }
  })

  it('does not build on a signed frontier that does not give its root, or on leaves that are not in the log', async () => {
    const records = await wellSigned(10)
    const keys = new Map([[node.nodeId, node.publicKey]])
    const leaves = records.map((record) => leafOfRecord(record, keys))
    const right = extendFrontier(EMPTY_FRONTIER, leaves, sha256)
    const wrong = extendFrontier(EMPTY_FRONTIER, leaves.toReversed(), sha256)
    const base = { origin: originOf(records[0]!), head: records[9]!.hash, time: '2026-06-01T00:00:00.000Z' }
    const appendSigned = async (frontier: typeof right, root: Uint8Array): Promise<void> => {
      const text = checkpointText({ ...base, frontier, root, eventRoot: null })
      const [signature = ''] = await node.signAll([text])
      await fixture
        .store()
        .append(signedNote(text, { keyName: node.nodeId, publicKey: node.publicKey, signature }, sha256))
    }
    await appendSigned(wrong, rootOf(right, sha256))
    expect(await fixture.checkpointerOf(await logWith(records)).step('now')).toMatchObject({
      status: 'stopped',
      fault: { seq: null },
    })

    await rm(fixture.path())
    const log = await logWith(records.slice(0, 5))
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('now')
    await fill(log, records.slice(5))
    await appendSigned(wrong, rootOf(wrong, sha256))
    expect(await checkpointer.step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'checkpoint', seq: 10 },
    })
  })

  it('stops when the log gets shorter while the process runs', async () => {
    const records = await wellSigned(10)
    const log = await logWith(records)
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('now')
    log.head = () => Promise.resolve(headOf(records[6]!))
    expect(await checkpointer.step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'truncated', seq: 8 },
    })
  })

  it('stops at an event that does not follow', async () => {
    const records = await wellSigned(10)
    const log = await logWith(records.slice(0, 5))
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('now')
    // The log behind the tree is exchanged while the process runs.
    const exchanged = await recordsOf(notes(5, 70), node, { ...headOf(records[4]!), hash: 'ab'.repeat(32) })
    const scan = log.scan.bind(log)
    log.scan = (range) => (range.after < 5 ? scan(range) : pageOf(exchanged))
    log.head = () => Promise.resolve(headAfter(exchanged))
    expect(await checkpointer.step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'link', seq: 6 },
    })
  })

  it('stops when the store holds fewer events than it says', async () => {
    const log = await logWith(await wellSigned(10))
    const head = { ...(await log.head()), seq: 12 }
    log.head = () => Promise.resolve(head)
    expect(await fixture.checkpointerOf(log).step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'sequence', seq: 11 },
    })
  })
})

async function* pageOf(records: readonly LogRecord[]): AsyncIterable<readonly LogRecord[]> {
  yield records
}
