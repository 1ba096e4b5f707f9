import { resolve } from 'node:path'
import { Option } from 'commander'
import type { BacktestReport } from '../../../backtest/report.ts'
import { STRATEGY_NAMES, type StrategyName } from '../../../backtest/strategies.ts'
import type { SeriesSelector } from '../../../core/market/history/select.ts'
import type { ParameterValues } from '../../../core/strategies/strategy.ts'
import { collectParameters, parseFrom, parser, parseSeries, parseTo } from '../arguments.ts'
import { examples, type Answer, type DefineCommand, type Invocation } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { fields, percent, profit, quiet, usd, warning, type Row } from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Runs the same decisions, producers and limits on recorded bars with paper money; nothing is written. A decision ' +
        'at the close of a bar is filled at the open of the next, with slippage, fees and funding. The first 200 analysis ' +
        'bars only warm up the indicators.',
    )
    .addOption(
      new Option(
        '--strategy <name>',
        `what decides: ${STRATEGY_NAMES.join(', ')}, or one of "svc strategies"`,
      ).default('brain'),
    )
    .addOption(
      new Option(
        '--set <key=value>',
        'a parameter of the strategy, such as fast=5; may be repeated',
      ).argParser(collectParameters),
    )
    .option('--symbol <symbol>', 'only this symbol (default: the whole universe)', parseSymbol)
    .option('--from <date>', 'start trading then', parseFrom)
    .option('--to <date>', 'stop trading then; a day is included', parseTo)
    .option('--seed <number>', 'seed of the simulated market and of the p-value', parseSeed)
    .option('--file <bars>', 'bars as CSV or JSON lines (default: market.file, else simulated)')
    .addOption(
      new Option('--data <series>', 'recorded bars of "svc data", such as binance:BTC:1m; may be repeated')
        .argParser(collectSeries)
        .conflicts(['file', 'symbol']),
    )
    .addOption(
      new Option('--recorded', 'the bars and signals in the log of this home').conflicts(['file', 'data']),
    )
    .option('--reset-daily', 'lower the kill switch at every midnight UTC, as an operator might')
    .addHelpText(
      'after',
      examples(
        'svc backtest',
        'svc backtest --strategy momentum --symbol BTC --seed 7 --reset-daily',
        'svc backtest --strategy ma_crossover --set fast=5 --set slow=20',
        'SVC_BRAIN__MIN_DOMAINS=2 svc backtest --recorded',
        'svc backtest --data binance:BTC:5m --strategy momentum --from 2024-02-10',
        'svc backtest --file bars.csv --from 2024-02-10 --to 2024-02-20 --json',
      ),
    )
    .action(run(runBacktest))
}

interface BacktestOptions {
  readonly strategy: StrategyName
  readonly set?: ParameterValues
  readonly symbol?: string
  readonly from?: string
  readonly to?: string
  readonly seed?: number
  readonly file?: string
  readonly data?: readonly SeriesSelector[]
  readonly recorded?: true
  readonly resetDaily?: true
}

const runBacktest = async (invocation: Invocation, options: BacktestOptions): Promise<Answer> => {
  const {
    strategy,
    set: parameters = {},
    symbol,
    from,
    to,
    seed,
    file,
    data = [],
    recorded = false,
    resetDaily = false,
  } = options
  const fromMs = from === undefined ? null : Date.parse(from)
  // A day ends with its last millisecond; its last bar closes with the next one.
  const toMs = to === undefined ? null : Math.ceil(Date.parse(to) / 1000) * 1000
  if (fromMs !== null && toMs !== null && fromMs >= toMs) throw new UsageError('--from comes after --to')
  const skipped: string[] = []
  const progress = invocation.progress('running')
  const report = await invocation
    .backtest({
      strategy,
      parameters,
      symbol,
      fromMs,
      toMs,
      seed,
      file: file === undefined ? file : resolve(file),
      data,
      isFromLog: recorded,
      resetsDaily: resetDaily,
      onError: (message) => skipped.push(message),
      onProgress: progress.update,
    })
    .finally(progress.end)
  if (report.bars === 0) throw nothingTraded(skipped)
  return { document: { ...report, left_out: skipped }, text: reportText(report, skipped) }
}

const nothingTraded = (skipped: readonly string[]): Failure =>
  new Failure('backtest.no_bars', ['no bars to trade on', ...skipped].join('; '), {
    advice: 'The first 200 analysis bars (ta.bar_seconds each) are not traded: give it more.',
  })

