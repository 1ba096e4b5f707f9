import {
  createHistoryCheck,
  FINDING_KINDS,
  type HistoryFindings,
} from '../../../core/market/history/check.ts'
import { selectSeries, type SeriesSelector } from '../../../core/market/history/select.ts'
import {
  seriesText,
  timeframeText,
  type HistoryBar,
  type SeriesName,
} from '../../../core/market/history/series.ts'
import { shiftBetween } from '../../../core/market/history/shift.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { DAY_MS, timestampAt } from '../../../core/shared/time.ts'
import type { BarStore, StoredSeries } from '../../../ports/bar-history.ts'
import { collected, parseFrom, parseSeries, parseTo } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { defineDownload, defineImport } from '../data-filling.ts'
import { EXIT_FAILED, EXIT_OK, Failure } from '../failure.ts'
import { EXPORT_FORMATS, exportItems, type Exportable, type ExportOptions } from '../exporting.ts'
import { fields, good, left, paragraphs, right, shrinking, table, warning, type Row } from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Recorded bars for backtests, as Parquet files in data/bars/<venue>/<symbol>/<timeframe>/<month>.parquet. ' +
        'DuckDB, pandas and Polars read them as they are. A series is named venue:symbol:timeframe, such as ' +
        'binance:BTC:1h; bars of a length that is not stored are made of shorter ones.',
    )
    .examples(
      'svc data download --exchange binance --symbol BTC --from 2024-01-01',
      'svc data list',
      'svc backtest --data binance:BTC:1m',
    )
  defineDownload(command.command('download'))
  defineImport(command.command('import'))
  command
    .command('list')
    .summary('the series that are stored')
    .description('Shows the series that are stored, with their time and size.')
    .examples('svc data list', 'svc data list --json')
    .runs(async (invocation) => listAnswer(await storedSeries(invocation)))
  command
    .command('check')
    .summary('find gaps, duplicates, outliers and wrong time zones')
    .description(
      'Looks for gaps, bars twice or out of order, values that cannot be true, outliers (moves beyond forty times the ' +
        'median and 5 %), times in the future, and signs of a wrong time zone: days that begin at another midnight, ' +
        'hours that are missing at changes to summer time, prices that agree with another series of the coin only when ' +
        'they are moved by hours. Exit code 1 if anything but gaps and outliers is found.',
    )
    .argument('[series...]', 'only these (default: all)', collected(parseSeries))
    .examples('svc data check', 'svc data check binance:BTC:1m --json')
    .runs(check)
  command
    .command('export')
    .summary('write a series to a file or a pipe')
    .description(
      'Writes a series as a table with ts, venue, symbol, open, high, low, close, volume. Times are opens of bars, UTC. ' +
        'CSV and JSON lines can be read again by "svc data import" and "svc backtest --file".',
    )
    .argument('<series>', 'such as binance:BTC:1h', parseSeries)
    .choice('--format <format>', 'default: as the file is named, else csv', EXPORT_FORMATS)
    .option('--from <date>', 'only bars that open at or after this date or time', parseFrom)
    .option('--to <date>', 'only bars that open at or before this date or time', parseTo)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--force', 'replace the file if it exists')
    .examples(
      'svc data export binance:BTC:1h --output btc.csv',
      'svc data export binance:BTC:1d --output btc.parquet',
    )
    .runs(exportSeries)
}

const storedSeries = async ({ history }: Invocation): Promise<readonly StoredSeries[]> =>
  (await history()).store.list()

