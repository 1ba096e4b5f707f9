import { r9 } from '../core/vocabulary/numbers.ts'
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
    trades: account.trades,
    open_positions: course.openPositions,
    start_equity_usd: account.start,
    end_equity_usd: account.days.at(-1) ?? account.start,
    total_return: r9(totalReturn),
    sharpe: r9(sharpe),
    max_drawdown: r9(account.maxDrawdown),
    p_value: r9(pValue),
    hit_rate: account.trades === 0 ? null : r9(account.wins / account.trades),
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
  }
}

export type BacktestReport = ReturnType<typeof reportOf>

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
