import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { InvalidArgumentError, Option } from 'commander'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { STATE_VERSION } from '../../../core/state.ts'
import { acceptLoss } from '../../../engine/integrity/accept-loss.ts'
import type { CheckResult, Checks } from '../../../engine/integrity/findings.ts'
import { verifyExport } from '../../../engine/integrity/offline.ts'
import type { IntegrityReport } from '../../../engine/integrity/report.ts'
import type { Trust } from '../../../engine/integrity/trust.ts'
import { snapshotFaultOf } from '../../../engine/memory.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { examples, type DefineCommand, type Invocation } from '../command.ts'
import type { StoreSession } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { refold } from '../refold.ts'
import { execute, recordWrite, withExistingStore } from '../store.ts'
import { bad, fields, good, quiet, type Cell } from '../table.ts'
import { verifySession, withSignatures, type VerifyRequest } from '../verification.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Recomputes every hash, link, sequence number and signature, compares the log with its signed checkpoints, and ' +
        'rebuilds the state from it. Exit code 1 means that an event was changed or is missing.',
    )
    .addOption(new Option('--full', 'every event from the first (the default)').conflicts('fast'))
    .option('--fast [events]', `only the newest events (default: ${FAST_EVENTS})`, parseCount)
    .option('--file <export>', 'verify this export (JSON lines) instead; needs no store')
    .option('--checkpoints <file>', 'with --file: compare with this checkpoint file')
    .option('--accept-loss', 'accept a log that is shorter than its checkpoints, such as a restored backup')
    .option('--reason <text>', 'with --accept-loss: why, for the log')
    .addHelpText(
      'after',
      examples(
        'svc integrity',
        'svc integrity --fast 1000 --json',
        'svc integrity --file events.jsonl --checkpoints events.db.checkpoints',
        'svc integrity --accept-loss --reason "restored the backup of Monday"',
      ),
    )
    .action(run(checkIntegrity))
}

const FAST_EVENTS = 100
const FAST_EVENTS_MAX = 100_000

interface IntegrityOptions {
  readonly full?: true
  /** True without a number. */
  readonly fast?: number | true
  readonly file?: string
  readonly checkpoints?: string
  readonly acceptLoss?: true
  readonly reason?: string
}

/** What `svc integrity` prints, for a store and for an export. */
interface ShownReport extends Omit<IntegrityReport<string>, 'checks' | 'reason'> {
  readonly reason: IntegrityReport['reason'] | 'projections'
  readonly checks: Checks & { readonly projections?: CheckResult }
}

const checkIntegrity = async (invocation: Invocation, options: IntegrityOptions): Promise<ExitCode> => {
  checkCombination(options)
  const { fast, file, checkpoints, acceptLoss: accepted, reason } = options
  if (file !== undefined)
    return show(invocation, await verifyExportFile(invocation, file, checkpoints ?? null))
  const setAside = accepted === true ? await acceptLossOf(invocation, reason?.trim() ?? '') : null
  const request: VerifyRequest =
    fast === undefined ? { mode: 'full' } : { mode: 'fast', n: fast === true ? FAST_EVENTS : fast }
  const report = await verifyStore(invocation, request)
  return show(invocation, report ?? { ...EMPTY_REPORT, mode: request.mode }, [
    ...(report === null
      ? [['Store', quiet(`nothing is stored in ${invocation.dependencies.home} yet`)] as const]
      : []),
    ...(setAside === null ? [] : [['Checkpoints', `restarted; the old ones are in ${setAside}`] as const]),
  ])
}

const checkCombination = ({ fast, file, checkpoints, reason, ...rest }: IntegrityOptions): void => {
  const accepts = rest.acceptLoss === true
  if (checkpoints !== undefined && file === undefined) throw new UsageError('--checkpoints goes with --file')
  if (file !== undefined && (fast !== undefined || accepts)) {
    throw new UsageError('--file verifies an export in full: it goes without --fast and --accept-loss')
  }
  const hasReason = reason !== undefined && reason.trim() !== ''
  if (accepts && !hasReason) throw new UsageError('--accept-loss needs --reason')
  if (!accepts && reason !== undefined) throw new UsageError('--reason goes with --accept-loss')
}

