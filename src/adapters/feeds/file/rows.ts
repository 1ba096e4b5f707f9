import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { momentIn } from './cells.ts'
import { splitCsv } from './csv.ts'
import { barFrom, type FileBar, type ReadBar } from './file-bar.ts'
import { jsonCellsOf, jsonColumnsOf } from './json-rows.ts'
import { layoutOf, type Layout, type Places } from './layout.ts'

/** What a line holds of the universe, and what is wrong with it: one symbol's fault is not another's. */
export interface ReadRow {
  readonly openMs: number
  readonly bars: readonly FileBar[]
  readonly faults: readonly string[]
}

/** How a file is to be read, learned from its first line. */
export interface RowFormat {
  /** The first line names the columns and is no row. */
  readonly hasHeader: boolean
  /** Columns that are not read because another venue comes first. */
  readonly doubled: readonly string[]
  read(line: string): ReadRow
}

/** Null when the first line is neither a usable header nor a usable object. */
export const rowFormatOf = (firstLine: string, universe: ReadonlyMap<string, string>): RowFormat | null => {
  const isJson = firstLine.trimStart().startsWith('{')
  const columns = isJson ? jsonColumnsOf(firstLine) : splitCsv(firstLine)
  const layout = columns === null ? null : layoutOf(columns)
  if (columns === null || layout === null) return null
  const toCells = isJson ? jsonCellsOf(columns) : csvCellsOf(columns.length)
  const readCells = layout.kind === 'long' ? longReader(layout, universe) : wideReader(layout, universe)
  return {
    hasHeader: !isJson,
    doubled: layout.kind === 'long' ? [] : doubledIn(layout),
    read: (line) => {
      if (line.trim() === '') return NONE
      const cells = toCells(line)
      return typeof cells === 'string' ? faulty(cells) : readCells(cells)
    },
  }
}

const NONE: ReadRow = { openMs: 0, bars: [], faults: [] }

const faulty = (fault: string): ReadRow => ({ openMs: 0, bars: [], faults: [fault] })

type Cells = readonly string[]
type LayoutOf<Kind extends Layout['kind']> = Extract<Layout, { readonly kind: Kind }>

/** The cells of a line, or what is wrong with it. */
const csvCellsOf =
  (count: number) =>
  (line: string): Cells | string => {
    const cells = splitCsv(line)
    if (cells === null) return 'a quote is not closed'
    const hasOneCommaMore = cells.length === count + 1 && cells.at(-1)?.trim() === ''
    if (cells.length === count || hasOneCommaMore) return cells
    return `${cells.length} fields where the header has ${count}`
  }

const longReader =
  (layout: LayoutOf<'long'>, universe: ReadonlyMap<string, string>) =>
  (cells: Cells): ReadRow => {
    const symbol = universe.get(canonicalSymbol(cells[layout.symbol] ?? ''))
    if (symbol === undefined) return NONE
    return rowOf(cells[layout.ts] ?? '', [barFrom(symbol, cellReader(cells, layout.places))])
  }

const wideReader = (layout: LayoutOf<'wide'>, universe: ReadonlyMap<string, string>) => {
  const groups = firstOfEach(layout).flatMap(({ canonical, places }) => {
    const symbol = universe.get(canonical)
    return symbol === undefined ? [] : [{ symbol, places }]
  })
  return (cells: Cells): ReadRow =>
    rowOf(
      cells[layout.ts] ?? '',
      groups.map(({ symbol, places }) => barFrom(symbol, cellReader(cells, places))),
    )
}

const firstOfEach = ({ groups }: LayoutOf<'wide'>) =>
  groups.filter(
    ({ canonical }, place) => groups.findIndex((group) => group.canonical === canonical) === place,
  )

const doubledIn = (layout: LayoutOf<'wide'>): readonly string[] => {
  const first = firstOfEach(layout)
  return layout.groups.filter((group) => !first.includes(group)).map(({ title }) => title)
}

const cellReader =
  (cells: Cells, places: Places) =>
  (member: Parameters<Places['get']>[0]): string => {
    const place = places.get(member)
    return place === undefined ? '' : (cells[place] ?? '')
  }

const rowOf = (moment: string, reads: readonly ReadBar[]): ReadRow => {
  const openMs = momentIn(moment)
  if (openMs === null) return faulty(`${JSON.stringify(moment.slice(0, 40))} is no time`)
  return {
    openMs,
    bars: reads.flatMap((read) => (read.status === 'bar' ? [read.bar] : [])),
    faults: reads.flatMap((read) => (read.status === 'bad' ? [read.reason] : [])),
  }
}
