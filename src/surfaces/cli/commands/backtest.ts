import { resolve } from 'node:path'
import { comparisonOf } from '../../../backtest/comparison.ts'
import type { BacktestReport } from '../../../backtest/report.ts'
import { STRATEGY_NAMES, type StrategyName } from '../../../backtest/strategies.ts'
import type { ParameterValues } from '../../../core/strategies/strategy.ts'
import { collected, numberFrom, parser } from '../arguments.ts'
import { refuseUnwritable, writePage, writingEvents, type OutputFile } from '../backtest-files.ts'
import { comparisonText, reportText, type RunNotes } from '../backtest-text.ts'
import { runRequest, withRunOptions, type RunOptions } from '../run-options.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import type { BacktestRequest } from '../dependencies.ts'
import { Failure, UsageError } from '../failure.ts'

export const define: DefineCommand = (command) => {
  withRunOptions(command)
    .description(
      'Runs the same decisions, producers and limits on recorded bars with paper money; nothing is written but the files ' +
        'that are named. A decision at the close of a bar is filled at the open of the next, with slippage, fees and ' +
        'funding. The first 200 analysis bars only warm up the indicators. Several strategies are compared side by side.',
    )
    .argument(
      '[strategies...]',
      `what decides: ${STRATEGY_NAMES.join(', ')}, or those of "svc strategies" (default: brain)`,
      collected((name) => name),
    )
    .option('--strategy <name>', 'one strategy, instead of naming it as a word')
    .option('--set <key=value>', 'a parameter of the strategy; may be repeated', collected(parseSetting))
    .option(
      '--trials <count>',
      'variants tried so far, which deflate the Sharpe ratio',
      numberFrom(1, 1_000_000),
    )
    .option('--html <file>', 'write the report as a page that needs no network')
    .option('--events <file>', 'write all events of the run, as JSON lines or .parquet')
    .option('--force', 'replace files that exist')
    .examples(
      'svc backtest',
      'svc backtest ma_crossover --set fast=5 --symbol BTC --html report.html',
      'svc backtest momentum ma_crossover --data binance:BTC:5m',
      'svc backtest momentum --seed 7 --fees 10 --slippage 2 --funding off',
      'SVC_BRAIN__MIN_DOMAINS=2 svc backtest --recorded',
      'svc backtest --file bars.csv --from 2024-02-10 --to 2024-02-20 --json',
    )
    .runs(runBacktest)
}

interface BacktestOptions extends RunOptions {
  readonly strategy?: StrategyName
  readonly set?: readonly Setting[]
  readonly trials?: number
  readonly html?: string
  readonly events?: string
  readonly force?: true
}

const runBacktest = async (
  invocation: Invocation,
  named: readonly StrategyName[] | undefined,
  options: BacktestOptions,
): Promise<Answer> => {
  const strategies = strategiesOf(named ?? [], options)
  // Strategies that are compared count as trials of one another.
  const request = { ...runRequest(options), trials: options.trials ?? strategies.length }
  const parametersOf = parametersBy(strategies, options.set ?? [])
  const { html, events } = filesOf(options)
  const files = [html, events].filter((file) => file !== null)
  await refuseUnwritable(files)
  if (events !== null && strategies.length > 1) {
    throw new UsageError('--events writes the events of one run: name one strategy')
  }
  const skipped: string[] = []
  const reports: BacktestReport[] = []
  for (const strategy of strategies) {
    const run = (onEvents?: BacktestRequest['onEvents']): Promise<BacktestReport> =>
      runOne(invocation, { ...request, strategy, parameters: parametersOf(strategy), onEvents }, skipped)
    const report = events === null ? await run() : await writingEvents(invocation, events, run)
    if (report.bars === 0) throw nothingTraded(skipped)
    reports.push(report)
  }
  if (html !== null) await writePage(html, reports, [...new Set(skipped)])
  return answerOf(reports, { skipped: [...new Set(skipped)], files: files.map(({ path }) => path) })
}

