import { comparisonOf } from '../../backtest/comparison.ts'
import { DAYS_MIN } from '../../backtest/figures.ts'
import { heldBackTexts } from '../../backtest/held-back.ts'
import { ignoredText, reductionTexts, unprotectedText } from '../../backtest/notices.ts'
import { ownProducerText } from '../../backtest/own-producers.ts'
import type { BacktestReport } from '../../backtest/report.ts'
import { HOLD } from '../../core/strategies/built-in.ts'
import { fields, left, paragraphs, percent, profit, quiet, right, table, usd, warning } from './table.ts'
import type { Cell, Row } from './table.ts'
import type { Text } from './terminal.ts'

/** Notes on a run: bars that were left out, and files that were written. */
export interface RunNotes {
  readonly skipped: readonly string[]
  readonly files: readonly string[]
}

/** A run as text. */
export const reportText = (report: BacktestReport, notes: RunNotes): Text => {
  const { figures, drawdown, hold, exposure, costs } = report
  const stillOpen = report.open_positions === 0 ? '' : `, ${report.open_positions} still open`
  return fields([
    ...stoppedOf(report),
    ['Strategy', `${report.strategy}${parametersText(report)}`],
    ['Market', marketText(report)],
    ['Traded', `${report.from?.slice(0, 16)} to ${report.to?.slice(0, 16)} UTC`],
    ['Bars', `${report.bars} of ${report.bar_seconds} seconds`],
    ['Trades', `${report.trades}${stillOpen}`],
    ['Equity', `${usd(report.start_equity_usd)} to ${usd(report.end_equity_usd)}`],
    ['By day', sparkline([report.start_equity_usd, ...report.equity_usd_by_day], SPARKLINE_WIDTH)],
    ['Return', signedCell(report.total_return)],
    ['Hold', `${percent(hold.total_return)}, the whole account in ${hold.symbols.join(', ') || 'nothing'}`],
    ['Random', randomText(report)],
    ['CAGR', withInterval(share(figures.cagr), figures.confidence?.cagr, percent)],
    ['Volatility', share(figures.volatility)],
    [
      'Sharpe',
      withInterval(decimal(figures.sharpe), figures.confidence?.sharpe, (value) => value.toFixed(2)),
    ],
    ['Sharpe > 0', trialsText(report)],
    ['Sortino', decimal(figures.sortino)],
    ['Calmar', decimal(figures.calmar)],
    ['Drawdown', `${percent(report.max_drawdown)} at most${lengthText(drawdown)}`],
    [
      'Chance',
      report.p_value === null
        ? NOT_AVAILABLE
        : `${percent(report.p_value)} that days without direction would do as well`,
    ],
    ['Hit rate', report.hit_rate === null ? quiet('no closed trade') : percent(report.hit_rate)],
    ['Profit factor', decimal(figures.profit_factor)],
    [
      'Expectancy',
      figures.expectancy_usd === null ? NOT_AVAILABLE : `${usd(figures.expectancy_usd)} per trade`,
    ],
    ['Turnover', `${report.turnover.toFixed(2)} times the equity`],
    ['Exposure', `${percent(exposure.mean)} of equity, ${percent(exposure.time_share)} of the time`],
    ['Fees', usd(report.fees_usd)],
    ['Slippage', usd(costs.slippage_usd)],
    ['Funding', profit(-report.funding_usd)],
    ['Data', quiet(`sha256:${report.data_hash}`)],
    ['Own code', report.code_hash === null ? null : quiet(`sha256:${report.code_hash}`)],
    ...notesOf(report),
    ...rowsOf(notes),
  ])
}

/** Strategies side by side, always with the market line and the result of random entries. */
export const comparisonText = (reports: readonly BacktestReport[], notes: RunNotes): Text => {
  const [first] = reports
  return paragraphs(
    first === undefined
      ? null
      : fields([
          ['Market', marketText(first)],
          ['Traded', `${first.from?.slice(0, 16)} to ${first.to?.slice(0, 16)} UTC`],
          ['Bars', `${first.bars} of ${first.bar_seconds} seconds`],
        ]),
    table(comparisonOf(reports), [
      left('Strategy', ({ strategy }) => strategy),
      right('Return', ({ total_return }) => signedCell(total_return)),
      right('CAGR', ({ cagr }) => share(cagr)),
      right('Sharpe', ({ sharpe }) => decimal(sharpe)),
      right('Drawdown', ({ max_drawdown }) => share(max_drawdown)),
      right('Trades', ({ trades }) => trades ?? ''),
      right('Beats random', ({ beats_random }) =>
        beats_random === null ? quiet('') : percent(beats_random),
      ),
    ]),
    fields([
      ...reports.flatMap((report) =>
        stoppedOf(report)
          .concat(notesOf(report))
          .map(([name, cell]): Row => [`${report.strategy}: ${name.toLowerCase()}`, cell]),
      ),
      ...rowsOf(notes),
    ]),
  )
}

const rowsOf = ({ skipped, files }: RunNotes): readonly Row[] => [
  ...skipped.map((message): Row => ['Skipped', warning(message)]),
  ...files.map((path): Row => ['Written', path]),
]

const NOT_AVAILABLE: Cell = quiet('N/A')

const share = (value: number | null): Cell => (value === null ? NOT_AVAILABLE : percent(value))