const listAnswer = (series: readonly StoredSeries[]): Answer => ({
  document: {
    series: series.map((one) => ({
      series: seriesText(one),
      venue: one.venue,
      symbol: one.symbol,
      timeframe: timeframeText(one.seconds),
      from: timestampAt(one.firstOpenMs),
      to: timestampAt(one.lastOpenMs + one.seconds * 1000),
      bars: one.bars,
      bytes: one.bytes,
      files: one.files,
    })),
  },
  text: table(
    series,
    [
      shrinking('Series', seriesText),
      left('From', ({ firstOpenMs }) => minuteOf(firstOpenMs)),
      left('To', ({ lastOpenMs, seconds }) => minuteOf(lastOpenMs + seconds * 1000)),
      right('Bars', ({ bars }) => String(bars)),
      right('Complete', (one) => `${((one.bars / expectedBars(one)) * 100).toFixed(2)} %`),
      right('MB', ({ bytes }) => (bytes / 1e6).toFixed(2)),
    ],
    'no bars are stored: see "svc data download --help" and "svc data import --help"',
  ),
})

const expectedBars = ({ firstOpenMs, lastOpenMs, seconds }: StoredSeries): number =>
  (lastOpenMs - firstOpenMs) / (seconds * 1000) + 1

const minuteOf = (ms: number): string => timestampAt(ms).slice(0, 16)

/** The stored series that is meant. */
const selected = async (
  store: BarStore,
  selector: SeriesSelector,
): Promise<{ readonly source: SeriesName; readonly seconds: number }> => {
  const found = selectSeries(await store.list(), selector)
  if (found.status === 'found') return found
  throw new Failure('data.not_found', found.reason, { advice: 'See "svc data list".' })
}

interface CheckedSeries {
  readonly name: SeriesName
  readonly found: HistoryFindings
}

const check = async (invocation: Invocation, selectors: readonly SeriesSelector[] = []): Promise<Answer> => {
  const { store } = await invocation.history()
  const stored = await store.list()
  const names: SeriesName[] =
    selectors.length === 0
      ? [...stored]
      : await Promise.all(selectors.map(async (selector) => (await selected(store, selector)).source))
  const nowMs = invocation.clock.now()
  const progress = invocation.progress('checking')
  const checked: CheckedSeries[] = []
  for (const [index, name] of names.entries()) {
    const looking = createHistoryCheck(name.seconds, nowMs)
    for await (const bars of store.read(name)) looking.add(bars)
    const found = looking.result()
    checked.push({ name, found: withShift(found, await shiftOf(store, name, stored)) })
    progress.update(index + 1, names.length)
  }
  progress.end()
  const isBad = checked.some(({ found: { counts } }) => BAD_KINDS.some((kind) => counts[kind] > 0))
  return {
    document: { series: checked.map(({ name, found }) => ({ series: seriesText(name), ...found })) },
    text: checkText(checked),
    exitCode: isBad ? EXIT_FAILED : EXIT_OK,
  }
}

/** Exchanges have outages, and markets jump: that alone is no error. */
const BAD_KINDS = FINDING_KINDS.filter((kind) => kind !== 'gap' && kind !== 'outlier')

interface ShiftFinding {
  readonly at: string
  readonly detail: string
}

/** Compares with another series of the coin, over the last weeks that both have. */
const shiftOf = async (
  store: BarStore,
  name: SeriesName,
  stored: readonly StoredSeries[],
): Promise<ShiftFinding | null> => {
  const own = stored.find((one) => seriesText(one) === seriesText(name))
  if (own === undefined || name.seconds > HOUR_SECONDS) return null
  const isOther = (one: StoredSeries): boolean =>
    seriesText(one) !== seriesText(name) &&
    one.seconds <= HOUR_SECONDS &&
    canonicalSymbol(one.symbol) === canonicalSymbol(name.symbol)
  for (const other of stored.filter(isOther)) {
    const toMs = Math.min(own.lastOpenMs, other.lastOpenMs)
    const range = { fromMs: toMs - COMPARED_MS, toMs }
    const shift = shiftBetween(await barsOf(store, name, range), await barsOf(store, other, range))
    if (shift === null) continue
    const hours = `${shift.hours > 0 ? '+' : ''}${shift.hours}`
    const detail = `agrees with ${seriesText(other)} only when moved by ${hours} hours: one of the two is not UTC`
    return { at: timestampAt(Math.max(0, range.fromMs)), detail }
  }
  return null
}

