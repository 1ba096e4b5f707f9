import { access } from 'node:fs/promises'
import type { EventLog } from '../../ports/event-log.ts'
import type { Invocation } from './command.ts'
import type { ExportFormat, ExportLayouts } from './export-layout.ts'
import { EXIT_OK, UsageError, type ExitCode } from './failure.ts'
import { fileExists, writeWholeFile } from './file-output.ts'
import type { Progress } from './progress.ts'

/** Something of the log that can be written out. */
export interface Exportable<Item> {
  /** As the answer calls them. */
  readonly plural: string
  /** Page by page, so that memory does not grow with the log. */
  readonly pages: (log: EventLog, progress: Progress | undefined) => AsyncIterable<readonly Item[]>
  /** What `--from` and `--to` look at. */
  readonly momentOf: (item: Item) => string
  readonly layouts: ExportLayouts<Item>
}

export interface ExportOptions {
  readonly format?: ExportFormat
  readonly from?: string
  readonly to?: string
  readonly output?: string
  readonly force?: true
}

/** To standard output, or to a file that appears whole or not at all. */
export const exportItems = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  options: ExportOptions,
): Promise<ExitCode> => {
  const { output } = options
  if (output !== undefined) return exportToFile(invocation, what, options, output)
  // One document on standard output: with --json that can only be the array.
  const format = options.format ?? (invocation.print.json ? 'json' : 'jsonl')
  if (invocation.print.json && format !== 'json') {
    throw new UsageError(`--json prints one JSON document: use --format json, or --output for ${format}`)
  }
  await writeItems(invocation, what, { ...options, format }, (text) => invocation.print.asIs(text))
  return EXIT_OK
}

const exportToFile = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  options: ExportOptions,
  path: string,
): Promise<ExitCode> => {
  const { format = 'jsonl' } = options
  const force = options.force === true
  // Looked at before the work, not only after it.
  if (!force && (await isThere(path))) throw fileExists(path)
  const progress = invocation.progress('exporting')
  const written = await writeWholeFile(path, { force }, (file) =>
    writeItems(invocation, what, { ...options, format }, (text) => file.write(text), progress),
  ).finally(() => progress.end())
  const document = { output: path, format, [what.plural]: written }
  await invocation.print.result(document, () => `${written} ${what.plural} written to ${path}\n`)
  return EXIT_OK
}

type Write = (text: string) => Promise<void>

/** Returns how many items were written. */
const writeItems = async <Item>(
  { dependencies }: Invocation,
  { pages, momentOf, layouts }: Exportable<Item>,
  { format, from, to }: Pick<ExportOptions, 'from' | 'to'> & { readonly format: ExportFormat },
  write: Write,
  progress?: Progress,
): Promise<number> => {
  const { opening, between, closing, textOf } = layouts[format]
  // Timestamps have one form, so their texts compare like their moments.
  const isWanted = (item: Item): boolean => {
    const moment = momentOf(item)
    return (from === undefined || moment >= from) && (to === undefined || moment <= to)
  }
  let written = 0
  const session = await dependencies.openExistingStore()
  try {
    await write(opening)
    for await (const items of session === null ? [] : pages(session.log, progress)) {
      const wanted = items.filter(isWanted)
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

const isThere = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    // Not there, or not to be seen: opening it will say which.
    return false
  }
}
