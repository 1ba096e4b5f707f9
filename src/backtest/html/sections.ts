import { DAYS_MIN, TRADES_MIN } from '../figures.ts'
import { heldBackTexts } from '../held-back.ts'
import { ignoredText, reductionTexts, unprotectedText } from '../notices.ts'
import type { BacktestReport } from '../report.ts'
import { dailyReturnsOf, sharpeOf } from '../statistics.ts'
import { HOLD } from '../../core/strategies/built-in.ts'
import { candleChart, histogram, lineChart, placed, timeLabels, type ChartLine } from './charts.ts'
import { decimalText, html, NOTHING, percentText, toneOf, usdText, type Html } from './markup.ts'
import { costs, facts, groups, intervals, months, trades } from './tables.ts'

/** All sections about one run. */
export const reportSections = (report: BacktestReport, hasHeading: boolean): Html =>
  html` ${hasHeading ? html`<h2 id="${report.strategy}">${report.strategy}</h2>` : NOTHING}
    ${report.stopped === null ? NOTHING : html`<p class="stopped" role="alert">The run was ${report.stopped}.</p>`}
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

/** Reasons for the number of trades. */
const notes = ({ strategy, held_back: held, ...report }: BacktestReport): Html => {
  if (strategy === HOLD) {
    return html`<ul class="notes">
      <li>The whole account buys the market once, outside the limits of the engine, and keeps it.</li>
    </ul>`
  }
  const reasons = heldBackTexts(held)
  const unprotected = unprotectedText(report.unprotected)
  const ignored = ignoredText(report.ignored_requests)
  const opened = report.trades + report.open_positions
  const none = report.proposed_trades === 0 ? 'the strategy asked for no trade' : 'no proposed trade'
  return html`<ul class="notes">
    <li>${report.proposed_trades} trades were proposed, ${opened} opened.</li>
    <li>Held back: ${reasons.length === 0 ? none : reasons.join(', ')}.</li>
    ${reductionTexts(report.reductions).map((text) => html`<li>Reduced: ${text}.</li>`)}
    ${unprotected === null ? NOTHING : html`<li>${unprotected}.</li>`}
    ${ignored === null ? NOTHING : html`<li>Ignored: ${ignored}.</li>`}
    ${report.days < DAYS_MIN ? html`<li>${report.days} days are too few for figures of a year: they are N/A.</li>` : NOTHING}
  </ul>`
}

const curves = ({ chart, strategy, from, to, start_equity_usd: start }: BacktestReport): Html => {
  const own = placed(chart.equity.map(([ms, equity]) => [ms, equity]))
  const hold = placed(chart.equity.map(([ms, , value]) => [ms, value]))
  const xLabels = timeLabels(from, to)
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
    ${spanOf(hold) > FLATTENED * spanOf(own) ? alone(strategy, own, xLabels, start) : NOTHING}
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

/** Beside a market that moves much more, small positions are a flat line. */
const FLATTENED = 3

const spanOf = (points: ChartLine['points']): number => {
  const values = points.map(([, value]) => value)
  return Math.max(...values) - Math.min(...values)
}

const alone = (
  strategy: string,
  points: ChartLine['points'],
  xLabels: readonly string[],
  baseline: number,
): Html =>
  html`<h3>Equity of ${strategy} alone</h3>
    ${lineChart({
      label: `Equity of ${strategy} alone`,
      lines: [{ name: strategy, tone: 'tone0', points, isFilled: true }],
      xLabels,
      textOf: (value) => value.toLocaleString('en-US', { maximumFractionDigits: 2 }),
      baseline,
      isLow: true,
    })}`

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
