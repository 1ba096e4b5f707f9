import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import type { BacktestReport } from '../../../backtest/report.ts'
import { STRATEGY_NAMES, type StrategyName } from '../../../backtest/strategies.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { courseLine } from '../course-line.ts'
import { EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { parseFrom, parseTo } from '../moments.ts'
import type { Paint } from '../style.ts'
import { fields, quiet, warning, type Cell } from '../table.ts'
import { percent, profit, usd } from '../amounts.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Runs the same deciders, producers and limits through recorded bars, on paper money; nothing is ' +
        'written. What is decided at the close of a bar is traded at the open of the next one, with slippage, fees and ' +
        'funding. The first 200 analysis bars are looked at and never traded.',
    )
    .addOption(new Option('--strategy <name>', 'who decides').choices(STRATEGY_NAMES).default('brain'))
    .option('--symbol <symbol>', 'this one alone (default: all of the universe)', parseSymbol)
    .option('--from <date>', 'trade from then on', parseFrom)
    .option('--to <date>', 'up to then, the named day included', parseTo)
    .option('--seed <number>', 'of the simulated market, and of the p-value', parseSeed)
    .option('--file <bars>', 'CSV or JSON lines of bars (default: market.file, else a simulated market)')
    .addOption(
      new Option('--recorded', 'the bars and signals of this home, as its log has them').conflicts('file'),
    )
    .option('--reset-daily', 'lower the kill switch at every midnight UTC, as an operator might')
    .addHelpText(
      'after',
      examples(
        'svc backtest',
        'svc backtest --strategy momentum --symbol BTC --seed 7 --reset-daily',
        'SVC_BRAIN__MIN_DOMAINS=2 svc backtest --recorded',
        'svc backtest --file bars.csv --from 2024-02-10 --to 2024-02-20 --json',
      ),
    )
    .action(run(runBacktest))
}

interface BacktestOptions {
  readonly strategy: StrategyName
  readonly symbol?: string
  readonly from?: string
  readonly to?: string
  readonly seed?: number
  readonly file?: string
  readonly recorded?: true
  readonly resetDaily?: true
}

const runBacktest = async (invocation: Invocation, options: BacktestOptions): Promise<ExitCode> => {
  const { strategy, symbol, from, to, seed, file, recorded, resetDaily } = options
  const fromMs = from === undefined ? undefined : Date.parse(from)
  // A day ends with its last millisecond; its last bar closes with the next one.
  const toMs = to === undefined ? undefined : Math.ceil(Date.parse(to) / 1000) * 1000
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    throw new UsageError('--from comes after --to')
  const troubles: string[] = []
  const progress = invocation.progress('running')
  const report = await invocation.dependencies
    .backtest({
      strategy,
      ...(symbol === undefined ? {} : { symbol }),
      ...(fromMs === undefined ? {} : { fromMs }),
      ...(toMs === undefined ? {} : { toMs }),
      ...(seed === undefined ? {} : { seed }),
      ...(file === undefined ? {} : { file: resolve(file) }),
      isFromLog: recorded === true,
      resetsDaily: resetDaily === true,
      onError: (message) => troubles.push(message),
      onProgress: progress.update,
    })
    .finally(progress.end)
  if (report.bars === 0) throw nothingTraded(troubles)
  await invocation.print.result({ ...report, left_out: troubles }, (paint) =>
    reportText(report, troubles, paint),
  )
  return EXIT_OK
}

const nothingTraded = (troubles: readonly string[]): Failure =>
  new Failure('backtest.no_bars', ['no bar is left to trade on', ...troubles].join('; '), {
    advice: 'The first 200 analysis bars (ta.bar_seconds each) are only looked at: ask for more.',
  })

const reportText = (report: BacktestReport, troubles: readonly string[], paint: Paint): string =>
  fields(
    [
      ['Strategy', report.strategy],
      ['Market', marketText(report)],
      ['Traded', `${report.from?.slice(0, 16)} to ${report.to?.slice(0, 16)} UTC`],
      ['Bars', `${report.bars} of ${report.bar_seconds} seconds`],
      [
        'Trades',
        `${report.trades}${report.open_positions === 0 ? '' : `, ${report.open_positions} still open`}`,
      ],
      ['Equity', `${usd(report.start_equity_usd)} to ${usd(report.end_equity_usd)}`],
      ['Course', courseLine([report.start_equity_usd, ...report.equity_usd_by_day], COURSE_WIDTH)],
      [
        'Return',
        report.total_return < 0 ? warning(percent(report.total_return)) : percent(report.total_return),
      ],
      ['Drawdown', `${percent(report.max_drawdown)} at most`],
      ['Sharpe', report.sharpe.toFixed(2)],
      ['Chance', `${percent(report.p_value)} that days without direction do as well`],
      ['Hit rate', report.hit_rate === null ? quiet('nothing was closed') : percent(report.hit_rate)],
      ['Turnover', `${report.turnover.toFixed(2)} times the equity`],
      ['Fees', usd(report.fees_usd)],
      ['Funding', profit(-report.funding_usd)],
      ...notesOf(report),
      ...troubles.map((trouble): readonly [string, Cell] => ['Left out', warning(trouble)]),
    ],
    paint,
  )

const marketText = ({ market, seed, symbols }: BacktestReport): string => {
  const sources = { simulated: `simulated with seed ${seed}`, file: 'from a file', log: 'from the log' }
  return `${symbols.join(', ')}, ${sources[market]}`
}

/** What a number alone would hide. */
const notesOf = (report: BacktestReport): readonly (readonly [string, Cell])[] => {
  const {
    kill_switch: { stops, first_stop_at: at, first_stop_reason: reason },
    held_back: heldBack,
  } = report
  const notes: (readonly [string, Cell])[] = []
  if (stops > 0) {
    const times = stops === 1 ? 'once' : `${stops} times`
    const advice = report.resets_daily ? '' : '; --reset-daily lowers it every midnight'
    notes.push([
      'Kill switch',
      warning(`ended entries ${times}, first ${at?.slice(0, 16)}: ${reason}${advice}`),
    ])
  }
  const [why] = Object.entries(heldBack)
  if (report.trades + report.open_positions === 0 && why !== undefined) {
    notes.push(['Held back', warning(`${why[1]} times by ${why[0]}${ADVICE[why[0]] ?? ''}`)])
  }
  if (report.days < DAYS_MIN) {
    notes.push(['Note', warning(`${report.days} days are too few for Sharpe and chance to mean much`)])
  }
  return notes
}

const DAYS_MIN = 30
const COURSE_WIDTH = 60

const ADVICE: Readonly<Record<string, string>> = {
  coverage: '; prices alone are one domain: try SVC_BRAIN__MIN_DOMAINS=1',
}

const parseSymbol = (text: string): string => {
  if (/^[\w/:.-]{1,32}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a symbol such as BTC.')
}

const parseSeed = (text: string): number => {
  const seed = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(seed)) return seed
  throw new InvalidArgumentError('It must be a whole number from 0 on.')
}
