import { r9 } from '../core/shared/numbers.ts'
import { figuresOf } from './figures.ts'
import type { BacktestCourse } from './run.ts'
import type { StrategyName } from './strategies.ts'

/** What was asked for, as it was understood. */
export interface BacktestSubject {
  readonly strategy: StrategyName
  readonly market: 'simulated' | 'file' | 'log'
  readonly symbols: readonly string[]
  readonly seed: number
  readonly resetsDaily: boolean
}

/** What is told of a run, in the words of the wire. */
export const reportOf = (
  { strategy, market, symbols, seed, resetsDaily }: BacktestSubject,
  course: BacktestCourse,
  uniform: () => number,
) => {
  const { account } = course
  const { trades } = account
  const wins = trades.filter(({ netUsd }) => netUsd > 0)
  const { totalReturn, sharpe, pValue } = figuresOf(account, uniform)
  return {
    strategy,
    market,
    symbols,
    seed,
    resets_daily: resetsDaily,
    from: timeOf(course.firstOpenMs),
    to: timeOf(course.lastCloseMs),
    bar_seconds: course.resolutionSeconds,
    bars: course.bars,
    days: account.days.length,
    trades: trades.length,
    open_positions: course.openPositions,
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
    kill_switch: {
      level: account.killSwitch.level,
      stops: account.killSwitch.stops,
      first_stop_at: account.killSwitch.firstStopAt,
      first_stop_reason: account.killSwitch.firstStopReason,
    },
    equity_usd_by_day: account.days,
    closed_trades: trades.map((trade) => ({
      symbol: trade.symbol,
      direction: trade.direction,
      opened_at: trade.openedAt,
      closed_at: trade.closedAt,
      entry_price: trade.entryPrice,
      exit_price: trade.exitPrice,
      size_usd: trade.sizeUsd,
      net_usd: trade.netUsd,
      exit_reason: trade.exitReason,
    })),
  }
}

export type BacktestReport = ReturnType<typeof reportOf>

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
