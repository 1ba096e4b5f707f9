import type { SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import type { CheckResult } from '../../../engine/integrity/findings.ts'
import { verifyExport } from '../../../engine/integrity/offline.ts'
import type { IntegrityReport } from '../../../engine/integrity/report.ts'
import { verifyLog } from '../../../engine/integrity/verify.ts'
import type { CheckpointStore } from '../../../ports/checkpoints.ts'
import { numberFrom } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { checkpointsAt, copyLines, explained } from '../copied-file.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError } from '../failure.ts'
import { MISSING_STEPS, missingSentence } from '../missing-store.ts'
import { execute, openExisting, recordAccess } from '../store.ts'
import { bad, fields, good, quiet, type Cell, type Row } from '../table.ts'
import { verified } from '../verified.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Recomputes every hash, link, sequence number and signature, compares the log with its signed checkpoints, and ' +
        'rebuilds the state from it. Exit code 1 means that an event was changed or is missing.',
    )
    .exclusive('--full', 'every event from the first (the default)', 'fast')
    .option('--fast [events]', `only the newest events (default: ${FAST_EVENTS})`, numberFrom(1, 100_000))
    .option('--file <export>', 'verify this export or backup instead; needs no store')
    .option('--checkpoints <file>', 'with --file: compare with this checkpoint file')
    .option('--checkpoint <file|url>', 'also compare with a checkpoint that was kept elsewhere')
    .option('--accept-loss', 'accept a log that has lost its end, such as a restored backup')
    .option('--reason <text>', 'with --accept-loss: why, for the log')
    .examples(
      'svc integrity',
      'svc integrity --fast 1000 --json',
      'svc integrity --file events.jsonl --checkpoints events.db.checkpoints',
      'svc integrity --checkpoint https://example.com/latest-checkpoint',
      'svc integrity --accept-loss --reason "restored the backup of Monday"',
    )
    .runs(checkIntegrity)
}

const FAST_EVENTS = 100

interface IntegrityOptions {
  readonly full?: true
  /** True without a number. */
  readonly fast?: number | true
  readonly file?: string
  readonly checkpoints?: string
  readonly checkpoint?: string
  readonly acceptLoss?: true
  readonly reason?: string
}

/** `n`: how many of the newest events; null = all. */
type VerifiedEvents = number | null

