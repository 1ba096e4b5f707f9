import { access } from 'node:fs/promises'
import { Option } from 'commander'
import type { LogRecord } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EVENT_LAYOUTS, EXPORT_FORMATS, type ExportFormat } from '../event-layout.ts'
import { EXIT_OK, UsageError, type ExitCode } from '../failure.ts'
import { fileExists, writeWholeFile } from '../file-output.ts'
import { parseFrom, parseTo } from '../moments.ts'
import type { Progress } from '../progress.ts'

export const exportCommand: CliCommand = {
  group: 'Prove',
  add: (program, task) => {
    const command = program
      .command('export')
      .summary('write the event log to a file or a pipe')
      .description('Writes what is stored, for others to keep, to read or to verify.')
    command
      .command('events')
      .summary('event records with hashes and signatures, in order')
      .description(
        'Writes event records in the order of the log, as they are stored: nothing is redacted, since a changed ' +
          'record would no longer verify.',
      )
      .addOption(
        new Option(
          '--format <format>',
          'one record per line, one array, or a table (default: jsonl)',
        ).choices(EXPORT_FORMATS),
      )
      .option('--from <date>', 'only events at or after this date or time', parseFrom)
      .option('--to <date>', 'only events at or before this date or time', parseTo)
      .option('--output <file>', 'write to this file instead of standard output')
      .option('--force', 'replace the file if it exists')
      .addHelpText(
        'after',
        examples(
          'svc export events --output events.jsonl',
          'svc integrity --file events.jsonl',
          'svc export events --format csv --from 2026-02-01 --to 2026-02-28 > february.csv',
        ),
      )
      .action(task(exportEvents))
    return command
  },
}

interface ExportOptions {
  readonly format?: ExportFormat
  readonly from?: string
  readonly to?: string
  readonly output?: string
  readonly force?: true
}

const exportEvents = async (bench: Bench, options: ExportOptions): Promise<ExitCode> => {
  const { output } = options
  if (output !== undefined) return exportToFile(bench, options, output)
  // One document on standard output: with --json that can only be the array.
  const format = options.format ?? (bench.print.json ? 'json' : 'jsonl')
  if (bench.print.json && format !== 'json') {
    throw new UsageError(`--json prints one JSON document: use --format json, or --output for ${format}`)
  }
  await writeEvents(bench, format, options, (text) => bench.print.asIs(text))
  return EXIT_OK
}

const exportToFile = async (bench: Bench, options: ExportOptions, path: string): Promise<ExitCode> => {
  const { format = 'jsonl' } = options
  const force = options.force === true
  // Looked at before the work, not only after it.
  if (!force && (await isThere(path))) throw fileExists(path)
  const progress = bench.progress('exporting')
  const events = await writeWholeFile(path, { force }, (file) =>
    writeEvents(bench, format, options, (text) => file.write(text), progress),
  ).finally(() => progress.end())
  await bench.print.result({ output: path, format, events }, () => `${events} events written to ${path}\n`)
  return EXIT_OK
}

type Write = (text: string) => Promise<void>

/** Page by page, so that memory does not grow with the log. Returns how many events were written. */
const writeEvents = async (
  { workshop }: Bench,
  format: ExportFormat,
  range: Pick<ExportOptions, 'from' | 'to'>,
  write: Write,
  progress?: Progress,
): Promise<number> => {
  const { opening, between, closing, textOf } = EVENT_LAYOUTS[format]
  let written = 0
  const session = await workshop.openExistingStore()
  try {
    await write(opening)
    for await (const records of session === null ? [] : pagesOf(session.log, progress)) {
      const wanted = records.filter((record) => isWithin(record, range))
      if (wanted.length === 0) continue
      await write((written === 0 ? '' : between) + wanted.map(textOf).join(between))
      written += wanted.length
    }
    await write(closing(written))
    return written
  } finally {
    await session?.close()
  }
}

async function* pagesOf(log: EventLog, progress?: Progress): AsyncIterable<readonly LogRecord[]> {
  const { seq: upTo } = await log.head()
  for await (const records of log.scan({ after: 0, upTo })) {
    yield records
    progress?.update(records.at(-1)?.seq ?? 0, upTo)
  }
}

/** Timestamps have one form, so their texts compare like their moments. */
const isWithin = ({ ts }: LogRecord, { from, to }: Pick<ExportOptions, 'from' | 'to'>): boolean =>
  (from === undefined || ts >= from) && (to === undefined || ts <= to)

const isThere = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    // Not there, or not to be seen: opening it will say which.
    return false
  }
}