const reportText = (report: BacktestReport, skipped: readonly string[]): Text => {
  const stillOpen = report.open_positions === 0 ? '' : `, ${report.open_positions} still open`
  const totalReturn = percent(report.total_return)
  return fields([
    ['Strategy', report.strategy],
    ['Market', marketText(report)],
    ['Traded', `${report.from?.slice(0, 16)} to ${report.to?.slice(0, 16)} UTC`],
    ['Bars', `${report.bars} of ${report.bar_seconds} seconds`],
    ['Trades', `${report.trades}${stillOpen}`],
    ['Equity', `${usd(report.start_equity_usd)} to ${usd(report.end_equity_usd)}`],
    ['By day', sparkline([report.start_equity_usd, ...report.equity_usd_by_day], SPARKLINE_WIDTH)],
    ['Return', report.total_return < 0 ? warning(totalReturn) : totalReturn],
    ['Drawdown', `${percent(report.max_drawdown)} at most`],
    ['Sharpe', report.sharpe.toFixed(2)],
    ['Chance', `${percent(report.p_value)} that days without direction would do as well`],
    ['Hit rate', report.hit_rate === null ? quiet('no closed trade') : percent(report.hit_rate)],
    ['Turnover', `${report.turnover.toFixed(2)} times the equity`],
    ['Fees', usd(report.fees_usd)],
    ['Funding', profit(-report.funding_usd)],
    ...notesOf(report),
    ...skipped.map((message): Row => ['Skipped', warning(message)]),
  ])
}

const marketText = ({ market, seed, symbols }: BacktestReport): string => {
  const sources = {
    simulated: `simulated with seed ${seed}`,
    file: 'from a file',
    data: 'recorded bars',
    log: 'from the log',
  }
  return `${symbols.join(', ')}, ${sources[market]}`
}

/** What the figures alone would hide. */
const notesOf = (report: BacktestReport): readonly Row[] => {
  const {
    kill_switch: { stops, first_stop_at: at, first_stop_reason: reason },
    held_back: heldBack,
  } = report
  const notes: Row[] = []
  if (stops > 0) {
    const times = stops === 1 ? 'once' : `${stops} times`
    const advice = report.resets_daily ? '' : '; --reset-daily lowers it every midnight'
    notes.push([
      'Kill switch',
      warning(`stopped entries ${times}, first ${at?.slice(0, 16)}: ${reason}${advice}`),
    ])
  }
  const [why] = Object.entries(heldBack)
  if (report.trades + report.open_positions === 0 && why !== undefined) {
    notes.push(['Held back', warning(`${why[1]} times by ${why[0]}${ADVICE[why[0]] ?? ''}`)])
  }
  if (report.days < DAYS_MIN) {
    notes.push(['Note', warning(`${report.days} days are too few for Sharpe and chance to be meaningful`)])
  }
  return notes
}

const DAYS_MIN = 30
const SPARKLINE_WIDTH = 60

const ADVICE: Readonly<Record<string, string>> = {
  coverage: '; prices alone are one domain: try SVC_BRAIN__MIN_DOMAINS=1',
}

const collectSeries = (text: string, before: readonly SeriesSelector[] = []): readonly SeriesSelector[] => [
  ...before,
  parseSeries(text),
]

const parseSymbol = parser(
  (text) => (/^[\w/:.-]{1,32}$/.test(text) ? text : null),
  'It must be a symbol such as BTC.',
)

const parseSeed = parser((text) => {
  const seed = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(seed) ? seed : null
}, 'It must be a whole number, 0 or larger.')

/** Values in one line of text: eight heights, from the lowest to the highest of them. */
export const sparkline = (values: readonly number[], widthMax: number): string => {
  const shown = thinned(values, widthMax)
  const lowest = Math.min(...shown)
  const span = Math.max(...shown) - lowest
  return shown
    .map((value) => HEIGHTS[span === 0 ? 0 : Math.round(((value - lowest) / span) * (HEIGHTS.length - 1))])
    .join('')
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** The last value of each part, so that the line ends with the last value. */
const thinned = (values: readonly number[], countMax: number): readonly number[] => {
  if (values.length <= countMax) return values
  return Array.from(
    { length: countMax },
    (_, part) => values[Math.ceil(((part + 1) * values.length) / countMax) - 1] ?? Number.NaN,
  )
}
