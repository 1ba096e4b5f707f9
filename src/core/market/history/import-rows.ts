import { numberIn, splitCsv, timeIn } from './cells.ts'
import { historyBarFault, seriesSymbol, seriesSymbols, venueName, type HistoryBar } from './series.ts'

/** A bar of a foreign file. Values that the row lacks come from the command line or the name of the file. */
export interface ImportedBar {
  readonly venue: string | null
  readonly symbol: string | null
  readonly bar: HistoryBar
}

export type ImportedRow =
  | { readonly status: 'bars'; readonly bars: readonly ImportedBar[]; readonly faults: readonly string[] }
  | { readonly status: 'bad'; readonly reason: string }
  | { readonly status: 'skipped' }

export interface ImportFormat {
  /** For people: `header` or `no header`. */
  readonly title: string
  /** True if the first line is data. */
  readonly startsWithData: boolean
  read(cells: readonly string[], named?: NamedMarket): ImportedRow
}

/** Market that the command line names for the rows. */
export interface NamedMarket {
  readonly venue?: string | undefined
  readonly symbol?: string | undefined
}

/** Splits a line into cells; returns null for an unclosed quote. */
export type CellSplitter = (line: string) => readonly string[] | null

/** Separates by comma, unless the first line has more semicolons or tabs. */
export const splitterOf = (firstLine: string): CellSplitter => {
  const [separator] = [',', ';', '\t']
    .map((mark) => ({ mark, count: firstLine.split(mark).length }))
    .sort((one, other) => other.count - one.count)
  const { mark = ',' } = separator ?? {}
  if (mark === ',') return splitCsv
  return (line) => line.split(mark).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
}

/** Format of rows with this first line; null if its columns are not those of bars. */
export const importFormatOf = (firstCells: readonly string[]): ImportFormat | null => {
  const names = firstCells.map((cell) => cell.trim().toLowerCase())
  return wideFormat(firstCells, names) ?? namedFormat(names) ?? plainFormat(firstCells)
}

export const WANTED_IMPORT_COLUMNS =
  'a header with open_time (or ts, timestamp, time, date), open, high, low, close and volume; ' +
  'no header and these six in this order; or columns such as binance:BTC/USDT:open'

const PRICES = ['open', 'high', 'low', 'close'] as const

/** Column names in order of preference: files with both a number and a date state the same time in both. */
const TIME_NAMES = [
  'open_time',
  'opentime',
  'open time',
  'open_ts',
  'ts',
  'timestamp',
  'unix',
  'time',
  'start_at',
  'start',
  'datetime',
  'date',
]
const SYMBOL_NAMES = ['symbol', 'instrument_name', 'instrument', 'pair', 'market']
const VENUE_NAMES = ['venue', 'exchange']
const VOLUME_NAMES = ['volume', 'vol', 'base_volume', 'volume_base']

const firstOf = (names: readonly string[], wanted: readonly string[]): number =>
  wanted.map((name) => names.indexOf(name)).find((place) => place !== -1) ?? -1

/** Format with named columns and one market per row. */
const namedFormat = (names: readonly string[]): ImportFormat | null => {
  const time = firstOf(names, TIME_NAMES)
  const prices = PRICES.map((name) => names.indexOf(name))
  const namedVolume = firstOf(names, VOLUME_NAMES)
  // In `Volume BTC,Volume USDT` the first is the volume of the coin.
  const volume = namedVolume === -1 ? names.findIndex((name) => name.startsWith('volume ')) : namedVolume
  if ([time, volume, ...prices].includes(-1)) return null
  const symbol = firstOf(names, SYMBOL_NAMES)
  const venue = firstOf(names, VENUE_NAMES)
  const confirm = names.indexOf('confirm')
  return {
    title: 'header',
    startsWithData: false,
    read: (cells, named) => {
      const short = fieldFault(cells, names.length)
      if (short !== null) return short
      // Exchanges mark a bar that is still forming with 0.
      if (confirm !== -1 && numberIn(cells[confirm] ?? '') === 0) return { status: 'skipped' }
      const read = barFrom(cells, time, [...prices, volume])
      if (typeof read === 'string') return { status: 'bad', reason: read }
      const [venueText, symbolText] = [cells[venue], cells[symbol]].map((cell) => cell?.trim() ?? '')
      return rowOf(read, venueText ?? '', symbolText ?? '', named)
    },
  }
}

const rowOf = (
  bar: HistoryBar,
  venueText: string,
  symbolText: string,
  named: NamedMarket = {},
): ImportedRow => {
  const venue = venueText === '' ? null : venueName(venueText)
  if (venueText !== '' && venue === null) return { status: 'bad', reason: 'not a name of a venue' }
  if (symbolText === '') return { status: 'bars', bars: [{ venue, symbol: null, bar }], faults: [] }
  const meant = symbolMeant(symbolText, { venue: venue ?? named.venue, symbol: named.symbol })
  return meant.status === 'meant'
    ? { status: 'bars', bars: [{ venue, symbol: meant.symbol, bar }], faults: [] }
    : { status: 'bad', reason: meant.reason }
}

export type SymbolMeant =
  | { readonly status: 'meant'; readonly symbol: string }
  | { readonly status: 'unclear'; readonly reason: string }

