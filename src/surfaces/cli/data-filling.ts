import { basename } from 'node:path'
import type { BarConflict } from '../../core/market/history/merge.ts'
import {
  seriesSymbols,
  seriesText,
  TIMEFRAME_RULE,
  timeframeSeconds,
  venueName,
} from '../../core/market/history/series.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { ImportReport } from '../../ports/bar-history.ts'
import { parseFrom, parser, parseTo } from './arguments.ts'
import type { Answer, Invocation, SvcCommand } from './command.ts'
import { EXIT_FAILED, EXIT_OK, UsageError } from './failure.ts'
import { fields, paragraphs, plainNumber, warning, type Row } from './table.ts'
import { details } from './view-text.ts'

/** `svc data download` and `svc data import`: how bars come into the store. */

const parseVenue = parser(venueName, 'It must be the name of an exchange, such as binance.')
const parseSymbol = parser(
  (text) => (seriesSymbols(text, null).length === 0 ? null : text.trim()),
  'It must be a coin or a market, such as BTC or BTC/USDT.',
)
const parseTimeframe = parser(timeframeSeconds, `It must be ${TIMEFRAME_RULE}.`)

export const defineDownload = (command: SvcCommand): void => {
  command
    .summary('fetch bars from an exchange')
    .description(
      'Fetches the bars of a time that are not stored yet, through the ccxt library, within the rate limit of the ' +
        'exchange. Only closed bars are stored. After an interruption the same command goes on where it was. No key is ' +
        'needed.',
    )
    .requiredOption('--exchange <name>', 'as ccxt names it: binance, kraken, bybit …', parseVenue)
    .requiredOption(
      '--symbol <symbol>',
      'a coin (BTC: its spot market) or a market (BTC/USDT:USDT)',
      parseSymbol,
    )
    .requiredOption('--from <date>', 'the first bar', parseFrom)
    .option('--timeframe <length>', 'of a bar: 1m, 5m, 1h, 1d … (default: 1m)', parseTimeframe)
    .option('--to <date>', 'the last bar; a day is included (default: now)', parseTo)
    .option('--url <address>', 'send requests to this address instead, such as a proxy')
    .examples(
      'svc data download --exchange binance --symbol BTC --from 2024-01-01',
      'svc data download --exchange okx --symbol BTC/USDT:USDT --from 2024-01-01',
    )
    .runs(download)
}

interface DownloadOptions {
  readonly exchange: string
  readonly symbol: string
  readonly from: string
  readonly to?: string
  readonly timeframe?: number
  readonly url?: string
}

const MINUTE_SECONDS = 60

const download = async (invocation: Invocation, options: DownloadOptions): Promise<Answer> => {
  const { clock } = invocation
  const { exchange, symbol, url, timeframe: seconds = MINUTE_SECONDS } = options
  const [fromMs, toMs] = [
    Date.parse(options.from),
    options.to === undefined ? clock.now() : Math.min(clock.now(), Date.parse(options.to) + 1),
  ]
  if (fromMs >= toMs) throw new UsageError('--from must come before --to and before now')
  const progress = invocation.progress(`${exchange} ${symbol}`)
  const beganMs = clock.now()
  const { download: fetchBars } = await invocation.history()
  const report = await fetchBars({
    exchange,
    symbol,
    seconds,
    fromMs,
    toMs,
    url,
    onProgress: ({ doneMs, totalMs, bars }) =>
      progress.update(doneMs, totalMs, paceText(bars, doneMs / totalMs, clock.now() - beganMs)),
  }).finally(progress.end)
  const { name, market, requests, added, present, missing, conflicts } = report
  const document = {
    series: seriesText(name),
    market,
    from: timestampAt(fromMs),
    to: timestampAt(toMs),
    added,
    present,
    missing,
    requests,
    conflicts: conflicts.map(conflictDocument),
  }
  const text = details(document, [
    'series',
    ['Market', `${market} of ${exchange}`],
    ['New bars', added],
    ['Stored before', present],
    ['Missing', missing === 0 ? null : warning(`${missing} bars that the exchange does not have`)],
    ...conflictRows(conflicts),
    'requests',
  ])
  return { document, text }
}

/** Bars in a second, and the time that is left at this pace. */
const paceText = (bars: number, share: number, elapsedMs: number): string => {
  if (elapsedMs < 1000 || share <= 0) return ''
  const leftSeconds = Math.round((elapsedMs * (1 - share)) / share / 1000)
  const [minutes, seconds] = [Math.floor(leftSeconds / 60), String(leftSeconds % 60).padStart(2, '0')]
  return `${Math.round(bars / (elapsedMs / 1000))} bars/s, ${minutes}:${seconds} left`
}

