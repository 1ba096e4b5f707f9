import { r9 } from '../core/shared/numbers.ts'
import { DAY_MS } from '../core/shared/time.ts'
import type { AccountHistory } from './account.ts'
import type { TrackedEquity } from './equity-tracker.ts'
import {
  curveFiguresOf,
  DAYS_MIN,
  dateOf,
  groupedBy,
  heldMsOf,
  monthlyReturnsOf,
  tradeFiguresOf,
} from './figures.ts'
import type { FillCosts, MarketLine } from './market-line.ts'
import { stopNotice } from './notices.ts'
import { randomEntriesOf } from './random-entries.ts'
import {
  annualGrowthOf,
  sharpeOf,
  dailyReturnsOf,
  statisticsOf,
  totalReturnOf,
  type Trials,
} from './statistics.ts'
import type { BacktestResult } from './run-dependencies.ts'
import { HOLD } from '../core/strategies/built-in.ts'
import type { ParameterValues } from '../core/strategies/strategy.ts'
import type { StrategyName } from './strategies.ts'

/** Options of the run. */
export interface BacktestSubject {
  readonly strategy: StrategyName
  readonly parameters: ParameterValues
  readonly market: 'simulated' | 'file' | 'data' | 'log'
  readonly symbols: readonly string[]
  readonly seed: number
  readonly resetsDaily: boolean
  readonly costs: FillCosts & {
    /** Funding per 8 hours; null for the rates of the market, `off` for no funding. */
    readonly fundingBps: number | null | 'off'
  }
  readonly trials: Trials
  readonly version: string
  /** SHA-256 of the user's code that the run may have used; null without any. */
  readonly codeHash: string | null
}

/** Named streams of random numbers from 0, below 1. Runs with the same seed get the same streams. */
export type UniformOf = (stream: 'signs' | 'bootstrap' | 'random-entries') => () => number

/** The report of a run, with the names of the wire. */
export const reportOf = (subject: BacktestSubject, result: BacktestResult, uniformOf: UniformOf) => {
  const { strategy, seed, resetsDaily, costs, trials } = subject
  const account = strategy === HOLD ? heldAccount(result.account) : result.account
  const { trades, marketLine } = account
  const wins = trades.filter(({ net_usd }) => net_usd > 0)
  const { totalReturn, sharpe, pValue } = statisticsOf(account, uniformOf('signs'))
  const elapsedMs = (result.lastCloseMs ?? 0) - (result.firstOpenMs ?? 0)
  const figures = curveFiguresOf(account, elapsedMs, trials, uniformOf('bootstrap'))
  return {
    /**
     * Warns that the figures cover less trading than the strategy asked for. Null unless the kill switch stopped
     * entries.
     */
    stopped: strategy === HOLD ? null : stopNotice(account.killSwitch, resetsDaily),
    strategy,
    parameters: subject.parameters,
    market: subject.market,
    symbols: subject.symbols,
    seed,
    resets_daily: resetsDaily,
    from: timeOf(result.firstOpenMs),
    to: timeOf(result.lastCloseMs),
    bar_seconds: result.resolutionSeconds,
    bars: result.bars,
    days: account.days.length,
    trades: trades.length,
    open_positions: strategy === HOLD ? marketLine.symbols.length : result.openPositions,
    start_equity_usd: account.start,
    end_equity_usd: account.days.at(-1) ?? account.start,
    total_return: r9(totalReturn),
    sharpe: figures.sharpe,
    max_drawdown: r9(account.maxDrawdown),
    p_value: account.daysWithBars < DAYS_MIN ? null : r9(pValue),
    hit_rate: trades.length === 0 ? null : r9(wins.length / trades.length),
    turnover: r9(account.turnover),
    fees_usd: r9(account.fees),
    funding_usd: r9(account.funding),
    held_back: account.heldBack,
    proposed_trades: account.proposed,
    reductions: account.reductions,
    unprotected: account.unprotected,
    ignored_requests: account.ignoredRequests,
    signal_domains: result.signalDomains,
    kill_switch: account.killSwitch,
    drawdown: drawdownView(account.drawdown),
    figures: {
      ...figures,
      trials: trials.count,
      ...tradeFiguresOf(trades),
    },
    /** Sharpe ratio and p-value of a run of any length: sweeps rank by them, also where a run alone says nothing. */
    ranking: { sharpe: r9(sharpe), p_value: r9(pValue) },
    exposure: {
      time_share: r9(account.exposure.time_share),
      mean: r9(account.exposure.mean),
      max: r9(account.exposure.max),
    },
    costs: costsOf(account, costs),
    hold: holdView(marketLine, elapsedMs),
    random_entries: randomView(account, result, subject, uniformOf),
    by: {
      symbol: groupedBy(trades, ({ symbol }) => symbol),
      side: groupedBy(trades, ({ direction }) => direction),
      exit_reason: groupedBy(trades, ({ exit_reason }) => exit_reason),
      regime: groupedBy(trades, ({ regime }) => regime),
    },
    monthly: monthlyReturnsOf(account, marketLine),
    own_producers: result.ownProducers,
    data_hash: account.dataHash,
    code_hash: subject.codeHash,
    engine_version: subject.version,
    days_utc: account.dayNumbers.map(dateOf),
    equity_usd_by_day: account.days,
    hold_usd_by_day: marketLine.days.map(cents),
    closed_trades: trades,
    chart: {
      equity: account.curve.map(
        ([ms, equity, hold, fall]) => [ms, cents(equity), cents(hold), r9(fall)] as const,
      ),
      candles: account.candles,
    },
  }
}

