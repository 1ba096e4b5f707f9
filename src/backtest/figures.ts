import { r9 } from '../core/shared/numbers.ts'
import { DAY_MS } from '../core/shared/time.ts'
import type { ClosedTrade } from './account.ts'
import { confidenceIntervalsOf, type ConfidenceIntervals } from './bootstrap.ts'
import type { TrackedEquity } from './equity-tracker.ts'
import {
  annualGrowthOf,
  dailyReturnsOf,
  deflatedSharpeOf,
  meanOf,
  probabilisticSharpeOf,
  shapeOf,
  sharpeOf,
  sortinoOf,
  sumOf,
  totalReturnOf,
  volatilityOf,
  type Trials,
} from './statistics.ts'

/** Fewest days for a figure of days. With fewer days it is null. */
export const DAYS_MIN = 30
/** Fewest trades for a figure of trades. With fewer trades it is null. */
export const TRADES_MIN = 10

/** Figures of a curve. Uses the names of the report. `elapsedMs` is the time from the first open to the last close. */
export const curveFiguresOf = (
  curve: TrackedEquity,
  elapsedMs: number,
  trials: Trials,
  uniform: () => number,
) => {
  const returns = dailyReturnsOf(curve)
  const isEnough = curve.daysWithBars >= DAYS_MIN
  const figure = (value: number | null): number | null => (isEnough && value !== null ? r9(value) : null)
  const days = elapsedMs / DAY_MS
  const cagr = annualGrowthOf(totalReturnOf(curve), days)
  const { depth } = curve.drawdown
  const { skewness, kurtosis } = shapeOf(returns)
  const moved = returns.some((value) => value !== 0)
  return {
    cagr: figure(cagr),
    volatility: figure(volatilityOf(returns)),
    sharpe: figure(moved ? sharpeOf(returns) : null),
    sortino: figure(sortinoOf(returns)),
    calmar: figure(depth === 0 ? null : cagr / depth),
    skewness: figure(skewness),
    kurtosis: figure(kurtosis),
    best_day: figure(Math.max(...returns)),
    worst_day: figure(Math.min(...returns)),
    probabilistic_sharpe: figure(probabilisticSharpeOf(returns)),
    deflated_sharpe: figure(deflatedSharpeOf(returns, trials)),
    confidence: isEnough && moved ? roundedIntervals(confidenceIntervalsOf(returns, days, uniform)) : null,
  }
}

/** Figures of closed trades. Uses the names of the report. */
export const tradeFiguresOf = (trades: readonly ClosedTrade[]) => {
  const wins = trades.flatMap(({ net_usd }) => (net_usd > 0 ? [net_usd] : []))
  const losses = trades.flatMap(({ net_usd }) => (net_usd < 0 ? [net_usd] : []))
  const isEnough = trades.length >= TRADES_MIN
  const mean = (values: readonly number[]): number | null =>
    isEnough && values.length > 0 ? r9(meanOf(values)) : null
  return {
    /** Total profit of winning trades divided by the total loss of losing trades. */
    profit_factor: isEnough && losses.length > 0 ? r9(sumOf(wins) / -sumOf(losses)) : null,
    /** Mean net profit. */
    expectancy_usd: mean(trades.map(({ net_usd }) => net_usd)),
    /** Mean net profit divided by size. */
    expectancy_return: mean(trades.map(({ net_return }) => net_return)),
    mean_win_usd: mean(wins),
    mean_loss_usd: mean(losses),
    mean_held_hours: mean(trades.map((trade) => heldMsOf(trade) / HOUR_MS)),
  }
}

/** Result of the trades of one kind. */
export type TradeGroup = ReturnType<typeof groupedBy>[number]

/** Groups of trades, the largest group first. */
export const groupedBy = (trades: readonly ClosedTrade[], nameOf: (trade: ClosedTrade) => string) =>
  [...grouped(trades, nameOf)]
    .map(([name, group]) => ({
      name,
      trades: group.length,
      hit_rate: r9(group.filter(({ net_usd }) => net_usd > 0).length / group.length),
      net_usd: r9(sumOf(group.map(({ net_usd }) => net_usd))),
      fees_usd: r9(sumOf(group.map(({ fees_usd }) => fees_usd))),
      funding_usd: r9(sumOf(group.map(({ funding_usd }) => funding_usd))),
      mean_return: r9(meanOf(group.map(({ net_return }) => net_return))),
    }))
    .toSorted((one, other) => other.trades - one.trades || (one.name < other.name ? -1 : 1))

const grouped = (
  trades: readonly ClosedTrade[],
  nameOf: (trade: ClosedTrade) => string,
): ReadonlyMap<string, readonly ClosedTrade[]> => {
  const groups = new Map<string, ClosedTrade[]>()
  for (const trade of trades) {
    const name = nameOf(trade)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [trade])
    else group.push(trade)
  }
  return groups
}

/** Returns by calendar month, of the run and of the market line. */
export const monthlyReturnsOf = (curve: TrackedEquity, hold: TrackedEquity) => {
  const lastOf = new Map<string, number>()
  for (const [index, day] of curve.dayNumbers.entries()) lastOf.set(dateOf(day).slice(0, 7), index)
  let before = { equity: curve.start, hold: hold.start }
  return [...lastOf].map(([month, index]) => {
    const after = { equity: curve.days[index] ?? before.equity, hold: hold.days[index] ?? before.hold }
    const monthly = {
      month,
      return: r9(before.equity > 0 ? after.equity / before.equity - 1 : 0),
      hold_return: r9(before.hold > 0 ? after.hold / before.hold - 1 : 0),
    }
    before = after
    return monthly
  })
}

export const heldMsOf = ({ opened_at, closed_at }: ClosedTrade): number =>
  Date.parse(closed_at) - Date.parse(opened_at)

export const dateOf = (dayNumber: number): string => new Date(dayNumber * DAY_MS).toISOString().slice(0, 10)

const HOUR_MS = 3_600_000

const roundedIntervals = (given: ConfidenceIntervals): ConfidenceIntervals => ({
  ...given,
  cagr: [r9(given.cagr[0]), r9(given.cagr[1])],
  sharpe: [r9(given.sharpe[0]), r9(given.sharpe[1])],
  max_drawdown: [r9(given.max_drawdown[0]), r9(given.max_drawdown[1])],
})
