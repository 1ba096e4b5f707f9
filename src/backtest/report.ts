import { r9 } from '../core/shared/numbers.ts'
import { statisticsOf } from './statistics.ts'
import type { BacktestResult } from './run.ts'
import type { StrategyName } from './strategies.ts'

/** The options of the run. */
export interface BacktestSubject {
  readonly strategy: StrategyName
  readonly market: 'simulated' | 'file' | 'data' | 'log'
  readonly symbols: readonly string[]
  readonly seed: number
  readonly resetsDaily: boolean
}

/** The report of a run, with the names of the wire. */
export const reportOf = (
  { strategy, market, symbols, seed, resetsDaily }: BacktestSubject,
  result: BacktestResult,
  uniform: () => number,
) => {
  const { account } = result
  const { trades } = account
  const wins = trades.filter(({ net_usd }) => net_usd > 0)
  const { totalReturn, sharpe, pValue } = statisticsOf(account, uniform)
  return {
    strategy,
    market,
    symbols,
    seed,
    resets_daily: resetsDaily,
    from: timeOf(result.firstOpenMs),
    to: timeOf(result.lastCloseMs),
    bar_seconds: result.resolutionSeconds,
    bars: result.bars,
    days: account.days.length,
    trades: trades.length,
    open_positions: result.openPositions,
    start_equity_usd: account.start,
    end_equity_usd: account.days.at(-1) ?? account.start,
    total_return: r9(totalReturn),
    sharpe: r9(sharpe),
    max_drawdown: r9(account.maxDrawdown),
    p_value: r9(pValue),
    hit_rate: trades.length === 0 ? null : r9(wins.length / trades.length),
    turnover: r9(account.turnover),
    fees_usd: r9(account.fees),
    funding_usd: r9(account.funding),
    held_back: account.heldBack,
    kill_switch: account.killSwitch,
    equity_usd_by_day: account.days,
    closed_trades: trades,
  }
}

export type BacktestReport = ReturnType<typeof reportOf>

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
