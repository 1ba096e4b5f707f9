import { basename } from 'node:path'
import {
  importFormatOf,
  seriesInFileName,
  symbolMeant,
  WANTED_IMPORT_COLUMNS,
  type ImportedBar,
  type ImportFormat,
} from '../../../core/market/history/import-rows.ts'
import {
  isTimeframe,
  seriesText,
  TIMEFRAME_RULE,
  timeframeSeconds,
  timeframeText,
  type HistoryBar,
  type SeriesName,
} from '../../../core/market/history/series.ts'
import {
  HistoryError,
  type BarStore,
  type ImportedSeries,
  type ImportOptions,
  type ImportReport,
  type MergeReport,
} from '../../../ports/bar-history.ts'
import { totalOf } from './bar-store.ts'
import { openTableFile, type TableRow } from './table-rows.ts'

/** Bars that are held in memory before they are stored. */
const HELD_MAX = 200_000
/** Number of errors that are listed. All errors are counted. */
const LISTED_MAX = 10
/** Share of bad rows above which the file was probably misread. */
const BAD_SHARE_MAX = 0.1

/** Reads a file in any known format and merges its bars into the store. */
export const importFile = async (
  path: string,
  options: ImportOptions,
  { store, nowMs }: { readonly store: BarStore; readonly nowMs: number },
): Promise<ImportReport> => {
  const file = await openTableFile(path, options.onProgress)
  const collected = new Collected(path, options, nowMs)
  const merged = new Map<string, { readonly name: SeriesName; readonly reports: MergeReport[] }>()
  const flush = async (): Promise<void> => {
    for (const [name, bars] of collected.take()) {
      const key = seriesText(name)
      const known = merged.get(key) ?? { name, reports: [] }
      merged.set(key, known)
      known.reports.push(await store.merge(name, bars, { replaces: options.replaces }))
    }
  }
  let format: ImportFormat | null = null
  for await (const rows of file.rows()) {
    const isFirst = format === null
    format ??= formatOf(path, rows[0])
    const data = isFirst && !format.startsWithData ? rows.slice(1) : rows
    for (const row of data) collected.add(row, format)
    if (collected.held >= HELD_MAX) await flush()
  }
  if (format === null) throw new HistoryError(`${path} has no rows`)
  await flush()
  const { skipped, faults } = collected
  if (merged.size === 0) throw new HistoryError([`${path} has no usable bar`, ...faults].join('\n'))
  const series = [...merged.values()].map(({ name, reports }): ImportedSeries => ({
    name,
    ...totalOf(reports),
  }))
  return { format: `${file.kind}, ${format.title}`, series, skipped, faults }
}

const formatOf = (path: string, first: TableRow | undefined): ImportFormat => {
  const format = first === undefined ? null : importFormatOf(first.cells)
  if (format !== null) return format
  throw new HistoryError(`${path} has no columns of bars. Wanted: ${WANTED_IMPORT_COLUMNS}`)
}

interface Market {
  readonly venue: string
  readonly symbol: string
  seconds: number | null
  bars: { readonly number: number; readonly bar: HistoryBar }[]
}

/** Bars by market as they are read, and the rows that could not be used. */
class Collected {
  readonly faults: string[] = []
  skipped = 0
  held = 0
  #rows = 0
  readonly #markets = new Map<string, Market>()
  readonly #path: string
  readonly #options: ImportOptions
  readonly #nowMs: number
  readonly #inName: ReturnType<typeof seriesInFileName>

  constructor(path: string, options: ImportOptions, nowMs: number) {
    this.#path = path
    this.#options = options
    this.#nowMs = nowMs
    this.#inName = seriesInFileName(basename(path))
  }

