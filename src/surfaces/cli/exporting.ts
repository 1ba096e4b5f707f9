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

/** Something stored that can be exported. */
export interface Exportable<Item> {
  /** The member of the answer that counts them. */
  readonly plural: string
  /** Page by page, so that memory does not grow with what is stored. */
  readonly pages: (invocation: Invocation, progress: Progress | undefined) => AsyncIterable<readonly Item[]>
  /** What `--from` and `--to` compare. */
  readonly timestampOf: (item: Item) => string
  readonly jsonOf: (item: Item) => string
  /** Of a table. */
  readonly columns: readonly TableColumn[]
  /** In the order of the columns. */
  readonly cellsOf: (item: Item) => readonly TableCell[]
}

/** Pages of what the log says; none where nothing was ever stored. What nobody who may write here has signed is left out. */
export const pagesOfBelievedLog = <Item>(
  read: (log: EventLog) => AsyncIterable<readonly Item[]>,
): Exportable<Item>['pages'] =>
  async function* (invocation) {
    await using session = await invocation.openExistingStore()
    if (session !== null) yield* read((await believedBy(session.log, session.trust)).log)
  }

/** Pages of what is stored, as it is. */
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

/** To standard output, or to a file that appears whole or not at all. */
export const exportItems = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  options: ExportOptions,
): Promise<void> => {
  const { print } = invocation
  const { output } = options
  if (output !== undefined) return exportToFile(invocation, what, options, output)
  // One document on standard output: with --json that can only be the array.
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
  // Checked before the work, not only after it.
  if (!force && (await exists(path))) throw fileExists(path)
  const progress = invocation.progress('exporting')
  const written = await writeWholeFile(path, { force }, (write) =>
    writeItems(invocation, what, { ...options, format }, write, progress),
  ).finally(() => progress.end())
  const document = { output: path, format, [what.plural]: written }
  await invocation.print.result(document, `${written} ${what.plural} written to ${path}\n`)
}

/** As the name of the file says; one item per line where it does not. */
const formatNamed = (path: string): ExportFormat =>
  EXPORT_FORMATS.find((format) => path.toLowerCase().endsWith(`.${format}`)) ?? 'jsonl'

type Write = (text: string | Uint8Array) => Promise<void>

/** Returns how many items were written. */
const writeItems = async <Item>(
  invocation: Invocation,
  what: Exportable<Item>,
  { format, from, to }: Pick<ExportOptions, 'from' | 'to'> & { readonly format: ExportFormat },
  write: Write,
  progress?: Progress,
): Promise<number> => {
  const encoder = await encoderFor(invocation, what, format)
  // Timestamps have one form, so that their texts sort like their times.
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

/** Of an item, as text and as a row of a table. */
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

/** One JSON array. */
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

/** Rows of several pages together: groups of a few rows make large files that are slow to read. */
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
      // A page may be a month of seconds.
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

/** Many readers trim fields that begin or end with a blank, unless they are quoted. */
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
  // Short, since names have a limit.
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
    // With --force the draft was renamed.
    await rm(draftPath, { force: true })
  }
}

/** A new name outlives a power cut only when its folder is written, where the system and its disk can do that. */
const syncFolderOf = async (path: string): Promise<void> => {
  try {
    await using folder = await open(dirname(path), 'r')
    await folder.sync()
  } catch (error) {
    if (!WITHOUT_FOLDER_SYNC.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** How Windows, network drives and folders that may be written but not listed say so. */
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

/** How file systems of memory sticks and network drives say that a file has one name only. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

export const fileExists = (path: string): Failure =>
  new Failure('file.exists', `${path} exists already`, {
    advice: 'Choose another name, or add --force to replace it.',
  })

/** False also for what is not accessible: opening it reports why. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