const checkIntegrity = async (invocation: Invocation, options: IntegrityOptions): Promise<Answer> => {
  checkCombination(options)
  const { fast, file, checkpoints, checkpoint, acceptLoss: accepted, reason } = options
  if (file !== undefined) return answerOf(await verifyExportFile(invocation, file, checkpoints))
  const setAside = accepted === true ? await acceptLossOf(invocation, reason?.trim() ?? '') : null
  const n = fast === true ? FAST_EVENTS : (fast ?? null)
  const elsewhere = checkpoint === undefined ? [] : await checkpointsAt(checkpoint)
  const missing = await invocation.missingStore()
  const report = missing === null ? await verifyStore(invocation, n, elsewhere) : null
  const empty = missing === null ? EMPTY_REPORT : missingReport(missingSentence(invocation.home, missing))
  const nothing = quiet(`nothing is stored in ${invocation.home} yet`)
  return answerOf(report ?? { ...empty, mode: n === null ? 'full' : 'fast' }, [
    ['Store', report === null && missing === null ? nothing : null],
    ...(missing === null ? [] : MISSING_STEPS.map((step, index): Row => [`Step ${index + 1}`, step])),
    ['Checkpoints', setAside === null ? null : `restarted; the old ones are in ${setAside}`],
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
const EMPTY_REPORT: IntegrityReport<string> = {
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

/** For a home that has lost its store. */
const missingReport = (sentence: string): IntegrityReport<string> => ({
  ...EMPTY_REPORT,
  ok: false,
  first_bad_seq: 1,
  reason: 'truncated',
  checks: { ...EMPTY_REPORT.checks, checkpoint: 'fail' },
  detail: `${sentence}. ${MISSING_STEPS[0]}`,
})

/** The log and what is stored beside it; null when there is no store. */
const verifyStore = async (
  invocation: Invocation,
  n: VerifiedEvents,
  elsewhere: readonly SignedCheckpoint[],
): Promise<IntegrityReport<string> | null> => {
  await using session = await invocation.openExistingStore()
  if (session === null) return null
  const { log, checkpoints, trust } = session
  return await verified(
    invocation,
    { log, trust, checkpoints: elsewhere.length === 0 ? checkpoints : withNotes(checkpoints, elsewhere) },
    n,
  )
}

/** The kept notes and those from elsewhere. */
const withNotes = (
  kept: CheckpointStore | null,
  elsewhere: readonly SignedCheckpoint[],
): Pick<CheckpointStore, 'read'> => ({
  read: async (which) => {
    const { notes, unreadable } = (await kept?.read(which)) ?? { notes: [], unreadable: 0 }
    const all = [...notes, ...elsewhere].sort((one, other) => one.frontier.size - other.frontier.size)
    return { notes: all, unreadable }
  },
})

const verifyExportFile = async (
  { signatures, clock, checkpointsIn, progress, stdin }: Invocation,
  file: string,
  checkpointFile: string | undefined,
): Promise<IntegrityReport<string>> => {
  const checkpoints =
    checkpointFile === undefined ? {} : { checkpoints: await checkpointsIn(checkpointFile).read('all') }
  // A name that was mistyped would make a cut end look whole.
  if (checkpoints.checkpoints?.notes.length === 0)
    throw new Failure('file.unreadable', `there is no signed checkpoint at ${checkpointFile}`)
  const bar = progress('verifying')
  return explained(file, () =>
    verifyExport(copyLines(file, stdin, bar.update), { signatures, clock, ...checkpoints }),
  ).finally(bar.end)
}

/**
 * Accepts a log that is shorter than, or different from, what its checkpoints say. The acceptance is recorded first,
 * then the checkpoints are set aside; returns where they are now.
 */
const acceptLossOf = async (invocation: Invocation, reason: string): Promise<string | null> => {
  const { clock } = invocation
  await using session = await openExisting(invocation)
  const { log, checkpoints, trust } = session
  const { checks, detail } = await verifyLog(log, { mode: 'fast', n: 1, checkpoints, trust, clock })
  if (checkpoints === null || checks.checkpoint === 'pass') {
    throw new Failure('integrity.nothing_lost', `the log agrees with its checkpoints: ${detail}`, {
      advice: 'There is no loss to accept. "svc integrity" shows what else may be wrong.',
    })
  }
  const newest = (await checkpoints.read('newest')).notes.at(-1)
  const recorded = (await log.recordedHead?.()) ?? null
  const isRecorded = recorded !== null && recorded.seq > (newest?.frontier.size ?? 0)
  const engine = await session.openEngine()
  await execute(engine, {
    kind: 'accept-restore',
    restore: {
      reason,
      accepted_by: engine.nodeId,
      checkpoint_size: isRecorded ? recorded.seq : (newest?.frontier.size ?? 0),
      checkpoint_head: isRecorded ? recorded.hash : (newest?.head ?? ''),
    },
  })
  const now = isoNow(clock)
  await log.forgetRecordedHead?.(now)
  // Moved aside, never deleted: new ones begin with the log as it is now.
  const movedTo = await checkpoints.setAside(now)
  await session.pinLog()
  await recordAccess(engine, invocation, 'integrity')
  return movedTo
}

const answerOf = (report: IntegrityReport<string>, remarks: readonly Row[] = []): Answer => {
  const { ok, reason, checked, event_count, mode, elapsed_ms, head_seq, head_hash, detail, checks } = report
  const text = fields([
    ['Integrity', ok ? good('intact') : bad(`broken (${reason})`)],
    ['Checked', `${checked} of ${event_count} events, ${mode}, ${elapsed_ms} ms`],
    ['Head', head_seq === 0 ? quiet('none') : `${head_seq} ${head_hash}`],
    ['First bad', ok ? null : firstBad(report)],
    ['Detail', detail],
    ...CHECKS.map((name): Row => [name.replaceAll('_', ' '), checkCell(checks[name])]),
    ...remarks,
  ])
  return { document: report, text, exitCode: ok ? EXIT_OK : EXIT_FAILED }
}

const CHECKS = ['hash_chain', 'sequence', 'signatures', 'checkpoint', 'projections'] as const

/** An export has no projections. */
const checkCell = (result: CheckResult | undefined): Cell | null => {
  if (result === undefined) return null
  return result === 'pass' ? good(result) : bad(result)
}

const firstBad = ({ first_bad_seq, first_bad_id }: IntegrityReport<string>): Cell => {
  if (first_bad_seq === null) return quiet('no single event')
  return bad(`event ${first_bad_seq}${first_bad_id === null ? '' : `, ${first_bad_id}`}`)
}
