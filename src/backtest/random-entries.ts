import { r9 } from '../core/shared/numbers.ts'
import { TRADES_MIN } from './figures.ts'
import type { FillCosts } from './market-line.ts'
import type { PricePath } from './price-history.ts'
import { meanOf, quantileOf } from './statistics.ts'

/** Members of a trade that the comparison needs. */
export interface RepeatedTrade {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  /** Size as a share of the equity at the opening. */
  readonly equity_share: number
  readonly size_usd: number
  readonly net_usd: number
  readonly funding_usd: number
  readonly heldBars: number
}

/**
 * Returns of runs with random timing: as many trades, with the same symbols, sides, sizes, holding times, fees,
 * slippage and funding, each from a random open to the open as many bars later. Null if there are too few trades to
 * compare.
 */
export const randomEntriesOf = (
  trades: readonly RepeatedTrade[],
  paths: ReadonlyMap<string, PricePath>,
  costs: FillCosts,
  uniform: () => number,
) => {
  const repeatable = trades.filter(
    ({ symbol, size_usd }) => size_usd > 0 && (paths.get(symbol)?.opens.length ?? 0) > 1,
  )
  if (repeatable.length < TRADES_MIN) return null
  const strategyReturn = compounded(
    repeatable.map((trade) => trade.equity_share * (trade.net_usd / trade.size_usd)),
  )
  const returns: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    returns.push(
      compounded(repeatable.map((trade) => randomReturnOf(trade, paths.get(trade.symbol), costs, uniform))),
    )
  }
  const sorted = returns.toSorted((one, other) => one - other)
  const worse = sorted.filter((value) => value < strategyReturn).length
  const equal = sorted.filter((value) => value === strategyReturn).length
  return {
    runs: RUNS,
    mean_return: r9(meanOf(sorted)),
    /** 90 of 100 random runs lie between `low_return` and `high_return`. */
    low_return: r9(quantileOf(sorted, 0.05)),
    median_return: r9(quantileOf(sorted, 0.5)),
    high_return: r9(quantileOf(sorted, 0.95)),
    /** Return of the run itself, from its closed trades only. */
    strategy_return: r9(strategyReturn),
    /** Share of the random runs with a worse result. */
    percentile: r9((worse + equal / 2) / RUNS),
  }
}

const RUNS = 200

/** Return on the whole account. */
const randomReturnOf = (
  trade: RepeatedTrade,
  path: PricePath | undefined,
  { feeBps, slippageBps }: FillCosts,
  uniform: () => number,
): number => {
  if (path === undefined) return 0
  const { opens, stepBars } = path
  const steps = Math.min(opens.length - 1, Math.max(1, Math.round(trade.heldBars / stepBars)))
  const from = Math.floor(uniform() * (opens.length - steps))
  const sign = trade.direction === 'long' ? 1 : -1
  const slippage = (sign * slippageBps) / 10_000
  const ratio = ((opens[from + steps] ?? 0) * (1 - slippage)) / ((opens[from] ?? 1) * (1 + slippage))
  const fees = (feeBps / 10_000) * (1 + ratio)
  return trade.equity_share * (sign * (ratio - 1) - fees - trade.funding_usd / trade.size_usd)
}

/** An account that has lost everything stays at zero. */
const compounded = (returns: readonly number[]): number =>
  returns.reduce((equity, value) => equity * Math.max(0, 1 + value), 1) - 1
