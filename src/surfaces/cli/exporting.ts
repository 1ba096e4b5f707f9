import { randomUUID } from 'node:crypto'
import { access, link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { TableCell, TableColumn, TableEncoder } from '../../ports/bar-history.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Invocation } from './command.ts'
import { cannotWrite, Failure, UsageError } from './failure.ts'
import { believedBy } from './store.ts'
import type { Progress } from './terminal.ts'

export const EXPORT_FORMATS = ['jsonl', 'json', 'csv', 'parquet'] as const

type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A kind of stored items that can be exported. */
export interface Exportable<Item> {
  /** Name of the answer's member with their number. */
  readonly plural: string
  /** Reads page by page, so that memory does not grow with the number of items. */
  readonly pages: (invocation: Invocation, progress: Progress | undefined) => AsyncIterable<readonly Item[]>
  /** Time that `--from` and `--to` are compared with. */
  readonly timestampOf: (item: Item) => string
  readonly jsonOf: (item: Item) => string
  /** Columns of the table formats. */
  readonly columns: readonly TableColumn[]
  /** Cells in the order of the columns. */
  readonly cellsOf: (item: Item) => readonly TableCell[]
}

/**
 * Pages of verified records; none if nothing was ever stored. Records that no authorized node has signed are left out.
 */
export const pagesOfBelievedLog = <Item>(
  read: (log: EventLog) => AsyncIterable<readonly Item[]>,
): Exportable<Item>['pages'] =>
  async function* (invocation) {
    await using session = await invocation.openExistingStore()
    if (session !== null) yield* read((await believedBy(session.log, session.trust)).log)
  }

/** Pages of the stored records, without verification. */
export const pagesOfLog = <Item>(
  read: (log: EventLog, progress: Progress | undefined) => AsyncIterable<readonly Item[]>,
): Exportable<Item>['pages'] =>
  async function* (invocation, progress) {
    await using session = await invocation.openExistingStore()
    if (session !== null) yield* read(session.log, progress)
  }

export interface ExportOptions {
  readonly format?: ExportFormat
  readonly from?: string
  readonly to?: string
  readonly output?: string
  readonly force?: true
}

/** Writes to standard output, or to a file that appears whole or not at all. */
export const exportItems = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  options: ExportOptions,
): Promise<void> => {
  const { print } = invocation
  const { output } = options
  if (output !== undefined) return exportToFile(invocation, what, options, output)
  // Standard output carries one document: with --json that can only be the array.
  const format = options.format ?? (print.json ? 'json' : 'jsonl')
  if (print.json && format !== 'json') {
    throw new UsageError(`--json prints one JSON document: use --format json, or --output for ${format}`)
  }
  if (format === 'parquet') throw new UsageError('Parquet is no text: name a file with --output')
  await writeItems(invocation, what, { ...options, format }, (text) => print.asIs(String(text)))
}

const exportToFile = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  options: ExportOptions,
  path: string,
): Promise<void> => {
  const { format = formatNamed(path) } = options
  const force = options.force === true
  // Checked before the work as well as after it.
  if (!force && (await exists(path))) throw fileExists(path)
  const progress = invocation.progress('exporting')
  const written = await writeWholeFile(path, { force }, (write) =>
    writeItems(invocation, what, { ...options, format }, write, progress),
  ).finally(() => progress.end())
  const document = { output: path, format, [what.plural]: written }
  await invocation.print.result(document, `${written} ${what.plural} written to ${path}\n`)
}

/** Format by the extension of the file. Default: one item per line. */
const formatNamed = (path: string): ExportFormat =>
  EXPORT_FORMATS.find((format) => path.toLowerCase().endsWith(`.${format}`)) ?? 'jsonl'

type Write = (text: string | Uint8Array) => Promise<void>

/** Returns the number of items written. */
const writeItems = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  { format, from, to }: Pick<ExportOptions, 'from' | 'to'> & { readonly format: ExportFormat },
  write: Write,
  progress?: Progress,
): Promise<number> => {
  const encoder = await encoderFor(invocation, what, format)
  // Timestamps have one form, so their texts sort like their times.
  const isWanted = (item: Item): boolean => {
    const timestamp = what.timestampOf(item)
    return (from === undefined || timestamp >= from) && (to === undefined || timestamp <= to)
  }
  let written = 0
  await write(encoder.opening)
  for await (const items of what.pages(invocation, progress)) {
    const wanted = items.filter(isWanted)
    if (wanted.length === 0) continue
    await write(await encoder.add(wanted))
    written += wanted.length
  }
  await write(await encoder.end())
  return written
}

/** Forms of an item: as JSON text and as a row of a table. */
export type ItemForms<Item> = Pick<Exportable<Item>, 'jsonOf' | 'columns' | 'cellsOf'>

