import type { BacktestReport } from './report.ts'
import { HOLD } from '../core/strategies/built-in.ts'

/** With the names of the wire: each strategy, the market line, and what entries at random times would have brought. */
export const comparisonOf = (reports: readonly BacktestReport[]) => {
  const strategies = reports.map((report) => ({
    strategy: report.strategy,
    total_return: report.total_return,
    cagr: report.figures.cagr,
    sharpe: report.figures.sharpe,
    max_drawdown: report.max_drawdown,
    trades: report.trades,
    /** Share of the random runs that did worse. */
    beats_random: report.random_entries?.percentile ?? null,
  }))
  const [first] = reports
  const market =
    first === undefined || reports.some(({ strategy }) => strategy === HOLD)
      ? []
      : [
          {
            strategy: HOLD,
            total_return: first.hold.total_return,
            cagr: first.hold.cagr,
            sharpe: first.hold.sharpe,
            max_drawdown: first.hold.max_drawdown,
            trades: 0,
            beats_random: null,
          },
        ]
  const random = reports.flatMap(({ strategy, random_entries: entries }) =>
    entries === null
      ? []
      : [
          {
            strategy: `random ${strategy}`,
            total_return: entries.median_return,
            cagr: null,
            sharpe: null,
            max_drawdown: null,
            trades: null,
            beats_random: null,
          },
        ],
  )
  return [...strategies, ...market, ...random]
}
