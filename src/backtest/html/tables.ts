import type { TradeGroup } from '../figures.ts'
import { ownProducerText } from '../own-producers.ts'
import type { BacktestReport } from '../report.ts'
import { EXPLAINED_MAX, type TradeReason } from '../trade-reasons.ts'
import {
  decimalText,
  html,
  NOTHING,
  percentText,
  priceText,
  tableOf,
  timeText,
  toned,
  usdText,
  type Html,
} from './markup.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** A row per year; the months of the market line are below those of the run. */
export const months = ({ monthly }: BacktestReport): Html => {
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

export const groups = ({ by, trades: count }: BacktestReport): readonly Html[] => {
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

export const costs = ({ costs: of, start_equity_usd: start }: BacktestReport): Html => {
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

export const intervals = ({ figures: { confidence } }: BacktestReport): Html => {
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
      ${confidence.block_days} days on average. The interval of the drawdown is a prediction for another run
      of as many days.
    </p>`
}

const TRADES_SHOWN = EXPLAINED_MAX
/** More of them are shown on demand. */
const TRADES_OPEN = 100

export const trades = ({ closed_trades: all }: BacktestReport): Html => {
  if (all.length === 0) return html`<p class="quiet">None was closed.</p>`
  const more =
    all.length > TRADES_SHOWN ? `The first ${TRADES_SHOWN} of ${all.length}; the JSON report has all.` : ''
  const table = html`${tableOf('Trades', all.slice(0, TRADES_SHOWN), [
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
      { title: 'Why', cell: ({ why: reason }) => why(reason), isText: true },
    ])}
    <p class="quiet">${more}</p>`
  return all.length <= TRADES_OPEN
    ? table
    : html`<details>
        <summary>${all.length} trades</summary>
        ${table}
      </details>`
}

/** Why a trade was opened, to be unfolded: what the sheet of the dashboard shows. */
const why = (reason: TradeReason | null): Html => {
  if (reason === null) return html`<span class="quiet">not kept</span>`
  return html`<details class="why">
    <summary>${reason.by}, ${decimalText(reason.conviction, 1)}</summary>
    <p>${reason.rationale}</p>
    ${factList(factsOf(reason))} ${reason.inputs.length === 0 ? NOTHING : signalTable(reason)}
  </details>`
}

type Fact = readonly [string, string]

const factsOf = (reason: TradeReason): readonly Fact[] => {
  const { case: found, sizing, limits } = reason
  const asked = `${percentText(reason.size_pct)} of equity, stop ${levelText(reason.stop_loss_pct)}, target ${levelText(reason.take_profit_pct)}`
  const facts: Fact[] = [['Asked for', asked]]
  if (found !== null) {
    facts.push(
      [
        'For and against',
        `${decimalText(found.pcs_score, 1)} for, ${decimalText(found.cts_score, 1)} against`,
      ],
      ['Confidence', `${percentText(found.confidence, 0)}, coverage ${percentText(found.coverage, 0)}`],
    )
  }
  if (sizing !== null) {
    const learned = `Kelly ${usdText(sizing.kelly_usd)}, floor ${usdText(sizing.floor_usd)} USD`
    facts.push(['Size', `set by ${words(sizing.bound_by.join(', '))}; ${learned}`])
  }
  const bounds = Object.entries(limits).map(([name, usd]) => `${words(name)} ${usdText(usd)}`)
  if (bounds.length > 0) facts.push(['Limits in USD', bounds.join(', ')])
  return facts
}

const levelText = (share: number | null): string => (share === null ? 'none' : percentText(share))

const words = (text: string): string => text.replaceAll('_', ' ')

const signalTable = ({ inputs: signals, inputs_left_out: leftOut }: TradeReason): Html =>
  html`<table>
      <thead>
        <tr>
          <th scope="col" class="text">Signal of</th>
          <th scope="col">Evidence</th>
          <th scope="col">Share</th>
          <th scope="col">Contribution</th>
        </tr>
      </thead>
      <tbody>
        ${signals.map(
          ({ author, domain, evidence, share, contribution }) =>
            html`<tr>
              <td class="text">${author}, ${domain}</td>
              <td>${decimalText(evidence, 3)}</td>
              <td>${percentText(share, 0)}</td>
              <td>${toned(contribution, decimalText(contribution, 3))}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${leftOut === 0 ? NOTHING : html`<p class="quiet">and ${leftOut} weaker ones</p>`}`

export const facts = (report: BacktestReport): Html => {
  const parameters = Object.entries(report.parameters).map(([name, value]) => `${name}=${value}`)
  const rows: readonly Fact[] = [
    ['Strategy', report.strategy],
    ['Parameters', parameters.join(', ') || 'none'],
    ['Symbols', report.symbols.join(', ')],
    ['Bars', `${report.bars} of ${report.bar_seconds ?? 0} seconds, ${report.market}`],
    ['Traded', `${timeText(report.from)} to ${timeText(report.to)} UTC`],
    [
      'Costs',
      `fee ${report.costs.fee_bps} bps, slippage ${report.costs.slippage_bps} bps, funding ${fundingText(report.costs.funding_bps_per_8h)}`,
    ],
    [
      'Kill switch',
      report.resets_daily
        ? 'lowered at every midnight UTC by a simulated operator'
        : 'left raised, as in the service without an operator',
    ],
    [
      'Chance',
      report.p_value === null
        ? percentText(null)
        : `${percentText(report.p_value)} that days without direction would do as well`,
    ],
    ['Seed', String(report.seed)],
    ...report.own_producers.map((one) => ['Own producer', ownProducerText(one)] as const),
    ['Data', `sha256:${report.data_hash}`],
    ...(report.code_hash === null ? [] : [['Own code', `sha256:${report.code_hash}`] as const]),
    ['Engine', report.engine_version],
  ]
  return factList(rows)
}

const factList = (rows: readonly Fact[]): Html =>
  html`<dl class="run">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
