import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  appendSaid,
  fill,
  nodeOf,
  notes,
  recordsOf,
  started,
} from '../../../test/tamper/signed-log.fixture.ts'
import { checkpointFile } from '../../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import { createCheckpointer } from './checkpointer.ts'
import type { IntegrityFault } from './findings.ts'
import { keepCheckpoints, type CheckpointKeeper } from './keep-checkpoints.ts'

const node = nodeOf(1)

let folder: string
let store: CheckpointStore
const faults: IntegrityFault[] = []
const errors: unknown[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keeper-'))
  store = checkpointFile(join(folder, 'events.db.checkpoints'))
  faults.length = 0
  errors.length = 0
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const keep = (log: MemoryLog, everyMs: number, checkpoints = store, stepMax = 1000): CheckpointKeeper => {
  const pace = { everyEvents: 10, everyMs, stepMax }
  const checkpointer = createCheckpointer({
    log,
    checkpoints,
    signer: node,
    signatures,
    clock: Date,
    ...pace,
  })
  return keepCheckpoints({
    log,
    checkpointer,
    clock: Date,
    everyMs,
    onStopped: (fault) => faults.push(fault),
    onError: (_, error) => errors.push(error),
  })
}

const newestSize = async (): Promise<number | undefined> =>
  (await store.read('newest')).notes.at(-1)?.frontier.size

it('makes checkpoints when enough events came, when time has passed, and at the end', async () => {
  const log = new MemoryLog()
  const slow = keep(log, 1_000_000)
  await appendSaid(log, [started(node), ...notes(4)], node)
  await vi.waitFor(async () => expect(await newestSize()).toBe(5), 30_000)
  await appendSaid(log, notes(10, 5), node)
  await vi.waitFor(async () => expect(await newestSize()).toBe(15), 30_000)
  await appendSaid(log, notes(3, 15), node)
  await slow.close()
  expect(await newestSize()).toBe(18)

  const quick = keep(log, 20)
  await appendSaid(log, notes(1, 18), node)
  await vi.waitFor(async () => expect(await newestSize()).toBe(19), 30_000)
  await quick.close()
  await quick.close()
  await appendSaid(log, notes(1, 19), node)
  expect(await newestSize()).toBe(19)
  expect([faults, errors]).toEqual([[], []])
})

it('catches up on closing, in steps', async () => {
  const log = new MemoryLog()
  const keeper = keep(log, 1_000_000, store, 7)
  await appendSaid(log, [started(node), ...notes(99)], node)
  await keeper.close()
  expect(await newestSize()).toBeGreaterThanOrEqual(91)
})

it('tells once that the log contradicts its checkpoints', async () => {
  const records = await recordsOf([started(node), ...notes(20)], node)
  const log = new MemoryLog()
  await fill(log, records)
  await keep(log, 20).close()
  const shorter = new MemoryLog()
  await fill(shorter, records.slice(0, 9))
  const keeper = keep(shorter, 20)
  await vi.waitFor(() => expect(faults).toMatchObject([{ reason: 'truncated', seq: 10 }]), 30_000)
  await appendSaid(shorter, notes(15, 50), node)
  await keeper.close()
  expect(faults).toHaveLength(1)
  expect(await newestSize()).toBe(21)
})

it('tells of trouble and tries again', async () => {
  const log = new MemoryLog()
  await appendSaid(log, [started(node)], node)
  let failures = 2
  const full: CheckpointStore = {
    ...store,
    append: (note) => {
      if (failures === 0) return store.append(note)
      failures -= 1
      return Promise.reject(new Error('the disk is full'))
    },
  }
  const keeper = keep(log, 20, full)
  await vi.waitFor(async () => expect(await newestSize()).toBe(1), 30_000)
  await keeper.close()
  expect(errors).toMatchObject([{ message: 'the disk is full' }, { message: 'the disk is full' }])
})
