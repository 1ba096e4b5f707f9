import { csvLine } from './csv.ts'

export const EXPORT_FORMATS = ['jsonl', 'json', 'csv'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** How items become a file, piece by piece. */
export interface ExportLayout<Item> {
  readonly opening: string
  readonly between: string
  readonly closing: (written: number) => string
  readonly textOf: (item: Item) => string
}

export type ExportLayouts<Item> = Readonly<Record<ExportFormat, ExportLayout<Item>>>

interface ItemForms<Item> {
  readonly jsonOf: (item: Item) => string
  readonly columns: readonly string[]
  /** In the order of the columns. */
  readonly cellsOf: (item: Item) => readonly (string | number | null)[]
}

/** Every format, for whoever can write one item. */
export const layoutsOf = <Item>({ jsonOf, columns, cellsOf }: ItemForms<Item>): ExportLayouts<Item> => ({
  jsonl: { opening: '', between: '', closing: nothing, textOf: (item) => `${jsonOf(item)}\n` },
  json: {
    opening: '[',
    between: ',',
    closing: (written) => (written === 0 ? ']\n' : '\n]\n'),
    textOf: (item) => `\n  ${jsonOf(item)}`,
  },
  csv: {
    opening: csvLine(columns),
    between: '',
    closing: nothing,
    textOf: (item) => csvLine(cellsOf(item)),
  },
})

const nothing = (): string => ''
