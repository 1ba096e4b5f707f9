import { DAYS_MIN, TRADES_MIN, type TradeGroup } from '../figures.ts'
import type { BacktestReport } from '../report.ts'
import { dailyReturnsOf, sharpeOf } from '../statistics.ts'
import { HOLD } from '../strategies.ts'
import { candleChart, histogram, lineChart, placed } from './charts.ts'
import {
  decimalText,
  html,
  NOTHING,
  percentText,
  priceText,
  tableOf,
  timeText,
  toned,
  toneOf,
  usdText,
  type Html,
} from './markup.ts'

/** All sections about one run. */
export const reportSections = (report: BacktestReport, hasHeading: boolean): Html =>
  html` ${hasHeading ? html`<h2 id="${report.strategy}">${report.strategy}</h2>` : NOTHING}
    ${tiles(report)}${notes(report)}${curves(report)}
    <h3>Returns by month</h3>
    ${months(report)} ${candles(report)}
    <div class="columns">${groups(report)}</div>
    <div class="columns">
      <section>${costs(report)}</section>
      <section>${intervals(report)}</section>
    </div>
    <div class="columns">
      <section>
        <h3>Daily returns</h3>
        ${distribution(report)}
      </section>
      <section>
        <h3>Sharpe ratio of the last ${DAYS_MIN} days</h3>
        ${rollingSharpe(report)}
      </section>
    </div>
    <h3>Trades</h3>
    ${trades(report)}
    <h3>The run</h3>
    ${facts(report)}`

const tiles = (report: BacktestReport): Html => {
  const { figures, hold, random_entries: random, drawdown } = report
  return html`<dl class="tiles">
    ${tile('Return', percentText(report.total_return), toneOf(report.total_return), `${usdText(report.start_equity_usd)} to ${usdText(report.end_equity_usd)} USD`)}
    ${tile('Hold', percentText(hold.total_return), toneOf(hold.total_return), hold.symbols.join(', '))}
    ${tile('CAGR', percentText(figures.cagr), toneOf(figures.cagr))}
    ${tile('Volatility', percentText(figures.volatility))}
    ${tile('Sharpe', decimalText(figures.sharpe), '', figures.sharpe === null ? belowFloor() : `hold ${decimalText(hold.sharpe)}`)}
    ${tile('Sortino', decimalText(figures.sortino))} ${tile('Calmar', decimalText(figures.calmar))}
    ${tile('Max drawdown', percentText(report.max_drawdown), '', `${drawdown.days.toFixed(1)} days${drawdown.recovered_at === null && drawdown.days > 0 ? ', not recovered' : ''}; hold ${percentText(hold.max_drawdown)}`)}
    ${tile('Trades', String(report.trades), '', `${report.open_positions} still open`)}
    ${tile('Hit rate', percentText(report.hit_rate, 1))}
    ${tile('Profit factor', decimalText(figures.profit_factor))}
    ${tile('Expectancy', usdText(figures.expectancy_usd), toneOf(figures.expectancy_usd), 'USD per trade')}
    ${tile('Exposure', percentText(report.exposure.mean, 1), '', `${percentText(report.exposure.time_share, 1)} of the time`)}
    ${tile('Turnover', decimalText(report.turnover), '', 'times the equity')}
    ${tile('Sharpe above 0', percentText(figures.probabilistic_sharpe, 1), '', figures.trials > 1 ? `deflated for ${figures.trials} trials: ${percentText(figures.deflated_sharpe, 1)}` : '')}
    ${tile('Beats random', percentText(random?.percentile ?? null, 0), '', random === null ? `needs ${TRADES_MIN} trades` : `of ${random.runs} runs, median ${percentText(random.median_return)}`)}
  </dl>`
}

const tile = (name: string, value: string, tone = '', detail = ''): Html =>
  html`<div class="tile">
    <dt>${name}</dt>
    <dd class="${tone}">${value}${detail === '' ? NOTHING : html`<small>${detail}</small>`}</dd>
  </div>`

