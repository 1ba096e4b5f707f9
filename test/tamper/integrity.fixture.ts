import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { checkpointFile } from '../../src/adapters/platform/checkpoint-file/checkpoint-file.ts'
import { signatures } from '../../src/adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import type { SignedCheckpoint } from '../../src/core/log/checkpoint.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import { EMPTY_FRONTIER, extendFrontier, rootOf } from '../../src/core/log/merkle.ts'
import {
  createCheckpointer,
  type Checkpointer,
  type CheckpointerDependencies,
} from '../../src/engine/integrity/checkpointer.ts'
import type { IntegrityReport } from '../../src/engine/integrity/report.ts'
import { sha256 } from '../../src/engine/sha256.ts'
import { leafOfRecord } from '../../src/engine/integrity/tree-check.ts'
import { verifyLog, type VerifyOptions } from '../../src/engine/integrity/verify.ts'
import type { CheckpointStore } from '../../src/ports/checkpoints.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Signatures } from '../../src/ports/signatures.ts'
import { fill, nodeOf, notes, recordsOf, started } from './signed-log.fixture.ts'

export const node = nodeOf(1)
export const other = nodeOf(2)

/** Logs in memory and checkpoints in a file, with a clock that stands still; new for every test. */
export interface IntegrityFixture {
  readonly signatures: Signatures
  nowMs: number
  readonly path: () => string
  readonly store: () => CheckpointStore
  readonly newest: () => Promise<SignedCheckpoint | undefined>
  readonly checkpointerOf: (log: EventLog, dependencies?: Partial<CheckpointerDependencies>) => Checkpointer
  /** Leaves a checkpoint of each of these sizes. */
  readonly checkpointAt: (records: readonly LogRecord[], ...sizes: readonly number[]) => Promise<void>
  readonly verify: (log: EventLog, options?: Partial<VerifyOptions>) => Promise<IntegrityReport>
}

export const useIntegrityFixture = (): IntegrityFixture => {
  let folder = ''
  const path = (): string => join(folder, 'events.db.checkpoints')
  const store = (): CheckpointStore => checkpointFile(path())
  const fixture: IntegrityFixture = {
    signatures,
    nowMs: 0,
    path,
    store,
    newest: async () => (await store().read('newest')).notes.at(-1),
    checkpointerOf: (log, dependencies = {}) =>
      createCheckpointer({
        log,
        checkpoints: store(),
        signer: node,
        signatures,
        clock: { now: () => fixture.nowMs },
        everyEvents: 10,
        everyMs: 1000,
        stepMax: 10_000,
        ...dependencies,
      }),
    checkpointAt: async (records, ...sizes) => {
      for (const size of sizes) {
        const step = await fixture.checkpointerOf(await logWith(records.slice(0, size))).step('now')
        if (step.status !== 'signed') throw new Error(`no checkpoint at ${size}: ${step.status}`)
      }
    },
    verify: (log, options = {}) =>
      verifyLog(log, {
        mode: 'full',
        n: 100,
        checkpoints: store(),
        trust: { signatures, own: null, firstHash: null },
        clock: Date,
        ...options,
      }),
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'integrity-'))
    fixture.nowMs = Date.UTC(2026, 5, 1)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return fixture
}

export const logWith = async (records: readonly LogRecord[]): Promise<MemoryLog> => {
  const log = new MemoryLog()
  await fill(log, records)
  return log
}

/** Introduced and signed by one node. */
export const wellSigned = (count: number, from = 1): Promise<readonly LogRecord[]> =>
  recordsOf([started(node), ...notes(count - 1, from)], node)

export const changed = (
  records: readonly LogRecord[],
  seq: number,
  change: Partial<LogRecord>,
): readonly LogRecord[] => records.map((record) => (record.seq === seq ? { ...record, ...change } : record))

/** The Merkle root over these events, all signed by one node. */
export const rootHexOf = (records: readonly LogRecord[], signer = node): string => {
  const keys = new Map([[signer.nodeId, signer.publicKey]])
  const leaves = records.map((record) => leafOfRecord(record, keys))
  return Buffer.from(rootOf(extendFrontier(EMPTY_FRONTIER, leaves, sha256), sha256)).toString('hex')
}
