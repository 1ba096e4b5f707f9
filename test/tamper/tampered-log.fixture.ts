import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { checkpointFile } from '../../src/adapters/platform/checkpoint-file/checkpoint-file.ts'
import { signatures } from '../../src/adapters/platform/signatures/signatures.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../../src/engine/integrity/checkpointer.ts'
import type { IntegrityReport } from '../../src/engine/integrity/report.ts'
import { verifyLog } from '../../src/engine/integrity/verify.ts'
import type { CheckpointStore } from '../../src/ports/checkpoints.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Signer } from '../../src/ports/signer.ts'
import { fill, headAfter, nodeOf, recordsOf, started, type Said } from './signed-log.fixture.ts'

export const node = nodeOf(1)
export const other = nodeOf(2)
export const outsider = nodeOf(3)

/** Number of the newest events that `fast` checks. */
const FAST_N = 10
export const LAST_SEQ = 40
/** Sizes of the checkpoints. Two events after the newest checkpoint are not covered. */
const CHECKPOINT_SIZES = [3, 10, 20, 30, 38]

export type Raw = DatabaseSyncInstance

/** A valid log in a file, its records, and copies of it to tamper with. */
export interface TamperedLogs {
  readonly records: readonly LogRecord[]
  /** A log file with checkpoints, edited by hand without the service. */
  broken(edit: (raw: Raw) => void, options?: { readonly copyOf?: 'newest' | 'older' }): Promise<BrokenLog>
  end(): Promise<void>
}

export interface BrokenLog {
  readonly log: EventLog
  readonly checkpoints: CheckpointStore
  readonly verify: (
    mode: 'fast' | 'full',
    options?: { readonly checkpoints: null },
  ) => Promise<IntegrityReport>
}

export const buildTamperedLogs = async (): Promise<TamperedLogs> => {
  const folder = await mkdtemp(join(tmpdir(), 'tamper-'))
  const opened: EventLog[] = []
  const records = await sampleRecords()
  const newest = join(folder, 'newest.db')
  const older = join(folder, 'older.db')
  await writeLog(newest, records)
  await writeLog(older, records.slice(0, 25))
  let copies = 0
  return {
    records,
    broken: async (edit, { copyOf = 'newest' } = {}) => {
      copies += 1
      const path = join(folder, String(copies), 'events.db')
      await mkdir(join(folder, String(copies)))
      await copyFile(copyOf === 'newest' ? newest : older, path)
      await copyFile(`${newest}.checkpoints`, `${path}.checkpoints`)
      editRaw(path, edit)
      const log = await openSqliteLog({ path })
      opened.push(log)
      const checkpoints = checkpointFile(`${path}.checkpoints`)
      return {
        log,
        checkpoints,
        verify: (mode, options) =>
          verifyLog(log, {
            mode,
            n: FAST_N,
            checkpoints,
            trust: { signatures, own: null, firstHash: null },
            clock: Date,
            ...options,
          }),
      }
    },
    end: async () => {
      await Promise.all(opened.map((log) => log.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Edits a file as anyone with access and a database tool could. The rules that forbid it are removed first. */
const editRaw = (path: string, edit: (raw: Raw) => void): void => {
  const raw = new DatabaseSync(path)
  try {
    const [index] = raw.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'events_dedupe_key'`).all() as [
      { sql: string },
    ]
    raw.exec('DROP TRIGGER events_no_update; DROP TRIGGER events_no_delete; DROP INDEX events_dedupe_key')
    edit(raw)
    const [repeated] = raw.prepare(REPEATED_KEYS).all()
    if (repeated === undefined) raw.exec(index.sql)
  } finally {
    raw.close()
  }
}

const REPEATED_KEYS =
  'SELECT 1 FROM events WHERE dedupe_key IS NOT NULL GROUP BY dedupe_key HAVING count(*) > 1'

const writeLog = async (path: string, records: readonly LogRecord[]): Promise<void> => {
  const log = await openSqliteLog({ path })
  const checkpoints = checkpointFile(`${path}.checkpoints`)
  const parts = { log, checkpoints, signer: node, signatures, clock: Date, ...CHECKPOINT_PACE }
  for (const size of [...CHECKPOINT_SIZES, LAST_SEQ]) {
    const { seq } = await log.head()
    await fill(log, records.slice(seq, size))
    if (size < LAST_SEQ && size <= records.length) await createCheckpointer(parts).step('now')
  }
  await log.close()
}

/** Records of two alternating nodes, with every field in use. Events 4 and 5 have the same content. */
const sampleRecords = async (): Promise<readonly LogRecord[]> => {
  const records = [...(await recordsOf([started(node)], node))]
  const say = async (said: Said, signer: Signer): Promise<void> =>
    void records.push(...(await recordsOf([said], signer, headAfter(records))))
  await say(started(other), other)
  while (records.length < LAST_SEQ) {
    const seq = records.length + 1
    await say(seq === 4 || seq === 5 ? SAME : sampleAt(seq), seq % 2 === 0 ? other : node)
  }
  return records
}

const SAME: Said = { type: 'signal.test.v1', payload: { same: true }, source: 'test' }

const sampleAt = (seq: number): Said => ({
  type: seq % 2 === 0 ? 'signal.test.v1' : 'brain.test.v1',
  payload: { number: seq, symbol: 'BTC' },
  source: `source-${seq}`,
  traceId: `trace-${seq}`,
  dedupeKey: `key-${seq}`,
})