const belowFloor = (): string => `needs ${DAYS_MIN} days`

/** Why so much was traded and not more. */
const notes = ({ strategy, kill_switch: kill, held_back: held, ...report }: BacktestReport): Html => {
  if (strategy === HOLD) {
    return html`<ul class="notes">
      <li>The whole account buys the market once, outside the limits of the engine, and keeps it.</li>
    </ul>`
  }
  const reasons = Object.entries(held).map(([reason, count]) => `${count} times by ${reason}`)
  const opened = report.trades + report.open_positions
  const none = report.proposed_trades === 0 ? 'the strategy asked for no trade' : 'no proposed trade'
  return html`<ul class="notes">
    <li>${report.proposed_trades} trades were proposed, ${opened} opened.</li>
    <li>Held back: ${reasons.length === 0 ? none : reasons.join(', ')}.</li>
    ${kill.stops === 0 ? NOTHING : html`<li>The kill switch stopped entries ${kill.stops} times, first at ${timeText(kill.first_stop_at)}: ${kill.first_stop_reason ?? ''}.</li>`}
    ${report.days < DAYS_MIN ? html`<li>${report.days} days are too few for figures of a year: they are N/A.</li>` : NOTHING}
  </ul>`
}

const curves = ({ chart, strategy, from, to, start_equity_usd: start }: BacktestReport): Html => {
  const own = placed(chart.equity.map(([ms, equity]) => [ms, equity]))
  const hold = placed(chart.equity.map(([ms, , value]) => [ms, value]))
  const xLabels = [timeText(from), timeText(to)]
  let peak = start
  const holdFalls = chart.equity.map(([ms, , value]): readonly [number, number] => {
    peak = Math.max(peak, value)
    return [ms, peak > 0 ? value / peak - 1 : 0]
  })
  const isHold = strategy === HOLD
  return html`<h3>Equity in USD</h3>
    ${lineChart({
      label: `Equity of ${strategy} against holding the market`,
      lines: [
        ...(isHold ? [] : [{ name: HOLD, tone: 'tone1', points: hold }]),
        { name: strategy, tone: 'tone0', points: own },
      ],
      xLabels,
      textOf: (value) => value.toLocaleString('en-US', { maximumFractionDigits: 2 }),
      baseline: start,
    })}
    <h3>Drawdown</h3>
    ${lineChart({
      label: `Drawdown of ${strategy} against holding the market`,
      lines: [
        ...(isHold ? [] : [{ name: HOLD, tone: 'tone1', points: placed(holdFalls) }]),
        {
          name: strategy,
          tone: 'tone3',
          points: placed(chart.equity.map(([ms, , , fall]) => [ms, -fall])),
          isFilled: true,
        },
      ],
      xLabels,
      textOf: (value) => percentText(value, 1),
      includes: [0],
      baseline: 0,
      isLow: true,
    })}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** A row per year; the months of the market line are below those of the run. */
const months = ({ monthly }: BacktestReport): Html => {
  const years = [...new Set(monthly.map(({ month }) => month.slice(0, 4)))]
  const valueOf = (year: string, index: number, member: 'return' | 'hold_return'): Html => {
    const value = monthly.find(({ month }) => month === `${year}-${String(index + 1).padStart(2, '0')}`)?.[
      member
    ]
    return value === undefined ? html`` : toned(value, percentText(value, 1))
  }
  const totalOf = (year: string, member: 'return' | 'hold_return'): Html => {
    const own = monthly.filter(({ month }) => month.startsWith(year))
    const total = own.reduce((growth, one) => growth * (1 + one[member]), 1) - 1
    return toned(total, percentText(total, 1))
  }
  const rows = years.flatMap((year) => [
    { year, name: year, member: 'return' as const },
    { year, name: 'hold', member: 'hold_return' as const },
  ])
  return tableOf('Returns by month', rows, [
    { title: 'Year', cell: ({ name }) => name, isText: true },
    ...MONTHS.map((title, index) => ({
      title,
      cell: ({ year, member }: (typeof rows)[number]) => valueOf(year, index, member),
    })),
    { title: 'All', cell: ({ year, member }) => totalOf(year, member) },
  ])
}

const CHARTS_MAX = 12

const candles = ({ chart, closed_trades: all }: BacktestReport): Html =>
  html`${Object.entries(chart.candles)
    .slice(0, CHARTS_MAX)
    .map(
      ([symbol, bars]) =>
        html`<h3>${symbol}</h3>
          ${candleChart(
            symbol,
            bars,
            all.filter((trade) => trade.symbol === symbol),
          )}`,
    )}`

const groups = ({ by, trades: count }: BacktestReport): readonly Html[] => {
  if (count === 0) return []
  return [
    group('By symbol', by.symbol),
    group('By side', by.side),
    group('By exit', by.exit_reason),
    group('By regime at entry', by.regime),
  ]
}

const group = (title: string, members: readonly TradeGroup[]): Html =>
  html`<section>
    <h3>${title}</h3>
    ${tableOf(title, members, [
      { title: 'Name', cell: ({ name }) => name.replaceAll('_', ' '), isText: true },
      { title: 'Trades', cell: ({ trades: some }) => some },
      { title: 'Hit rate', cell: ({ hit_rate }) => percentText(hit_rate, 1) },
      { title: 'Mean', cell: ({ mean_return: mean }) => toned(mean, percentText(mean)) },
      { title: 'Net USD', cell: ({ net_usd: net }) => toned(net, usdText(net)) },
    ])}
  </section>`

const costs = ({ costs: of, start_equity_usd: start }: BacktestReport): Html => {
  const rows = [
    { name: 'Fees', detail: `${of.fee_bps} bps per fill`, usd: of.fees_usd },
    {
      name: 'Slippage',
      detail: `${of.slippage_bps} bps per fill, in the prices already`,
      usd: of.slippage_usd,
    },
    { name: 'Funding', detail: fundingText(of.funding_bps_per_8h), usd: of.funding_usd },
    { name: 'All', detail: '', usd: of.total_usd },
  ]
  return html`<h3>Costs</h3>
    ${tableOf('Costs', rows, [
      { title: 'Cost', cell: ({ name }) => name, isText: true },
      { title: 'USD', cell: ({ usd }) => usdText(usd) },
      { title: 'Of the start', cell: ({ usd }) => percentText(usd / start) },
      { title: '', cell: ({ detail }) => detail, isText: true },
    ])}`
}

const fundingText = (bps: number | null | 'off'): string => {
  if (bps === 'off') return 'off'
  return bps === null ? 'rates of the market' : `${bps} bps every 8 hours`
}

const intervals = ({ figures: { confidence } }: BacktestReport): Html => {
  if (confidence === null) return NOTHING
  const rows = [
    { name: 'CAGR', of: confidence.cagr, textOf: percentText },
    { name: 'Sharpe', of: confidence.sharpe, textOf: decimalText },
    { name: 'Max drawdown', of: confidence.max_drawdown, textOf: percentText },
  ]
  return html`<h3>95 % intervals</h3>
    ${tableOf('Intervals', rows, [
      { title: 'Figure', cell: ({ name }) => name, isText: true },
      { title: 'From', cell: ({ of, textOf }) => textOf(of[0]) },
      { title: 'To', cell: ({ of, textOf }) => textOf(of[1]) },
    ])}
    <p class="quiet">
      Stationary bootstrap of the daily returns: ${confidence.resamples} resamples, blocks of
      ${confidence.block_days} days on average.
    </p>`
}

const returnsOf = (report: BacktestReport): readonly number[] =>
  dailyReturnsOf({ start: report.start_equity_usd, days: report.equity_usd_by_day })

const distribution = (report: BacktestReport): Html => {
  const returns = returnsOf(report)
  if (returns.length < 2) return html`<p class="quiet">N/A: there is one day only.</p>`
  const { best_day: best, worst_day: worst, skewness, kurtosis } = report.figures
  return html`${histogram('How many days had which return', returns)}
    <p class="quiet">
      Best ${percentText(best)}, worst ${percentText(worst)}, skewness ${decimalText(skewness)}, kurtosis
      ${decimalText(kurtosis)}.
    </p>`
}

const rollingSharpe = (report: BacktestReport): Html => {
  const returns = returnsOf(report)
  if (returns.length < DAYS_MIN + 1)
    return html`<p class="quiet">N/A: it needs more than ${DAYS_MIN} days.</p>`
  const values = returns
    .slice(DAYS_MIN - 1)
    .map((_, index) => sharpeOf(returns.slice(index, index + DAYS_MIN)))
  const { days_utc: days } = report
  return lineChart({
    label: 'Rolling Sharpe ratio',
    lines: [{ name: 'Sharpe', tone: 'tone0', points: placed(values.map((value, index) => [index, value])) }],
    xLabels: [days[DAYS_MIN - 1] ?? '', days.at(-1) ?? ''],
    textOf: (value) => value.toFixed(1),
    includes: [0],
    baseline: 0,
    isLow: true,
  })
}

const TRADES_SHOWN = 1000

const trades = ({ closed_trades: all }: BacktestReport): Html => {
  if (all.length === 0) return html`<p class="quiet">None was closed.</p>`
  const more =
    all.length > TRADES_SHOWN ? `The first ${TRADES_SHOWN} of ${all.length}; the JSON report has all.` : ''
  return html`${tableOf('Trades', all.slice(0, TRADES_SHOWN), [
      { title: 'Opened', cell: ({ opened_at }) => timeText(opened_at), isText: true },
      { title: 'Closed', cell: ({ closed_at }) => timeText(closed_at), isText: true },
      { title: 'Symbol', cell: ({ symbol }) => symbol, isText: true },
      { title: 'Side', cell: ({ direction }) => direction, isText: true },
      { title: 'Quantity', cell: ({ quantity }) => priceText(quantity) },
      { title: 'Entry', cell: ({ entry_price }) => priceText(entry_price) },
      { title: 'Exit', cell: ({ exit_price }) => priceText(exit_price) },
      { title: 'Net USD', cell: ({ net_usd: net }) => toned(net, usdText(net)) },
      { title: 'Return', cell: ({ net_return: value }) => toned(value, percentText(value)) },
      { title: 'Fees', cell: ({ fees_usd }) => usdText(fees_usd) },
      { title: 'Funding', cell: ({ funding_usd }) => usdText(funding_usd) },
      { title: 'Worst', cell: ({ max_adverse_excursion: worst }) => percentText(-worst) },
      { title: 'Best', cell: ({ max_favorable_excursion: best }) => percentText(best) },
      { title: 'Exit by', cell: ({ exit_reason }) => exit_reason.replaceAll('_', ' '), isText: true },
      { title: 'Regime', cell: ({ regime }) => regime.toLowerCase(), isText: true },
    ])}
    <p class="quiet">${more}</p>`
}

const facts = (report: BacktestReport): Html => {
  const parameters = Object.entries(report.parameters).map(([name, value]) => `${name}=${value}`)
  const rows: readonly (readonly [string, string])[] = [
    ['Strategy', report.strategy],
    ['Parameters', parameters.join(', ') || 'none'],
    ['Symbols', report.symbols.join(', ')],
    ['Bars', `${report.bars} of ${report.bar_seconds ?? 0} seconds, ${report.market}`],
    ['Traded', `${timeText(report.from)} to ${timeText(report.to)} UTC`],
    [
      'Costs',
      `fee ${report.costs.fee_bps} bps, slippage ${report.costs.slippage_bps} bps, funding ${fundingText(report.costs.funding_bps_per_8h)}`,
    ],
    ['Kill switch', report.resets_daily ? 'lowered every midnight' : 'as in the service'],
    ['Chance', `${percentText(report.p_value)} that days without direction would do as well`],
    ['Seed', String(report.seed)],
    ['Data', `sha256:${report.data_hash}`],
    ['Engine', report.engine_version],
  ]
  return html`<dl class="run">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}