/** Market that a text names. If it can be two, the one on the command line decides. */
export const symbolMeant = (text: string, { venue, symbol: named }: NamedMarket): SymbolMeant => {
  const symbols = seriesSymbols(text, venue ?? null)
  const [first] = symbols
  if (first === undefined) return { status: 'unclear', reason: 'not a name of a market' }
  if (symbols.length === 1) return { status: 'meant', symbol: first }
  const chosen = named === undefined ? null : seriesSymbol(named, venue ?? null)
  if (chosen !== null && symbols.includes(chosen)) return { status: 'meant', symbol: chosen }
  const pairs = symbols.map((symbol) => symbol.replace('-', '/'))
  const options = pairs.map((pair) => `--symbol ${pair}`)
  return { status: 'unclear', reason: `${text} can be ${pairs.join(' or ')}: add ${options.join(' or ')}` }
}

/** Format of exchange dumps: time, open, high, low, close, volume, and other columns. */
const plainFormat = (firstCells: readonly string[]): ImportFormat | null => {
  if (firstCells.length < 6 || typeof barFrom(firstCells, 0, PLAIN_PLACES, 'unchecked') === 'string')
    return null
  return {
    title: 'no header',
    startsWithData: true,
    read: (cells) => {
      const short = fieldFault(cells, firstCells.length)
      if (short !== null) return short
      const read = barFrom(cells, 0, PLAIN_PLACES)
      if (typeof read === 'string') return { status: 'bad', reason: read }
      return { status: 'bars', bars: [{ venue: null, symbol: null, bar: read }], faults: [] }
    },
  }
}

const PLAIN_PLACES = [1, 2, 3, 4, 5]

const fieldFault = (cells: readonly string[], count: number): ImportedRow | null => {
  const hasTrailing = cells.length === count + 1 && cells.at(-1)?.trim() === ''
  if (cells.length === count || hasTrailing) return null
  return { status: 'bad', reason: `${cells.length} fields where the first line has ${count}` }
}

interface WideMarket {
  readonly venue: string
  readonly symbol: string
  readonly places: readonly number[]
}

/** `timestamp`, and `<venue>:<pair>:<field>` for each market. */
const wideFormat = (cells: readonly string[], names: readonly string[]): ImportFormat | null => {
  const time = firstOf(names, TIME_NAMES)
  const titles = new Set(cells.flatMap((cell) => titleOf(cell.trim()) ?? []))
  const markets = [...titles].flatMap((title): readonly WideMarket[] => {
    const venue = venueName(title.split(':', 1)[0] ?? '')
    const symbol = seriesSymbol(title.slice(title.indexOf(':') + 1), venue)
    const places = [...PRICES, 'volume'].map((field) => names.indexOf(`${title.toLowerCase()}:${field}`))
    return venue === null || symbol === null || places.includes(-1) ? [] : [{ venue, symbol, places }]
  })
  if (time === -1 || markets.length === 0) return null
  return {
    title: 'header with venues and pairs',
    startsWithData: false,
    read: (row) => fieldFault(row, cells.length) ?? wideRow(row, time, markets),
  }
}

const wideRow = (row: readonly string[], time: number, markets: readonly WideMarket[]): ImportedRow => {
  const bars: ImportedBar[] = []
  const faults: string[] = []
  for (const { venue, symbol, places } of markets) {
    if (places.every((place) => numberIn(row[place] ?? '') === null)) continue
    const bar = barFrom(row, time, places)
    if (typeof bar === 'string') faults.push(`${symbol}: ${bar}`)
    else bars.push({ venue, symbol, bar })
  }
  return { status: 'bars', bars, faults }
}

/** `binance:BTC/USDT` of `binance:BTC/USDT:open`; a pair may hold colons itself. */
const titleOf = (column: string): string | null => {
  const end = column.lastIndexOf(':')
  return end > column.indexOf(':') ? column.slice(0, end) : null
}

/** Returns the bar, or the fault of the row. */
const barFrom = (
  cells: readonly string[],
  time: number,
  places: readonly number[],
  values: 'checked' | 'unchecked' = 'checked',
): HistoryBar | string => {
  const text = cells[time] ?? ''
  const openMs = timeIn(text)
  if (openMs === null) return `${JSON.stringify(text.slice(0, 40))} is not a time`
  const [open, high, low, close, volume] = places.map((place) => numberIn(cells[place] ?? '') ?? Number.NaN)
  const bar = { openMs, open, high, low, close, volume } as HistoryBar
  if (values === 'checked') return historyBarFault(bar) ?? bar
  return Object.values(bar).every((value) => Number.isFinite(value)) ? bar : 'not a row of numbers'
}

/** Pair and timeframe from the name of a file. Binance names its dumps like `BTCUSDT-1m-2024-01.csv`. */
export const seriesInFileName = (
  name: string,
): { readonly pair: string; readonly timeframe: string } | null => {
  const [, pair = '', timeframe = ''] = /^([A-Za-z0-9]{5,20})-(\d{1,2}[smhd])(?:-|\.|$)/.exec(name) ?? []
  return timeframe === '' ? null : { pair, timeframe }
}
