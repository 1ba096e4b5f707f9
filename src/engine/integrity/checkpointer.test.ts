import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  headAfter,
  nodeOf,
  notes,
  recordsOf,
  appendSaid,
  fill,
  started,
} from '../../../test/tamper/signed-log.ts'
import { checkpointFile } from '../../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { signaturePool } from '../../adapters/platform/signatures/signature-pool.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { checkpointText, signedNote, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { headOf, type LogRecord } from '../../core/log/event.ts'
import { EMPTY_FRONTIER, extendFrontier, rootOf } from '../../core/log/merkle.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { Signer } from '../../ports/signer.ts'
import { acceptLoss } from './accept-loss.ts'
import { createCheckpointer, type Checkpointer, type CheckpointerParts } from './checkpointer.ts'
import { sha256 } from './sha256-bytes.ts'
import { leafOfRecord, originOf } from './tree-check.ts'

const node = nodeOf(1)
const other = nodeOf(2)
const signatures = signaturePool({ threads: 0 })
afterAll(() => signatures.close())

let folder: string
let store: CheckpointStore
let nowMs: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpointer-'))
  store = checkpointFile(join(folder, 'events.db.checkpoints'))
  nowMs = Date.UTC(2026, 5, 1)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const checkpointerOf = (log: MemoryLog, parts: Partial<CheckpointerParts> = {}): Checkpointer =>
  createCheckpointer({
    log,
    checkpoints: store,
    signer: node,
    signatures,
    clock: { now: () => nowMs },
    everyEvents: 10,
    everyMs: 1000,
    stepMax: 100,
    ...parts,
  })

const newest = async (): Promise<SignedCheckpoint | undefined> => (await store.read('newest')).notes.at(-1)

const logWith = async (records: readonly LogRecord[]): Promise<MemoryLog> => {
  const log = new MemoryLog()
  await fill(log, records)
  return log
}

const someRecords = (count: number, from = 1): Promise<readonly LogRecord[]> =>
  recordsOf([started(node), ...notes(count - 1, from)], node)

const rootHexOf = (records: readonly LogRecord[], signer: Signer = node): string => {
  const keys = new Map([[signer.nodeId, signer.publicKey]])
  const leaves = records.map((record) => leafOfRecord(record, keys))
  return Buffer.from(rootOf(extendFrontier(EMPTY_FRONTIER, leaves, sha256), sha256)).toString('hex')
}

describe('checkpointer', () => {
  it('signs nothing of an empty log', async () => {
    expect(await checkpointerOf(new MemoryLog()).step('now')).toEqual({ status: 'idle' })
    expect(await newest()).toBeUndefined()
  })

  it('signs the whole log: size, head, root, and the tree to go on from', async () => {
    const records = await someRecords(7)
    const step = await checkpointerOf(await logWith(records)).step('due')
    expect(step).toEqual({ status: 'signed', size: 7, behind: false })
    const note = (await newest())!
    expect(note).toMatchObject({
      origin: originOf(records[0]!),
      head: records[6]!.hash,
      time: '2026-06-01T00:00:00.000Z',
      keyName: node.nodeId,
    })
    expect(Buffer.from(note.root).toString('hex')).toBe(rootHexOf(records))
    expect(
      await signatures.verifyAll([
        { text: note.text, signatureHex: note.signature, publicKeyHex: node.publicKey },
      ]),
    ).toEqual([])
  })

  it('waits for enough events or enough time', async () => {
    const log = await logWith(await someRecords(5))
    const checkpointer = checkpointerOf(log)
    await checkpointer.step('due')
    await appendSaid(log, notes(9, 5), node)
    expect(await checkpointer.step('due')).toEqual({ status: 'idle' })
    nowMs += 1000
    expect(await checkpointer.step('due')).toMatchObject({ status: 'signed', size: 14 })
    await appendSaid(log, notes(10, 14), node)
    expect(await checkpointer.step('due')).toMatchObject({ status: 'signed', size: 24 })
    nowMs += 100_000
    expect(await checkpointer.step('due')).toEqual({ status: 'idle' })
    expect(await checkpointer.step('now')).toEqual({ status: 'idle' })
    await appendSaid(log, notes(1, 24), node)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 25 })
  })

  it('catches up in steps of bounded size', async () => {
    const log = await logWith(await someRecords(25))
    const checkpointer = checkpointerOf(log, { stepMax: 10 })
    expect(await checkpointer.step('due')).toEqual({ status: 'signed', size: 10, behind: true })
    expect(await checkpointer.step('due')).toEqual({ status: 'signed', size: 20, behind: false })
    expect(await checkpointer.step('now')).toEqual({ status: 'signed', size: 25, behind: false })
  })

  it('goes on from the stored frontier after a restart, with the same tree in any steps', async () => {
    const records = await someRecords(60)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 }),
        async (sizes) => {
          store = checkpointFile(join(folder, `${sizes.join('-')}.checkpoints`))
          const log = new MemoryLog()
          for (const size of sizes) {
            const { seq } = await log.head()
            await fill(log, records.slice(seq, seq + size))
            await checkpointerOf(log).step('now')
          }
          const { seq } = await log.head()
          expect(Buffer.from((await newest())!.root).toString('hex')).toBe(rootHexOf(records.slice(0, seq)))
        },
      ),
      { numRuns: 20 },
    )
  })

  it('signs nothing while the log does not know its key', async () => {
    const log = await logWith(await someRecords(5))
    const stranger = checkpointerOf(log, { signer: other })
    expect(await stranger.step('now')).toEqual({ status: 'idle' })
    await appendSaid(log, [started(other)], other)
    expect(await stranger.step('now')).toMatchObject({ status: 'signed', size: 6 })
  })

  it('agrees with checkpoints of another process on the same log, larger or smaller', async () => {
    const log = await logWith(await someRecords(20))
    await appendSaid(log, [started(other)], other)
    const ours = checkpointerOf(log)
    const theirs = checkpointerOf(log, { signer: other })
    await ours.step('now')
    await appendSaid(log, notes(5, 30), other)
    expect(await theirs.step('now')).toMatchObject({ status: 'signed', size: 26 })
    await appendSaid(log, notes(5, 40), node)
    expect(await ours.step('now')).toMatchObject({ status: 'signed', size: 31 })
    expect(await theirs.step('now')).toEqual({ status: 'idle' })
    expect(await ours.step('now')).toEqual({ status: 'idle' })
  })

  it('walks to a far checkpoint of another process before it signs again', async () => {
    const log = await logWith(await someRecords(5))
    const ours = checkpointerOf(log, { stepMax: 10 })
    await ours.step('now')
    await appendSaid(log, [started(other), ...notes(29, 5)], other)
    await checkpointerOf(log, { signer: other }).step('now')
    await appendSaid(log, notes(12, 50), node)
    expect(await ours.step('due')).toEqual({ status: 'catching-up' })
    expect(await ours.step('due')).toEqual({ status: 'catching-up' })
    expect(await ours.step('due')).toMatchObject({ status: 'signed', size: 45 })
  })

  it('carries on behind a note that a crash cut off', async () => {
    const log = await logWith(await someRecords(5))
    const checkpointer = checkpointerOf(log)
    await checkpointer.step('now')
    await store.append('signal-engine/events/half')
    await appendSaid(log, notes(1, 9), node)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 6 })
  })
})

