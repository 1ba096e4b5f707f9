import { HOLD } from '../../core/strategies/built-in.ts'
import { shortNumber, stopText } from '../sweep/document.ts'
import type { TaskReport } from '../sweep/task.ts'
import type { RunFigures, RunResult } from './runs.ts'

/** What a report shows and what it does not, in one sentence. */
export interface Verdict {
  readonly verdict: string
  readonly edge_found: boolean
}

/** Verdict on one run. It is not corrected for other runs that were tried before. */
const verdictOf = (report: TaskReport): Verdict => {
  const { stops, first_stop_reason: reason } = report.kill_switch
  const found = foundIn(report)
  if (stops === 0) return found
  const times = stops === 1 ? 'once' : `${stops} times`
  return {
    ...found,
    verdict: `${found.verdict}; ${stopText(`${times}, first for ${reason}`, report.resets_daily)}`,
  }
}

const foundIn = (report: TaskReport): Verdict => {
  const { p_value: p, trades, days } = report
  const count = `${trades} ${trades === 1 ? 'trade' : 'trades'}`
  const figures = p === null ? count : `p = ${shortNumber(p)}, ${count}`
  if (report.strategy === HOLD) {
    const total = `${(report.total_return * 100).toFixed(2)} %`
    return {
      verdict: `no edge found: holding the market is what others are compared with; it came to ${total}`,
      edge_found: false,
    }
  }
  if (trades === 0) {
    const [why] = Object.entries(report.held_back)
    const held = why === undefined ? '' : `, most often held back by ${why[0]} (${why[1]} times)`
    return { verdict: `no edge found: ${figures}: nothing was traded${held}`, edge_found: false }
  }
  if (p !== null && p > P_MAX) return { verdict: `no edge found: ${figures}`, edge_found: false }
  if (p === null || trades < TRADES_MIN || days < DAYS_MIN) {
    return {
      verdict: `no edge found: ${figures} in ${days} ${days === 1 ? 'day' : 'days'} are too few to tell`,
      edge_found: false,
    }
  }
  return {
    verdict: `an edge is possible: ${figures} in ${days} days; this is not corrected for other runs that were tried`,
    edge_found: true,
  }
}

const P_MAX = 0.05
const TRADES_MIN = 30
const DAYS_MIN = 30

/** The figures of a report, or of the parameters that a sweep chose. */
export const figuresOf = (result: RunResult): RunFigures | null => {
  if ('equity_usd_by_day' in result) return picked(result)
  if (result.out_of_sample !== null) return picked({ ...result.out_of_sample, max_drawdown: null })
  const [best] = result.results
  return best === undefined ? null : picked(best)
}

const picked = ({ total_return, sharpe, max_drawdown, p_value, trades, days }: RunFigures): RunFigures => ({
  total_return,
  sharpe,
  max_drawdown,
  p_value,
  trades,
  days,
})

export const verdictOfResult = (result: RunResult): Verdict =>
  'equity_usd_by_day' in result
    ? verdictOf(result)
    : { verdict: result.verdict, edge_found: result.edge_found }
