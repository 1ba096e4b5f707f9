import { expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Snapshot } from '../ports/event-log.ts'
import { EMPTY_MEMORY, type Memory } from './memory.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'

const memoryAt = (seq: number): Memory => ({ ...EMPTY_MEMORY, head: { seq, hash: 'h', recordedAt: '' } })

class WatchedLog extends MemoryLog {
  readonly keptSeqs: number[] = []

  override async saveSnapshot(snapshot: Snapshot): Promise<void> {
    await super.saveSnapshot(snapshot)
    this.keptSeqs.push(snapshot.seq)
  }
}

/** Time moves by so much whenever somebody looks. */
const slowClock = (stepMs: number) => {
  let nowMs = 0
  return {
    look: () => (nowMs += stepMs),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

it('keeps one every so many events', async () => {
  const log = new WatchedLog()
  const keeper = new SnapshotKeeper(log, 10, 0, () => 0)
  for (const seq of [9, 10, 19, 20]) await keeper.keepIfDue(memoryAt(seq))
  expect(log.keptSeqs).toEqual([10, 20])
})

it('rests a hundred times as long as one took, but not at the end', async () => {
  const log = new WatchedLog()
  const clock = slowClock(5)
  const keeper = new SnapshotKeeper(log, 1, 0, clock.look)
  await keeper.keepIfDue(memoryAt(1))
  await keeper.keepIfDue(memoryAt(2))
  expect(log.keptSeqs).toEqual([1])
  clock.pass(500)
  await keeper.keepIfDue(memoryAt(3))
  await keeper.keepNow(memoryAt(4))
  expect(log.keptSeqs).toEqual([1, 3, 4])
})
