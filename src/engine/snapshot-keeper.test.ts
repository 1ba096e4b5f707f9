import { testSigner } from '../../test/signer.fixture.ts'
import { nodeId, type NodeId } from '../core/shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Snapshot } from '../ports/event-log.ts'
import { EMPTY_MEMORY, snapshotOf, type Memory } from './memory.ts'
import { sha256Hex } from './sha256.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'

const memoryAt = (seq: number): Memory => ({ ...EMPTY_MEMORY, head: { seq, hash: 'h', recordedAt: '' } })

class WatchedLog extends MemoryLog {
  readonly keptSeqs: number[] = []
  /** Number of initial attempts that fail. */
  failuresLeft = 0
  newest: Snapshot | null = null

  override async saveSnapshot(snapshot: Snapshot): Promise<void> {
    this.failuresLeft -= 1
    if (this.failuresLeft >= 0) throw new Error('disk full')
    await super.saveSnapshot(snapshot)
    this.keptSeqs.push(snapshot.seq)
    this.newest = snapshot
  }
}

/** A clock that advances by `stepMs` with every read. */
const slowClock = (stepMs: number) => {
  let nowMs = 0
  return {
    look: () => (nowMs += stepMs),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

const SIGNER = testSigner()

it('keeps one every so many events', async () => {
  const log = new WatchedLog()
  const keeper = new SnapshotKeeper(log, SIGNER, 10, 0, () => 0)
  for (const seq of [9, 10, 19, 20]) await keeper.keepIfDue(memoryAt(seq))
  expect(log.keptSeqs).toEqual([10, 20])
})

it('rests a hundred times as long as one took, but not at the end', async () => {
  const log = new WatchedLog()
  const clock = slowClock(5)
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0, clock.look)
  await keeper.keepIfDue(memoryAt(1))
  await keeper.keepIfDue(memoryAt(2))
  expect(log.keptSeqs).toEqual([1])
  clock.pass(500)
  await keeper.keepIfDue(memoryAt(3))
  await keeper.keepNow(memoryAt(4))
  expect(log.keptSeqs).toEqual([1, 3, 4])
})

/** Memory with so many nodes that their keys fill several slices of text. */
const largeMemoryAt = (seq: number): Memory => {
  const { state } = EMPTY_MEMORY
  const keys = Array.from({ length: 1000 }, (_, index): [NodeId, string] => [
    nodeId(`node-${index}`),
    'ü'.repeat(200),
  ])
  const nodes = { ...state.operations.nodes, publicKeys: PersistentMap(keys) }
  return { ...memoryAt(seq), state: { ...state, operations: { ...state.operations, nodes } } }
}

it('lets others have their turn while it writes a large state, and waits for itself', async () => {
  const log = new WatchedLog()
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0, slowClock(1).look)
  let turns = 0
  const count = (): void => {
    turns += 1
    if (log.keptSeqs.length === 0) setImmediate(count)
  }
  setImmediate(count)
  const first = keeper.keepIfDue(largeMemoryAt(1))
  await keeper.keepIfDue(largeMemoryAt(2))
  await keeper.keepNow(largeMemoryAt(3))
  await first
  expect(turns).toBeGreaterThan(2)
  expect(log.keptSeqs).toEqual([1, 3])
  expect(log.newest).toEqual(snapshotOf(largeMemoryAt(3), SIGNER))
})

it('has the hash of the whole text', () => {
  const { state, stateHash } = snapshotOf(largeMemoryAt(1), SIGNER)
  expect(state.length).toBeGreaterThan(200_000)
  expect(stateHash).toBe(sha256Hex(state))
})

it('says what went wrong to whoever asked for it, and goes on', async () => {
  const log = new WatchedLog()
  log.failuresLeft = 1
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0, () => 0)
  const first = keeper.keepIfDue(memoryAt(1))
  const second = keeper.keepNow(memoryAt(2))
  await expect(first).rejects.toThrow('disk full')
  await second
  expect(log.keptSeqs).toEqual([2])
})

it('gives up at the end what takes longer than a second to write', async () => {
  const log = new WatchedLog()
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0, slowClock(100).look)
  await keeper.keepNow(largeMemoryAt(1))
  expect(log.keptSeqs).toEqual([])
})

it('gives up at the end one that is under way', async () => {
  const log = new WatchedLog()
  const clock = slowClock(0.1)
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0, clock.look)
  const first = keeper.keepIfDue(largeMemoryAt(1))
  const last = keeper.keepNow(largeMemoryAt(2))
  clock.pass(2000)
  await last
  await first
  expect(log.keptSeqs).toEqual([])
})

it('gives up at the end one that takes longer than a second to store', async () => {
  const log = new WatchedLog()
  let fail: (error: Error) => void = () => undefined
  log.saveSnapshot = () =>
    new Promise((_resolve, reject) => {
      fail = reject
    })
  const keeper = new SnapshotKeeper(log, SIGNER, 1, 0)
  const beganMs = performance.now()
  await keeper.keepNow(memoryAt(1))
  const tookMs = performance.now() - beganMs
  expect(tookMs).toBeGreaterThan(900)
  expect(tookMs).toBeLessThan(5000)
  // Fails like a log that closes meanwhile.
  fail(new Error('closed'))
  await new Promise((resolve) => setImmediate(resolve))
})