const decimal = (value: number | null): Cell => (value === null ? NOT_AVAILABLE : value.toFixed(2))

const signedCell = (value: number): Cell => (value < 0 ? warning(percent(value)) : percent(value))

const withInterval = (
  cell: Cell,
  interval: readonly [number, number] | undefined,
  textOf: (value: number) => string,
): Cell =>
  interval === undefined || typeof cell !== 'string'
    ? cell
    : `${cell} (95 %: ${textOf(interval[0])} to ${textOf(interval[1])})`

const parametersText = ({ parameters }: BacktestReport): string => {
  const given = Object.entries(parameters)
  return given.length === 0 ? '' : ` (${given.map(([name, value]) => `${name}=${value}`).join(', ')})`
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

const randomText = ({ random_entries: entries }: BacktestReport): Cell => {
  if (entries === null) return NOT_AVAILABLE
  const { percentile, runs, median_return: median } = entries
  const text = `better than ${percent(percentile)} of ${runs} runs with random entries, which made ${percent(median)}`
  return percentile < 0.5 ? warning(text) : text
}

const trialsText = ({ figures }: BacktestReport): Cell => {
  const { probabilistic_sharpe: probability, deflated_sharpe: deflated, trials } = figures
  if (probability === null) return NOT_AVAILABLE
  const best =
    trials > 1 && deflated !== null ? `; ${percent(deflated)} that it beats the best of ${trials} trials` : ''
  return `${percent(probability)} likely${best}`
}

const lengthText = ({ days, recovered_at: recoveredAt }: BacktestReport['drawdown']): string =>
  days === 0 ? '' : `, ${days.toFixed(1)} days long${recoveredAt === null ? ', not recovered' : ''}`

const stoppedOf = ({ stopped }: BacktestReport): readonly Row[] =>
  stopped === null ? [] : [['Note', warning(stopped)]]

/** Facts that the figures do not show. */
const notesOf = (report: BacktestReport): readonly Row[] => {
  const notes: Row[] = [...activityOf(report)]
  for (const text of reductionTexts(report.reductions)) notes.push(['Reduced', warning(text)])
  const unprotected = unprotectedText(report.unprotected)
  if (unprotected !== null) notes.push(['No stop', warning(unprotected)])
  const ignored = ignoredText(report.ignored_requests)
  if (ignored !== null) notes.push(['Ignored', warning(ignored)])
  for (const producer of report.own_producers) {
    const text = ownProducerText(producer)
    notes.push(['Own producer', producer.failures > 0 ? warning(text) : text])
  }
  if (report.days < DAYS_MIN) {
    notes.push(['Note', warning(`${report.days} days are too few for Sharpe and chance to be meaningful`)])
  }
  return notes
}

/** Reasons for the number of trades, whether there were many or none. */
const activityOf = (report: BacktestReport): readonly Row[] => {
  if (report.strategy === HOLD) return [['Proposed', 'nothing: it buys once with the whole account']]
  const opened = report.trades + report.open_positions
  const proposed: Row = ['Proposed', `${report.proposed_trades} trades, of which ${opened} were opened`]
  const reasons = Object.keys(report.held_back)
  const rest = reasons.slice(REASONS_SHOWN)
  const isQuiet = opened > 0
  const cellOf = (text: string): Cell => (isQuiet ? quiet(text) : warning(text))
  const held = heldBackTexts(report.held_back)
    .slice(0, REASONS_SHOWN)
    .map((text, index): Row => ['Held back', cellOf(`${text}${adviceOf(reasons[index] ?? '', report)}`)])
  if (rest.length > 0) held.push(['Held back', quiet(`and by ${rest.join(', ')}`)])
  if (held.length > 0) return [proposed, ...held]
  const none = report.proposed_trades === 0 ? 'the strategy asked for no trade' : 'no proposed trade'
  return [proposed, ['Held back', cellOf(none)]]
}

const REASONS_SHOWN = 5
const SPARKLINE_WIDTH = 60

/** Domains that submitted signals, as a guide for choosing `brain.min_domains`. */
const adviceOf = (reason: string, { signal_domains: domains }: BacktestReport): string => {
  if (reason !== 'coverage') return ''
  if (domains.length === 0) return '; no domain submitted signals'
  const named = `${domains.length === 1 ? '1 domain' : `${domains.length} domains`} (${domains.join(', ')})`
  return `; ${named} submitted signals: try SVC_BRAIN__MIN_DOMAINS=${domains.length}`
}

/** A sparkline: values as one line of text in eight heights, from the lowest to the highest value. */
export const sparkline = (values: readonly number[], widthMax: number): string => {
  const shown = thinned(values, widthMax)
  const lowest = Math.min(...shown)
  const span = Math.max(...shown) - lowest
  return shown
    .map((value) => HEIGHTS[span === 0 ? 0 : Math.round(((value - lowest) / span) * (HEIGHTS.length - 1))])
    .join('')
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** The last value of each part, so that the line ends with the last value of all. */
const thinned = (values: readonly number[], countMax: number): readonly number[] => {
  if (values.length <= countMax) return values
  return Array.from(
    { length: countMax },
    (_, part) => values[Math.ceil(((part + 1) * values.length) / countMax) - 1] ?? Number.NaN,
  )
}