const runOne = async (
  invocation: Invocation,
  request: Omit<BacktestRequest, 'onError' | 'onProgress'>,
  skipped: string[],
): Promise<BacktestReport> => {
  const progress = invocation.progress(request.strategy)
  const speedOf = createSpeedometer(() => invocation.clock.now())
  return invocation
    .backtest({
      ...request,
      onError: (message) => skipped.push(message),
      onProgress: (done, total, bars) => {
        const speed = speedOf(bars)
        if (speed !== null) progress.update(done, total === 0 ? null : total, speed)
      },
    })
    .finally(progress.end)
}

const answerOf = (reports: readonly BacktestReport[], notes: RunNotes): Answer => {
  const { skipped } = notes
  const [first] = reports
  if (first !== undefined && reports.length === 1) {
    return { document: { ...first, left_out: skipped }, text: reportText(first, notes) }
  }
  return {
    document: { comparison: comparisonOf(reports), reports, left_out: skipped },
    text: comparisonText(reports, notes),
  }
}

const strategiesOf = (
  named: readonly StrategyName[],
  { strategy }: BacktestOptions,
): readonly StrategyName[] => {
  if (strategy !== undefined && named.length > 0) {
    throw new UsageError('name strategies as words or with --strategy, not both')
  }
  const repeated = named.find((name, index) => named.indexOf(name) !== index)
  if (repeated !== undefined) throw new UsageError(`${repeated} is named twice`)
  return named.length > 0 ? named : [strategy ?? 'brain']
}

const filesOf = ({ html, events, force }: BacktestOptions) => {
  const fileOf = (path: string | undefined): OutputFile | null =>
    path === undefined ? null : { path: resolve(path), force: force === true }
  const files = { html: fileOf(html), events: fileOf(events) }
  if (files.html !== null && files.html.path === files.events?.path) {
    throw new UsageError('--html and --events name the same file')
  }
  return files
}

/** `fast=5` applies to every strategy of the run, `ma_crossover.fast=5` to one of them. */
const parametersBy = (
  strategies: readonly StrategyName[],
  settings: readonly Setting[],
): ((strategy: StrategyName) => ParameterValues) => {
  const unknown = settings.find(({ of }) => of !== null && !strategies.some((name) => name === of))
  if (unknown !== undefined)
    throw new UsageError(`--set ${unknown.of}.${unknown.key}: ${unknown.of} is not run`)
  return (strategy) => {
    const own = settings.filter(({ of }) => of === null || of === strategy)
    const twice = own.find(
      ({ key, of }, index) => own.findIndex((one) => one.key === key && one.of === of) !== index,
    )
    if (twice !== undefined) throw new UsageError(`--set names ${twice.key} twice`)
    // A parameter for this strategy alone takes precedence.
    const sorted = own.toSorted((one, other) => Number(one.of !== null) - Number(other.of !== null))
    return Object.fromEntries(sorted.map(({ key, value }) => [key, value]))
  }
}

const nothingTraded = (skipped: readonly string[]): Failure =>
  new Failure('backtest.no_bars', ['no bars to trade on', ...skipped].join('; '), {
    advice: 'The first 200 analysis bars (ta.bar_seconds each) are not traded: give it more.',
  })

/** Rate of bars, measured now and then. Mostly null, because reading the clock costs more than a bar. */
const createSpeedometer = (now: () => number): ((bars: number) => string | null) => {
  const startedMs = now()
  let bars = 0
  let shown = 0
  return (more) => {
    bars += more
    if (bars - shown < BARS_PER_UPDATE) return null
    shown = bars
    const seconds = Math.max(0.001, (now() - startedMs) / 1000)
    return `${bars} bars, ${Math.round(bars / seconds)} bars/s`
  }
}

const BARS_PER_UPDATE = 256

interface Setting {
  /** Null for a parameter of every strategy. */
  readonly of: string | null
  readonly key: string
  readonly value: string | number | boolean
}

const parseSetting = parser((text): Setting | null => {
  const [, of = null, key = '', value = ''] = /^(?:([\w-]+)\.)?([A-Za-z_]\w{0,63})=(.+)$/s.exec(text) ?? []
  return key === '' ? null : { of, key, value: valueOf(value) }
}, 'It must be a name and a value, such as fast=10.')

const valueOf = (text: string): Setting['value'] => {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(text) ? Number(text) : text
}