describe('a log that contradicts its newest checkpoint', () => {
  const signedLog = async (records: readonly LogRecord[]): Promise<void> => {
    await checkpointerOf(await logWith(records)).step('now')
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
    ['is another one', () => someRecords(20, 500), 'checkpoint', 10],
    ['began differently', () => recordsOf([started(other), ...notes(11)], other), 'checkpoint', 1],
  ])('stops when the log %s', async (_, change, reason, seq) => {
    const records = await someRecords(10)
    await signedLog(records)
    const before = (await newest())!.note
    const log = await logWith(await change(records))
    const checkpointer = checkpointerOf(log)
    const step = await checkpointer.step('now')
    expect(step).toMatchObject({ status: 'stopped', fault: { reason, seq } })
    expect((await newest())!.note).toBe(before)
    // Growing past the checkpoint again heals nothing.
    await appendSaid(log, [started(node), ...notes(30, 900)], node)
    nowMs += 1_000_000
    expect(await checkpointer.step('due')).toEqual(step)
    expect(await checkpointerOf(log).step('due')).toMatchObject({ status: 'stopped' })
  })

  it('goes on after an operator accepted the loss, also in a process that runs', async () => {
    const records = await someRecords(10)
    await signedLog(records)
    const log = await logWith(records.slice(0, 6))
    const checkpointer = checkpointerOf(log)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'stopped' })
    const accepted = await acceptLoss(store, { now: () => nowMs })
    expect(accepted).toEqual({
      movedTo: join(folder, 'events.db.checkpoints.superseded-20260601T000000000Z'),
      checkpointSize: 10,
      checkpointHead: records[9]!.hash,
    })
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 6 })
    expect(Buffer.from((await newest())!.root).toString('hex')).toBe(rootHexOf(records.slice(0, 6)))
    expect(await readdir(folder)).toHaveLength(2)
  })

  it('has nothing to accept without checkpoints', async () => {
    expect(await acceptLoss(store, { now: () => nowMs })).toBeNull()
  })

  it('does not build on a note that a known node did not sign as it is', async () => {
    const records = await someRecords(10)
    await signedLog(records)
    const { note, text } = (await newest())!
    const [signature = ''] = await other.signAll([text])
    const forgeries = [
      // The right text, signed by another key under the node's name.
      signedNote(text, { keyName: node.nodeId, publicKey: node.publicKey, signature }, sha256),
      // Signed properly, by somebody the log has never heard of.
      signedNote(text, { keyName: other.nodeId, publicKey: other.publicKey, signature }, sha256),
      // A changed text under the old signature.
      note.replace('time 2026', 'time 2025'),
      // The key id of another key.
      signedNote(text, { keyName: node.nodeId, publicKey: other.publicKey, signature }, sha256),
    ]
    for (const forgery of forgeries) {
      store = checkpointFile(join(folder, `${forgeries.indexOf(forgery)}.checkpoints`))
      await store.append(forgery)
      const step = await checkpointerOf(await logWith(records)).step('now')
      expect(step).toMatchObject({ status: 'stopped', fault: { reason: 'checkpoint', seq: null } })
    }
  })

  it('does not build on a signed frontier that does not give its root, or on leaves that are not in the log', async () => {
    const records = await someRecords(10)
    const keys = new Map([[node.nodeId, node.publicKey]])
    const leaves = records.map((record) => leafOfRecord(record, keys))
    const right = extendFrontier(EMPTY_FRONTIER, leaves, sha256)
    const wrong = extendFrontier(EMPTY_FRONTIER, leaves.toReversed(), sha256)
    const base = { origin: originOf(records[0]!), head: records[9]!.hash, time: '2026-06-01T00:00:00.000Z' }
    const appendSigned = async (frontier: typeof right, root: Uint8Array): Promise<void> => {
      const text = checkpointText({ ...base, frontier, root })
      const [signature = ''] = await node.signAll([text])
      await store.append(
        signedNote(text, { keyName: node.nodeId, publicKey: node.publicKey, signature }, sha256),
      )
    }
    await appendSigned(wrong, rootOf(right, sha256))
    expect(await checkpointerOf(await logWith(records)).step('now')).toMatchObject({
      status: 'stopped',
      fault: { seq: null },
    })

    store = checkpointFile(join(folder, 'second.checkpoints'))
    const log = await logWith(records.slice(0, 5))
    const checkpointer = checkpointerOf(log)
    await checkpointer.step('now')
    await fill(log, records.slice(5))
    await appendSigned(wrong, rootOf(wrong, sha256))
    expect(await checkpointer.step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'checkpoint', seq: 10 },
    })
  })

  it('stops at an event that does not follow', async () => {
    const records = await someRecords(10)
    const log = await logWith(records.slice(0, 5))
    const checkpointer = checkpointerOf(log)
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
    const log = await logWith(await someRecords(10))
    const head = { ...(await log.head()), seq: 12 }
    log.head = () => Promise.resolve(head)
    expect(await checkpointerOf(log).step('now')).toMatchObject({
      status: 'stopped',
      fault: { reason: 'sequence', seq: 11 },
    })
  })
})

async function* pageOf(records: readonly LogRecord[]): AsyncIterable<readonly LogRecord[]> {
  yield records
}
