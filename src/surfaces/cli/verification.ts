import { EMPTY_HEAD } from '../../core/log/event.ts'
import { verifyExport } from '../../engine/integrity/offline.ts'
import type { CheckResult, Checks } from '../../engine/integrity/findings.ts'
import type { IntegrityReport } from '../../engine/integrity/report.ts'
import { verifyLog, type VerifyProgress } from '../../engine/integrity/verify.ts'
import { sha256Hex } from '../../engine/sha256.ts'
import { STATE_VERSION } from '../../core/state.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Signatures } from '../../ports/signatures.ts'
import type { Bench } from './command.ts'
import { linesOf } from './export-lines.ts'
import { refold } from './refold.ts'
import type { StoreSession, CommandDependencies } from './dependencies.ts'

export type VerifyRequest = { readonly mode: 'fast'; readonly n: number } | { readonly mode: 'full' }

/** What `svc integrity` answers, whatever it looked at. */
export interface ShownReport extends Omit<IntegrityReport<string>, 'checks' | 'reason'> {
  readonly reason: IntegrityReport['reason'] | 'projections'
  readonly checks: Checks & { readonly projections?: CheckResult }
}

/** Nothing was ever stored: that is in order. */
export const EMPTY_REPORT: ShownReport = {
  ok: true,
  mode: 'full',
  checked: 0,
  event_count: 0,
  first_bad_id: null,
  first_bad_seq: null,
  reason: null,
  head_seq: EMPTY_HEAD.seq,
  head_hash: EMPTY_HEAD.hash,
  elapsed_ms: 0,
  checks: {
    hash_chain: 'pass',
    sequence: 'pass',
    signatures: 'pass',
    checkpoint: 'pass',
    projections: 'pass',
  },
  detail: 'there is nothing to verify yet',
}

/** The log, and what was folded from it. Null when there is no store. */
export const verifyStore = async (bench: Bench, request: VerifyRequest): Promise<ShownReport | null> => {
  const session = await bench.dependencies.openExistingStore()
  if (session === null) return null
  const progress = bench.progress('verifying')
  try {
    const report = await verifySession(bench.dependencies, session, request, ({ step, checked, total }) =>
      progress.update(checked + (step === 'signatures' ? total : 0), PARTS_OF_WORK * total),
    )
    const projections = await checkProjections(session.log, request, report.ok, (done, total) =>
      progress.update(done + (PARTS_OF_WORK - 1) * total, PARTS_OF_WORK * total),
    )
    return withProjections(report, projections)
  } finally {
    progress.end()
    await session.close()
  }
}

/** Hashes, signatures, projections. */
const PARTS_OF_WORK = 3

/** The log alone. Nothing is written. */
export const verifySession = (
  dependencies: CommandDependencies,
  { log, checkpoints }: StoreSession,
  request: VerifyRequest,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<IntegrityReport> =>
  withSignatures(dependencies, (signatures) =>
    verifyLog(log, {
      mode: request.mode,
      n: request.mode === 'fast' ? request.n : 0,
      checkpoints,
      signatures,
      clock: dependencies.clock,
      onProgress,
    }),
  )

/** An export, without any store. */
export const verifyExportFile = async (
  { dependencies, progress }: Bench,
  file: string,
  checkpointFile: string | null,
): Promise<ShownReport> => {
  const bar = progress('verifying')
  const checkpoints =
    checkpointFile === null ? null : await dependencies.checkpointsIn(checkpointFile).read('all')
  return withSignatures(dependencies, (signatures) =>
    verifyExport(linesOf(file, bar.update), {
      signatures,
      clock: dependencies.clock,
      ...(checkpoints === null ? {} : { checkpoints }),
    }),
  ).finally(bar.end)
}

const checkProjections = async (
  log: EventLog,
  { mode }: VerifyRequest,
  logIsWhole: boolean,
  onProgress: (done: number, total: number) => void,
): Promise<CheckResult> => {
  if (mode === 'fast') return (await snapshotIsWhole(log)) ? 'pass' : 'fail'
  try {
    return (await refold(log, { hashAtSeq: null, onProgress })).identical ? 'pass' : 'fail'
  } catch (error) {
    // What was changed may not even fold; on a whole log the same is a bug of ours.
    if (logIsWhole) throw error
    return 'fail'
  }
}

/** The newest snapshot is what was saved. Whether it is also right takes the whole log to tell. */
const snapshotIsWhole = async (log: EventLog): Promise<boolean> => {
  const snapshot = await log.loadSnapshot(STATE_VERSION)
  return snapshot === null || sha256Hex(snapshot.state) === snapshot.stateHash
}

const withProjections = (report: IntegrityReport, projections: CheckResult): ShownReport => {
  const checks = { ...report.checks, projections }
  if (!report.ok || projections === 'pass') return { ...report, checks }
  const detail = 'the events are whole, but the saved snapshot is not what they give'
  return { ...report, ok: false, reason: 'projections', detail, checks }
}

const withSignatures = async <Result>(
  dependencies: CommandDependencies,
  use: (signatures: Signatures) => Promise<Result>,
): Promise<Result> => {
  return use(await dependencies.openSignatures())
}
