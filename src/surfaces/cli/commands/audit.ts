import { canonicalJson } from '../../../core/log/canonical-json.ts'
import type { PastPoint } from '../../../core/shared/as-of.ts'
import type { Json } from '../../../core/shared/json.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import { auditDecisions } from '../../../engine/audit/audit-decisions.ts'
import type { AuditReport, Finding } from '../../../engine/audit/findings.ts'
import { firstSeqFrom } from '../../../engine/queries/first-seq-from.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { parsePoint } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'
import { EXIT_FAILED, EXIT_OK, UsageError } from '../failure.ts'
import { openExisting } from '../store.ts'
import { bad, fields, good, left, paragraphs, quiet, right, shrinking, table, warning } from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Runs every stored command again, on the state before it and with the settings of that time, and compares the ' +
        'bytes of its events. Nothing is written. It works while the service runs. A difference means that the holder of ' +
        'a signing key has changed an event, or that this release decides in another way.',
    )
    .option('--since <seq|time>', 'begin with this event', parsePoint)
    .option('--from <seq|time>', 'the same as --since', parsePoint)
    .option('--to <seq|time>', 'end with this event', parsePoint)
    .examples('svc audit', 'svc audit --since 2026-02-20 --json', 'svc audit --since 1000 --to 2000')
    .runs(audit)
}

interface Range {
  readonly since?: PastPoint
  readonly from?: PastPoint
  readonly to?: PastPoint
}

const audit = async (invocation: Invocation, { since, from = since, to }: Range): Promise<Answer> => {
  if (since !== undefined && from !== since)
    throw new UsageError('--since and --from mean the same: give one')
  const { version, progress } = invocation
  const configuration = await settingsOf(invocation)
  await using session = await openExisting(invocation)
  const { log, trust } = session
  const range = { from: await seqFrom(log, from), to: await seqTo(log, to) }
  const { seq: head } = await log.head()
  if (range.from !== null && range.from > head)
    throw new UsageError(`the range begins beyond event ${head}, the last one`)
  if (range.to !== null && range.to < (range.from ?? 1)) throw new UsageError('the range begins after --to')
  const bar = progress('auditing')
  const beganMs = performance.now()
  const audited = await auditDecisions(log, {
    trust,
    configuration,
    version,
    ...range,
    onProgress: bar.update,
  }).finally(bar.end)
  const seconds = (performance.now() - beganMs) / 1000
  const report = { ...audited, batches_per_second: Math.round(audited.batches / seconds) }
  return { document: report, text: reportText(report), exitCode: report.ok ? EXIT_OK : EXIT_FAILED }
}

const seqFrom = async (log: EventLog, point: PastPoint | undefined): Promise<number | null> => {
  if (point === undefined) return null
  return point.kind === 'seq' ? point.seq : firstSeqFrom(log, point.time)
}

/** An event at the very time counts. */
const seqTo = async (log: EventLog, point: PastPoint | undefined): Promise<number | null> => {
  if (point === undefined) return null
  if (point.kind === 'seq') return point.seq
  return (await firstSeqFrom(log, timestampAt(Date.parse(point.time) + 1))) - 1
}

const reportText = (report: AuditReport & { readonly batches_per_second: number }): Text => {
  const { kinds, findings, different, batches, batches_per_second: rate } = report
  const { batches_without_commands: withoutCommands } = report
  const skipped = Object.entries(report.not_rerun)
  return paragraphs(
    fields([
      ['Audit', report.ok ? good('every decision is the same') : bad(`${different} events differ`)],
      ['Events', `${report.first_seq} to ${report.last_seq}`],
      ['Batches', `${batches} audited, ${rate} per second`],
      ...(withoutCommands === 0
        ? []
        : [['Not audited', warning(`${withoutCommands} batches that do not hold their commands`)] as const]),
      ['Decisions', `${report.decisions} events`],
      ...skipped.map(([reason, count]) => ['Not made again', warning(`${count}: ${reason}`)] as const),
    ]),
    table(kinds, [
      left('Decision', ({ kind }) => kind),
      right('Same', ({ same }) => same),
      right('Different', (counts) => (counts.different === 0 ? quiet('0') : bad(String(counts.different)))),
      right('Not made again', ({ not_rerun: count }) => (count === 0 ? quiet('0') : warning(String(count)))),
    ]),
    findings.length === 0
      ? null
      : table(findings.slice(0, SHOWN).flatMap(linesOf), [
          right('Event', ({ seq }) => seq),
          shrinking('Type', ({ type }) => type),
          shrinking('Where', ({ path }) => path),
          shrinking('Stored', ({ stored }) => stored),
          shrinking('Made again', ({ made }) => made),
        ]),
  )
}

const SHOWN = 20

interface Line {
  readonly seq: number
  readonly type: string
  readonly path: string
  readonly stored: string
  readonly made: string
}

const linesOf = ({ seq, type, fault, differences }: Finding): readonly Line[] => {
  if (fault === 'missing')
    return [{ seq, type, path: 'should follow here', stored: 'nothing', made: 'the event' }]
  if (fault === 'not_decided')
    return [{ seq, type, path: 'nothing leads to it', stored: 'the event', made: 'nothing' }]
  return differences.map(({ path, stored, rerun }) => ({
    seq,
    type,
    path,
    stored: valueText(stored),
    made: valueText(rerun),
  }))
}

const valueText = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : canonicalJson(value)