export const defineImport = (command: SvcCommand): void => {
  command
    .summary('read bars from files')
    .description(
      'Reads CSV, CSV.gz, JSON lines and Parquet: files of this program, and dumps of exchanges with or without a ' +
        'header. Times are opens of bars, in UTC: ISO 8601, or seconds, milliseconds or microseconds since 1970. ' +
        'Importing a file twice is the same as once. Where a bar differs from the stored one, the stored one is kept ' +
        'and the difference reported. Rows that make no sense are skipped and reported.',
    )
    .argument('<file...>', 'what to read')
    .option('--exchange <name>', 'where the bars are from, if the file does not say it', parseVenue)
    .option('--symbol <symbol>', 'their market, if neither the file nor its name says it', parseSymbol)
    .option('--timeframe <length>', 'of a bar, if the file has a single one; else a check', parseTimeframe)
    .option('--replace', 'where bars differ, replace the stored ones')
    .examples(
      'svc data import bars.csv --exchange binance',
      'svc data import BTCUSDT-1m-2024-*.csv --exchange binance',
      'svc data import XBTUSD_60.csv.gz --exchange kraken --symbol BTC',
    )
    .runs(importFiles)
}

interface ImportCommandOptions {
  readonly exchange?: string
  readonly symbol?: string
  readonly timeframe?: number
  readonly replace?: true
}

type ImportedFile =
  | ({ readonly status: 'imported'; readonly file: string } & ImportReport)
  | { readonly status: 'failed'; readonly file: string; readonly error: string }

const importFiles = async (
  invocation: Invocation,
  files: readonly string[],
  options: ImportCommandOptions,
): Promise<Answer> => {
  const { importFile } = await invocation.history()
  const imported: ImportedFile[] = []
  for (const file of files) {
    const progress = invocation.progress(basename(file))
    try {
      const report = await importFile(file, {
        venue: options.exchange,
        symbol: options.symbol,
        seconds: options.timeframe,
        replaces: options.replace === true,
        onProgress: progress.update,
      })
      imported.push({ status: 'imported', file, ...report })
    } catch (error) {
      // The other files are read all the same.
      if (!(error instanceof Error && error.name === 'HistoryError')) throw error
      imported.push({ status: 'failed', file, error: error.message })
    } finally {
      progress.end()
    }
  }
  return {
    document: { files: imported.map(fileDocument) },
    text: paragraphs(...imported.map((file) => fields(fileRows(file)))),
    exitCode: imported.every(({ status }) => status === 'imported') ? EXIT_OK : EXIT_FAILED,
  }
}

const fileDocument = (file: ImportedFile) =>
  file.status === 'failed'
    ? file
    : {
        ...file,
        series: file.series.map(({ name, conflicts, ...counts }) => ({
          series: seriesText(name),
          ...counts,
          conflicts: conflicts.map(conflictDocument),
        })),
      }

const fileRows = (file: ImportedFile): readonly Row[] => {
  if (file.status === 'failed') {
    const [reason = '', ...faults] = file.error.split('\n')
    return [['File', file.file], ['Failed', warning(reason)], ...faults.map((fault) => ['', fault] as const)]
  }
  return [
    ['File', file.file],
    ['Read as', file.format],
    ...file.series.flatMap(({ name, added, replaced, repeated, conflicts }): readonly Row[] => [
      [
        seriesText(name),
        `${added} new${replaced === 0 ? '' : `, ${replaced} replaced`}, ${repeated} stored already`,
      ],
      ...conflictRows(conflicts),
    ]),
    ['Skipped', file.skipped === 0 ? null : warning(`${file.skipped} rows`)],
    ...file.faults.map((fault) => ['', fault] as const),
  ]
}

const CONFLICTS_SHOWN_MAX = 3

const valuesText = ({ open, high, low, close, volume }: BarConflict['kept']): string =>
  [open, high, low, close, volume].map(plainNumber).join(' ')

const conflictRows = (conflicts: readonly BarConflict[]): readonly Row[] =>
  conflicts.length === 0
    ? []
    : [
        ['Conflicts', warning(`${conflicts.length} bars differ`)],
        ...conflicts.slice(0, CONFLICTS_SHOWN_MAX).map(({ kept, dropped }): Row => {
          return [
            timestampAt(kept.openMs).slice(0, 16),
            `kept ${valuesText(kept)}, not ${valuesText(dropped)}`,
          ]
        }),
      ]

const conflictDocument = ({ kept, dropped }: BarConflict) => {
  const { openMs, ...keptValues } = kept
  const { openMs: _openMs, ...droppedValues } = dropped
  return { ts: timestampAt(openMs), kept: keptValues, dropped: droppedValues }
}