/** For a home without a store. */
const EMPTY_REPORT: ShownReport = {
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

/** The log and what was folded from it; null when there is no store. */
const verifyStore = async (invocation: Invocation, request: VerifyRequest): Promise<ShownReport | null> => {
  const session = await invocation.dependencies.openExistingStore()
  if (session === null) return null
  const progress = invocation.progress('verifying')
  try {
    const report = await verifySession(
      invocation.dependencies,
      session,
      request,
      ({ step, checked, total }) =>
        progress.update(checked + (step === 'signatures' ? total : 0), STEPS * total),
    )
    const projections = await checkProjections(session, request, report.ok, (done, total) =>
      progress.update(done + (STEPS - 1) * total, STEPS * total),
    )
    return withProjections(report, projections)
  } finally {
    progress.end()
    await session.close()
  }
}

/** Hashes, signatures, projections. */
const STEPS = 3

const checkProjections = async (
  session: StoreSession,
  { mode }: VerifyRequest,
  logIsIntact: boolean,
  onProgress: (done: number, total: number) => void,
): Promise<CheckResult> => {
  const { log } = session
  const trust = await session.trust()
  if (mode === 'fast') return (await snapshotIsIntact(log, trust)) ? 'pass' : 'fail'
  try {
    return (await refold(log, trust, { hashAtSeq: null, onProgress })).identical ? 'pass' : 'fail'
  } catch (error) {
    // A changed event may not even fold; on an intact log the same error is a bug of ours.
    if (logIsIntact) throw error
    return 'fail'
  }
}

/** The newest snapshot is what was saved. Whether it is also right takes the whole log. */
const snapshotIsIntact = async (log: EventLog, trust: Trust): Promise<boolean> => {
  const snapshot = await log.loadSnapshot(STATE_VERSION)
  return snapshot === null || (await snapshotFaultOf(log, snapshot, trust)) === null
}

const withProjections = (report: IntegrityReport, projections: CheckResult): ShownReport => {
  const checks = { ...report.checks, projections }
  if (!report.ok || projections === 'pass') return { ...report, checks }
  const detail = 'the events are intact, but the saved snapshot does not follow from them'
  return { ...report, ok: false, reason: 'projections', detail, checks }
}

const verifyExportFile = async (
  { dependencies, progress }: Invocation,
  file: string,
  checkpointFile: string | null,
): Promise<ShownReport> => {
  const bar = progress('verifying')
  const checkpoints =
    checkpointFile === null ? null : await (await dependencies.openCheckpoints(checkpointFile)).read('all')
  return withSignatures(dependencies, (signatures) =>
    verifyExport(linesOf(file, bar.update), {
      signatures,
      clock: dependencies.clock,
      ...(checkpoints === null ? {} : { checkpoints }),
    }),
  ).finally(bar.end)
}

/** Several times the largest event. */
const LINE_BYTES_MAX = 4 * 1024 * 1024
const LINE_END = 0x0a

/** The lines of a file. Only `\n` ends a line: JSON may hold the other line ends of Unicode unescaped. */
export async function* linesOf(
  path: string,
  onProgress: (bytesRead: number, bytesTotal: number) => void,
): AsyncIterable<string> {
  const bytesTotal = await sizeOf(path)
  let bytesRead = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytesRead += chunk.length
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > LINE_BYTES_MAX) {
      throw new Failure('file.unreadable', `${path} has a line of more than ${LINE_BYTES_MAX} bytes`, {
        advice: 'An export to verify is written with "svc export events --format jsonl".',
      })
    }
    onProgress(bytesRead, bytesTotal)
  }
  if (rest.length > 0) yield rest.toString('utf8')
}

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw new Failure(
      'file.unreadable',
      `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/**
 * Accepts a log that is shorter than, or different from, what its checkpoints say. The acceptance is recorded first,
 * then the checkpoints are set aside; returns where they are now.
 */
const acceptLossOf = (invocation: Invocation, reason: string): Promise<string | null> =>
  withExistingStore(invocation.dependencies, async (session) => {
    const { checks, detail } = await verifySession(invocation.dependencies, session, { mode: 'fast', n: 1 })
    const { checkpoints } = session
    if (checkpoints === null || checks.checkpoint === 'pass') {
      throw new Failure('integrity.nothing_lost', `the log agrees with its checkpoints: ${detail}`, {
        advice: 'There is no loss to accept. "svc integrity" shows what else may be wrong.',
      })
    }
    const newest = (await checkpoints.read('newest')).notes.at(-1)
    const engine = await session.openEngine()
    await execute(engine, {
      kind: 'accept-restore',
      restore: {
        reason,
        accepted_by: engine.nodeId,
        checkpoint_size: newest?.frontier.size ?? 0,
        checkpoint_head: newest?.head ?? '',
      },
    })
    const accepted = await acceptLoss(checkpoints, invocation.dependencies.clock)
    await recordWrite(engine, invocation, 'integrity')
    return accepted?.movedTo ?? null
  })

type Row = readonly [string, Cell]

const show = async (
  { print }: Invocation,
  report: ShownReport,
  remarks: readonly Row[] = [],
): Promise<ExitCode> => {
  await print.result(report, (style) => fields([...rowsOf(report), ...remarks], style))
  return report.ok ? EXIT_OK : EXIT_FAILED
}

const rowsOf = (report: ShownReport): readonly Row[] => [
  ['Integrity', report.ok ? good('intact') : bad(`broken (${report.reason})`)],
  ['Checked', `${report.checked} of ${report.event_count} events, ${report.mode}, ${report.elapsed_ms} ms`],
  ['Head', report.head_seq === 0 ? quiet('none') : `${report.head_seq} ${report.head_hash}`],
  ...(report.ok ? [] : [['First bad', firstBad(report)] as const]),
  ['Detail', report.detail],
  ...CHECKS.flatMap((name) => checkRow(name.replaceAll('_', ' '), report.checks[name])),
]

const CHECKS = ['hash_chain', 'sequence', 'signatures', 'checkpoint', 'projections'] as const

/** An export has no projections. */
const checkRow = (name: string, result: CheckResult | undefined): readonly Row[] =>
  result === undefined ? [] : [[name, result === 'pass' ? good(result) : bad(result)]]

const firstBad = ({ first_bad_seq, first_bad_id }: ShownReport): Cell => {
  if (first_bad_seq === null) return quiet('no single event')
  return bad(`event ${first_bad_seq}${first_bad_id === null ? '' : `, ${first_bad_id}`}`)
}

const parseCount = (text: string): number => {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= FAST_EVENTS_MAX) return count
  throw new InvalidArgumentError(`It must be a number from 1 to ${FAST_EVENTS_MAX}.`)
}