const HOUR_SECONDS = 3600
const COMPARED_MS = 28 * DAY_MS

const barsOf = async (
  store: BarStore,
  name: SeriesName,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly HistoryBar[]> => {
  const months: (readonly HistoryBar[])[] = []
  for await (const month of store.read(name, range)) months.push(month)
  return months.flat()
}

const withShift = (found: HistoryFindings, shift: ShiftFinding | null): HistoryFindings =>
  shift === null
    ? found
    : {
        ...found,
        counts: { ...found.counts, time_zone: found.counts.time_zone + 1 },
        findings: [...found.findings, { kind: 'time_zone', ...shift }],
      }

const checkText = (checked: readonly CheckedSeries[]): Text =>
  checked.length === 0
    ? () => 'no bars are stored\n'
    : paragraphs(
        ...checked.map(({ name, found }) => {
          const kinds = FINDING_KINDS.filter((kind) => found.counts[kind] > 0)
          return fields([
            ['Series', seriesText(name)],
            ['Bars', `${found.bars}${found.missing === 0 ? '' : `, ${found.missing} missing`}`],
            ['Result', kinds.length === 0 ? good('nothing found') : null],
            ...kinds.map((kind) => [wordOf(kind), warning(String(found.counts[kind]))] as const),
            ...found.findings
              .slice(0, SHOWN_MAX)
              .map(({ kind, at, detail }): Row => [
                at.slice(0, 16),
                `${wordOf(kind).toLowerCase()}: ${detail}`,
              ]),
            ['', found.findings.length > SHOWN_MAX ? 'more with --json' : null],
          ])
        }),
      )

const SHOWN_MAX = 12

const wordOf = (kind: string): string =>
  `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).replaceAll('_', ' ')}`

type ExportedBar = HistoryBar & { readonly name: SeriesName }

const exportSeries = async (
  invocation: Invocation,
  selector: SeriesSelector,
  options: ExportOptions,
): Promise<void> => {
  const { store } = await invocation.history()
  const { source, seconds } = await selected(store, selector)
  const range = {
    ...(options.from === undefined ? {} : { fromMs: Date.parse(options.from) }),
    ...(options.to === undefined ? {} : { toMs: Date.parse(options.to) + 1 }),
  }
  const name = { ...source, seconds }
  const bars: Exportable<ExportedBar> = {
    ...EXPORTED_BARS,
    async *pages() {
      const months =
        seconds === source.seconds ? store.read(source, range) : store.readResampled(source, seconds, range)
      for await (const month of months) yield month.map((bar) => ({ ...bar, name }))
    },
  }
  const format =
    options.format ?? (options.output === undefined && !invocation.print.json ? 'csv' : undefined)
  await exportItems(invocation, bars, { ...options, ...(format === undefined ? {} : { format }) })
}

/** In the order of the columns. */
const recordOf = ({ name: { venue, symbol }, openMs, open, high, low, close, volume }: ExportedBar) => ({
  ts: timestampAt(openMs),
  venue,
  symbol,
  open,
  high,
  low,
  close,
  volume,
})

const EXPORTED_BARS: Omit<Exportable<ExportedBar>, 'pages'> = {
  plural: 'bars',
  timestampOf: ({ openMs }) => timestampAt(openMs),
  jsonOf: (bar) => JSON.stringify(recordOf(bar)),
  columns: [
    { name: 'ts', type: 'time' },
    { name: 'venue', type: 'text' },
    { name: 'symbol', type: 'text' },
    ...(['open', 'high', 'low', 'close', 'volume'] as const).map(
      (name) => ({ name, type: 'number' }) as const,
    ),
  ],
  cellsOf: (bar) => Object.values(recordOf(bar)),
}
