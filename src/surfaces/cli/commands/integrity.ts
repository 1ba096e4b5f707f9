import { InvalidArgumentError, Option } from 'commander'
import type { CheckResult } from '../../../engine/integrity/findings.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, UsageError, type ExitCode } from '../failure.ts'
import { acceptLossOf } from '../loss.ts'
import { bad, fields, good, quiet, type Cell } from '../table.ts'
import {
  EMPTY_REPORT,
  verifyExportFile,
  verifyStore,
  type ShownReport,
  type VerifyRequest,
} from '../verification.ts'

export const integrity: CliCommand = {
  group: 'Prove',
  add: (program, task) =>
    program
      .command('integrity')
      .summary('prove that the log is what it was')
      .description(
        'Recomputes hashes, links, numbers and signatures, holds the log against its signed checkpoints, and folds it ' +
          'again. Exit code 1 means that something was changed, or is gone.',
      )
      .addOption(
        new Option('--full', 'everything, from the first event (this is what happens anyway)').conflicts(
          'fast',
        ),
      )
      .option('--fast [events]', `only the newest events (default: ${FAST_EVENTS})`, parseCount)
      .option('--file <export>', 'verify this export (JSON lines) instead; needs no store')
      .option('--checkpoints <file>', 'with --file: the checkpoint file that was kept apart')
      .option('--accept-loss', 'accept that the log lost its end, as after restoring an older copy')
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
      .action(task(checkIntegrity)),
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

const checkIntegrity = async (bench: Bench, options: IntegrityOptions): Promise<ExitCode> => {
  checkTogether(options)
  const { file, checkpoints, acceptLoss, reason } = options
  if (file !== undefined) return show(bench, await verifyExportFile(bench, file, checkpoints ?? null))
  const setAside = acceptLoss === true ? await acceptLossOf(bench, reason?.trim() ?? '') : null
  const request = requestOf(options)
  const report = await verifyStore(bench, request)
  return show(bench, report ?? { ...EMPTY_REPORT, mode: request.mode }, [
    ...(report === null
      ? [['Store', quiet(`nothing is stored in ${bench.dependencies.home} yet`)] as const]
      : []),
    ...(setAside === null ? [] : [['Checkpoints', `begin anew; the old ones are in ${setAside}`] as const]),
  ])
}

const requestOf = ({ fast }: IntegrityOptions): VerifyRequest =>
  fast === undefined ? { mode: 'full' } : { mode: 'fast', n: fast === true ? FAST_EVENTS : fast }

const checkTogether = ({ fast, file, checkpoints, acceptLoss, reason }: IntegrityOptions): void => {
  if (checkpoints !== undefined && file === undefined) throw new UsageError('--checkpoints goes with --file')
  if (file !== undefined && (fast !== undefined || acceptLoss === true)) {
    throw new UsageError('--file verifies an export in full: it goes without --fast and --accept-loss')
  }
  const hasReason = reason !== undefined && reason.trim() !== ''
  if (acceptLoss === true && !hasReason) throw new UsageError('--accept-loss needs --reason')
  if (acceptLoss !== true && reason !== undefined) throw new UsageError('--reason goes with --accept-loss')
}

type Row = readonly [string, Cell]

const show = async (
  { print }: Bench,
  report: ShownReport,
  remarks: readonly Row[] = [],
): Promise<ExitCode> => {
  await print.result(report, (paint) => fields([...rowsOf(report), ...remarks], paint))
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