export const encoderFor = async <Item>(
  invocation: Invocation,
  forms: ItemForms<Item>,
  format: ExportFormat,
): Promise<ItemEncoder<Item>> => {
  const { jsonOf, columns, cellsOf } = forms
  switch (format) {
    case 'jsonl':
      return lineEncoder('', (item) => `${jsonOf(item)}\n`)
    case 'json':
      return arrayEncoder(jsonOf)
    case 'csv':
      return lineEncoder(csvLine(columns.map(({ name }) => name)), (item) => csvLine(cellsOf(item)))
    case 'parquet':
      return parquetEncoder(forms, (await invocation.history()).tableEncoder(columns))
  }
}

interface ItemEncoder<Item> {
  readonly opening: string
  add(items: readonly Item[]): Promise<string | Uint8Array>
  end(): Promise<string | Uint8Array>
}

const lineEncoder = <Item>(opening: string, lineOf: (item: Item) => string): ItemEncoder<Item> => ({
  opening,
  add: async (items) => items.map(lineOf).join(''),
  end: async () => '',
})

/** Encodes one JSON array. */
const arrayEncoder = <Item>(jsonOf: (item: Item) => string): ItemEncoder<Item> => {
  let isEmpty = true
  return {
    opening: '[',
    add: async (items) => {
      const text = (isEmpty ? '' : ',') + items.map((item) => `\n  ${jsonOf(item)}`).join(',')
      isEmpty = false
      return text
    },
    end: async () => (isEmpty ? ']\n' : '\n]\n'),
  }
}

/** Collects rows of several pages: groups of a few rows make files large and slow to read. */
const parquetEncoder = <Item>(forms: ItemForms<Item>, table: TableEncoder): ItemEncoder<Item> => {
  let held: (readonly TableCell[])[] = []
  const taken = async (): Promise<Uint8Array> => {
    const bytes = await table.add(held)
    held = []
    return bytes
  }
  return {
    opening: '',
    add: async (items) => {
      // Copied one by one, because a page may hold a month of seconds.
      for (const item of items) held.push(forms.cellsOf(item))
      return held.length < GROUP_ROWS ? '' : taken()
    },
    end: async () => Buffer.concat([await taken(), await table.end()]),
  }
}

const GROUP_ROWS = 20_000

/** One line of RFC 4180. Fields are quoted when they must be; their content is never changed. */
export const csvLine = (values: readonly TableCell[]): string => `${values.map(csvField).join(',')}\r\n`

const csvField = (value: TableCell): string => {
  const text = value === null ? '' : String(value)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Many readers trim fields that start or end with a blank, unless they are quoted. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/

/**
 * Writes a file that appears whole or not at all, readable by its owner only. Without `force` an existing file is left
 * alone.
 */
export const writeWholeFile = async <Result>(
  path: string,
  options: { readonly force: boolean },
  produce: (write: (text: string | Uint8Array) => Promise<void>, draftPath: string) => Promise<Result>,
): Promise<Result> => {
  // A short suffix, because the length of names is limited.
  const draftPath = `${path}.${randomUUID().slice(0, 8)}.partial`
  const draft = await openDraft(draftPath, path)
  try {
    const result = await produce((text) => draft.appendFile(text), draftPath)
    await draft.sync()
    if (options.force) await rename(draftPath, path)
    else await linkNew(draftPath, path)
    await syncFolderOf(path)
    return result
  } finally {
    await draft.close()
    // With --force the draft was renamed, and no longer exists.
    await rm(draftPath, { force: true })
  }
}

/** A new name survives a power cut only when its folder is synced, where the system and its disk support that. */
const syncFolderOf = async (path: string): Promise<void> => {
  try {
    await using folder = await open(dirname(path), 'r')
    await folder.sync()
  } catch (error) {
    if (!WITHOUT_FOLDER_SYNC.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Errors of Windows, network drives and write-only folders that cannot sync a folder. */
const WITHOUT_FOLDER_SYNC = new Set([
  'EACCES',
  'EINVAL',
  'EISDIR',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
])

const openDraft = async (draftPath: string, path: string): Promise<FileHandle> => {
  try {
    return await open(draftPath, 'wx', 0o600)
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

/** Fails if the file was created meanwhile. */
const linkNew = async (draftPath: string, path: string): Promise<void> => {
  try {
    await link(draftPath, path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || (WITHOUT_LINKS.has(code) && (await exists(path)))) throw fileExists(path)
    if (!WITHOUT_LINKS.has(code)) throw error
    await rename(draftPath, path)
  }
}

/** Errors of file systems without hard links, such as memory sticks and network drives. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

export const fileExists = (path: string): Failure =>
  new Failure('file.exists', `${path} exists already`, {
    advice: 'Choose another name, or add --force to replace it.',
  })

/** False also for a file without access: opening it reports the reason. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
