import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { jsonCellsOf, jsonColumnsOf, numberIn, splitCsv, timeIn } from '../../../core/market/history/cells.ts'

/** The bars of a line, and its errors. An error of one symbol does not affect another. */
export interface ReadRow {
  readonly openMs: number
  readonly bars: readonly FileBar[]
  readonly faults: readonly string[]
}

/** How to read a file, derived from its first line. */
export interface RowFormat {
  /** The first line names the columns. */
  readonly hasHeader: boolean
  /** Groups of columns that are ignored, because another venue has the same symbol. */
  readonly ignored: readonly string[]
  read(line: string): ReadRow
}

/** Null when the first line is neither a usable header nor a usable object. */
export const rowFormatOf = (firstLine: string, universe: ReadonlyMap<string, string>): RowFormat | null => {
  const isJson = firstLine.trimStart().startsWith('{')
  const columns = isJson ? jsonColumnsOf(firstLine, SIDE_MEMBERS) : splitCsv(firstLine)
  const layout = columns === null ? null : layoutOf(columns)
  if (columns === null || layout === null) return null
  const toCells = isJson ? jsonCellsOf(columns) : csvCellsOf(columns.length)
  const readCells = layout.kind === 'long' ? longReader(layout, universe) : wideReader(layout, universe)
  return {
    hasHeader: !isJson,
    ignored: layout.kind === 'long' ? [] : ignoredIn(layout),
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

/** The cells of a line, or the error in it. */
const csvCellsOf =
  (count: number) =>
  (line: string): Cells | string => {
    const cells = splitCsv(line)
    if (cells === null) return 'a quote is not closed'
    const hasTrailingComma = cells.length === count + 1 && cells.at(-1)?.trim() === ''
    if (cells.length === count || hasTrailingComma) return cells
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

const ignoredIn = (layout: LayoutOf<'wide'>): readonly string[] => {
  const first = firstOfEach(layout)
  return layout.groups.filter((group) => !first.includes(group)).map(({ title }) => title)
}

const cellReader =
  (cells: Cells, places: Places) =>
  (member: Parameters<Places['get']>[0]): string => {
    const place = places.get(member)
    return place === undefined ? '' : (cells[place] ?? '')
  }

const rowOf = (time: string, reads: readonly ReadBar[]): ReadRow => {
  const openMs = timeIn(time)
  if (openMs === null) return faulty(`${JSON.stringify(time.slice(0, 40))} is not a time`)
  return {
    openMs,
    bars: reads.flatMap((read) => (read.status === 'bar' ? [read.bar] : [])),
    faults: reads.flatMap((read) => (read.status === 'bad' ? [read.reason] : [])),
  }
}

/** How the columns map to members. */
type Layout =
  | { readonly kind: 'long'; readonly ts: number; readonly symbol: number; readonly places: Places }
  | { readonly kind: 'wide'; readonly ts: number; readonly groups: readonly WideGroup[] }

/** Column of each member in the file. */
type Places = ReadonlyMap<BarMember, number>

interface WideGroup {
  /** Title in the file: `binance:BTC/USDT`. */
  readonly title: string
  readonly canonical: string
  readonly places: Places
}

/** Null if the columns match no known layout. */
const layoutOf = (columns: readonly string[]): Layout | null => {
  const names = columns.map((column) => column.trim().toLowerCase())
  const ts = names.findIndex((name) => TIME_COLUMNS.has(name))
  if (ts === -1) return null
  const symbol = names.indexOf('symbol')
  const places = placesIn(names)
  if (symbol !== -1 && isComplete(places)) return { kind: 'long', ts, symbol, places }
  const groups = wideGroupsOf(columns)
  return groups.length === 0 ? null : { kind: 'wide', ts, groups }
}

export const WANTED_COLUMNS =
  'ts,symbol,open,high,low,close,volume or timestamp and columns such as binance:BTC/USDT:open'

const TIME_COLUMNS: ReadonlySet<string> = new Set(['ts', 'timestamp', 'open_ts'])

const placesIn = (names: readonly string[]): Places =>
  new Map(
    MEMBERS.flatMap((member): [BarMember, number][] => {
      const place = names.indexOf(member)
      return place === -1 ? [] : [[member, place]]
    }),
  )

const isComplete = (places: Places): boolean => BAR_MEMBERS.every((member) => places.has(member))

const wideGroupsOf = (columns: readonly string[]): readonly WideGroup[] => {
  const groups = new Map<string, string[]>()
  columns.forEach((column, place) => {
    const { title, field } = wideNameOf(column)
    const fields = groups.get(title) ?? []
    fields[place] = field
    groups.set(title, fields)
  })
  return [...groups].flatMap(([title, fields]) => {
    const places = placesIn(Array.from(fields, (field: string | undefined) => field ?? ''))
    const canonical = canonicalSymbol(title.slice(title.indexOf(':') + 1))
    return canonical === '' || !isComplete(places) ? [] : [{ title, canonical, places }]
  })
}

/** `<venue>:<BASE>/<QUOTE>:<field>`; a pair may hold colons itself (`BTC/USDT:USDT`). */
const wideNameOf = (column: string): { readonly title: string; readonly field: string } => {
  const name = column.trim()
  const end = name.lastIndexOf(':')
  return end <= name.indexOf(':')
    ? { title: '', field: '' }
    : { title: name.slice(0, end), field: name.slice(end + 1).toLowerCase() }
}

/** A bar without its length, which the file does not name. */
export type FileBar = Omit<FeedBar, 'resolution_s' | 'open_ts' | 'close_ts' | 'backfill'>

const BAR_MEMBERS = ['open', 'high', 'low', 'close', 'volume'] as const
const SIDE_MEMBERS = [
  'quote_volume',
  'funding_annualized',
  'basis_annualized',
  'open_interest_usd',
  'bid_depth_usd',
  'ask_depth_usd',
  'fear_greed',
] as const

type BarMember = (typeof BAR_MEMBERS)[number] | (typeof SIDE_MEMBERS)[number]

const MEMBERS: readonly BarMember[] = [...BAR_MEMBERS, ...SIDE_MEMBERS]

type ReadBar =
  | { readonly status: 'bar'; readonly bar: FileBar }
  | { readonly status: 'none' }
  | { readonly status: 'bad'; readonly reason: string }

/** The bar of one symbol in one row: complete, or absent. */
const barFrom = (symbol: string, cellOf: (member: BarMember) => string): ReadBar => {
  const open = numberIn(cellOf('open'))
  const high = numberIn(cellOf('high'))
  const low = numberIn(cellOf('low'))
  const close = numberIn(cellOf('close'))
  const volume = numberIn(cellOf('volume'))
  if (open === null && high === null && low === null && close === null) return { status: 'none' }
  if (!isPrice(open) || !isPrice(high) || !isPrice(low) || !isPrice(close)) {
    return bad(symbol, 'open, high, low and close must be numbers above 0')
  }
  if (low > Math.min(open, close) || high < Math.max(open, close)) {
    return bad(symbol, 'open and close must lie between low and high')
  }
  if (!isAmount(volume)) return bad(symbol, 'volume must be a number of 0 or more')
  const bar: FileBar = {
    symbol,
    open,
    high,
    low,
    close,
    volume,
    quote_volume: numberIn(cellOf('quote_volume')) ?? usdOf(volume * close),
    funding_annualized: numberIn(cellOf('funding_annualized')),
    basis_annualized: numberIn(cellOf('basis_annualized')),
    open_interest_usd: numberIn(cellOf('open_interest_usd')),
    bid_depth_usd: numberIn(cellOf('bid_depth_usd')),
    ask_depth_usd: numberIn(cellOf('ask_depth_usd')),
    fear_greed: numberIn(cellOf('fear_greed')),
  }
  const invalid = SIDE_MEMBERS.find((member) => !isWithin(bar[member], SIDE_RANGES[member]))
  return invalid === undefined ? { status: 'bar', bar } : bad(symbol, `${invalid} is out of range`)
}

const bad = (symbol: string, reason: string): ReadBar => ({ status: 'bad', reason: `${symbol}: ${reason}` })

const isPrice = (value: number | null | undefined): value is number =>
  typeof value === 'number' && value > 0 && Number.isFinite(value)

const isAmount = (value: number | null | undefined): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value)

const usdOf = (amount: number): number => Math.round(amount * 100) / 100

const ANYTHING = [-Number.MAX_VALUE, Number.MAX_VALUE] as const
const AMOUNT = [0, Number.MAX_VALUE] as const

const SIDE_RANGES: Readonly<Record<(typeof SIDE_MEMBERS)[number], readonly [number, number]>> = {
  quote_volume: AMOUNT,
  funding_annualized: ANYTHING,
  basis_annualized: ANYTHING,
  open_interest_usd: AMOUNT,
  bid_depth_usd: AMOUNT,
  ask_depth_usd: AMOUNT,
  fear_greed: [0, 100],
}

const isWithin = (value: number | null, [min, max]: readonly [number, number]): boolean =>
  value === null || (value >= min && value <= max)