  add({ number, cells, fault }: TableRow, format: ImportFormat): void {
    this.#rows += 1
    if (fault !== null) {
      this.#skip(number, fault)
      return
    }
    const row = format.read(cells, this.#options)
    if (row.status === 'bad') this.#skip(number, row.reason)
    if (row.status !== 'bars') return
    for (const reason of row.faults) this.#skip(number, reason)
    for (const imported of row.bars) {
      this.#marketOf(imported).bars.push({ number, bar: imported.bar })
      this.held += 1
    }
  }

  /** Returns all bars held. Bars that do not fit into their series are left out. */
  take(): readonly (readonly [SeriesName, readonly HistoryBar[]])[] {
    if (this.skipped > this.#rows * BAD_SHARE_MAX && this.skipped > LISTED_MAX) {
      throw new HistoryError(
        [
          `${this.#path}: ${this.skipped} of ${this.#rows} rows make no sense; are the columns in another order?`,
          ...this.faults,
        ].join('\n'),
      )
    }
    this.held = 0
    return [...this.#markets.values()].flatMap((market) => {
      const { bars } = market
      if (bars.length === 0) return []
      market.seconds ??= this.#secondsOf(bars.map(({ bar }) => bar.openMs))
      const { venue, symbol, seconds } = market
      market.bars = []
      const fitting = bars.filter(({ number, bar }) => this.#fits(number, bar, seconds * 1000))
      return fitting.length === 0
        ? []
        : [[{ venue, symbol, seconds }, fitting.map(({ bar }) => bar)] as const]
    })
  }

  #fits(number: number, { openMs }: HistoryBar, barMs: number): boolean {
    const time = new Date(openMs).toISOString()
    const isOnGrid = openMs % barMs === 0
    if (!isOnGrid) this.#skip(number, `${time} is not on the UTC grid of ${timeframeText(barMs / 1000)}`)
    const isClosed = openMs + barMs <= this.#nowMs
    if (isOnGrid && !isClosed) this.#skip(number, `the bar of ${time} has not closed yet`)
    return isOnGrid && isClosed
  }

  #marketOf({ venue: inRow, symbol: rowSymbol }: ImportedBar): Market {
    // The row's own venue and symbol take precedence. The command line applies to files that do not name them.
    const venue = inRow ?? this.#options.venue
    if (venue === undefined) throw new HistoryError(`${this.#path} names no venue: add --exchange`)
    const symbol = rowSymbol ?? this.#symbolOf(venue)
    const key = `${venue}:${symbol}`
    const known = this.#markets.get(key)
    if (known !== undefined) return known
    const market: Market = { venue, symbol, seconds: null, bars: [] }
    this.#markets.set(key, market)
    return market
  }

  #symbolOf(venue: string): string {
    const text = this.#options.symbol ?? this.#inName?.pair
    if (text === undefined) throw new HistoryError(`${this.#path} names no market: add --symbol`)
    const meant = symbolMeant(text, { venue })
    if (meant.status === 'meant') return meant.symbol
    throw new HistoryError(`${this.#path}: ${meant.reason}`)
  }

  /** Bar length that the times show. A file with a single time needs `--timeframe`. */
  #secondsOf(times: readonly number[]): number {
    const named = this.#options.seconds ?? timeframeSeconds(this.#inName?.timeframe ?? '')
    const found = commonDistance(times)
    if (found === null && named === null) {
      throw new HistoryError(`${this.#path} does not show how long its bars are: add --timeframe`)
    }
    if (found !== null && named !== null && found !== named) {
      const [is, said] = [timeframeText(found), timeframeText(named)]
      throw new HistoryError(`${this.#path} has bars of ${is}, not of ${said}`)
    }
    const seconds = found ?? named ?? 0
    if (isTimeframe(seconds)) return seconds
    throw new HistoryError(`${this.#path} has bars of ${seconds} seconds: they must have ${TIMEFRAME_RULE}`)
  }

  #skip(number: number, reason: string): void {
    this.skipped += 1
    if (this.faults.length < LISTED_MAX) this.faults.push(`line ${number}: ${reason}`)
  }
}

/** The most frequent distance of neighbours in seconds, and the shortest of equally frequent ones. Null without one. */
const commonDistance = (times: readonly number[]): number | null => {
  const sorted = [...new Set(times)].sort((one, other) => one - other)
  const counts = new Map<number, number>()
  sorted.slice(1).forEach((ms, index) => {
    const distance = ms - (sorted[index] ?? 0)
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  })
  const [first] = [...counts].sort(([oneMs, one], [otherMs, other]) => other - one || oneMs - otherMs)
  return first === undefined ? null : first[0] / 1000
}