export type BacktestReport = ReturnType<typeof reportOf>

/** The account of `hold` is the market line: the engine's limits would not let it buy with the whole account. */
const heldAccount = (account: AccountHistory): AccountHistory => {
  const { marketLine } = account
  const meanEquity =
    marketLine.days.reduce((sum, value) => sum + value, 0) / Math.max(1, marketLine.days.length)
  const isHeld = marketLine.symbols.length > 0
  return {
    ...account,
    ...marketLine,
    maxDrawdown: marketLine.drawdown.depth,
    turnover: meanEquity > 0 ? marketLine.boughtUsd / meanEquity : 0,
    tradedUsd: marketLine.boughtUsd,
    fees: marketLine.feesUsd,
    exposure: isHeld ? { time_share: 1, mean: 1, max: 1 } : account.exposure,
    curve: withFalls(account.curve),
  }
}

/** Falls of this curve, computed from the points that were kept. */
const withFalls = (curve: AccountHistory['curve']): AccountHistory['curve'] => {
  let peak = 0
  return curve.map(([ms, , hold]) => {
    peak = Math.max(peak, hold)
    return [ms, hold, hold, peak > 0 ? 1 - hold / peak : 0] as const
  })
}

/**
 * Costs of trading. The prices of the fills include slippage already: it is reported separately and not subtracted
 * again.
 */
const costsOf = (account: AccountHistory, { feeBps, slippageBps, fundingBps }: BacktestSubject['costs']) => {
  const slippageUsd = (account.tradedUsd * slippageBps) / 10_000
  return {
    fee_bps: feeBps,
    slippage_bps: slippageBps,
    funding_bps_per_8h: fundingBps,
    fees_usd: r9(account.fees),
    slippage_usd: r9(slippageUsd),
    funding_usd: r9(account.funding),
    total_usd: r9(account.fees + slippageUsd + account.funding),
  }
}

const holdView = (line: MarketLine, elapsedMs: number) => ({
  symbols: line.symbols,
  end_equity_usd: cents(line.days.at(-1) ?? line.start),
  total_return: r9(totalReturnOf(line)),
  cagr: line.daysWithBars < DAYS_MIN ? null : r9(annualGrowthOf(totalReturnOf(line), elapsedMs / DAY_MS)),
  sharpe: line.daysWithBars < DAYS_MIN ? null : r9(sharpeOf(dailyReturnsOf(line))),
  max_drawdown: r9(line.drawdown.depth),
  fees_usd: r9(line.feesUsd),
})

const randomView = (
  account: AccountHistory,
  { resolutionSeconds }: BacktestResult,
  { costs }: BacktestSubject,
  uniformOf: UniformOf,
) => {
  if (resolutionSeconds === null) return null
  const repeated = account.trades.map((trade) => ({
    ...trade,
    heldBars: heldMsOf(trade) / (resolutionSeconds * 1000),
  }))
  return randomEntriesOf(repeated, account.prices, costs, uniformOf('random-entries'))
}

const drawdownView = ({ peakMs, troughMs, recoveredMs, lengthMs, longestMs }: TrackedEquity['drawdown']) => ({
  peak_at: timeOf(peakMs),
  trough_at: timeOf(troughMs),
  recovered_at: timeOf(recoveredMs),
  days: r9(lengthMs / DAY_MS),
  longest_days: r9(longestMs / DAY_MS),
})

const cents = (value: number): number => Math.round(value * 100) / 100

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
