/** Key figures of a run. */
export interface Statistics {
  readonly totalReturn: number
  readonly sharpe: number
  readonly pValue: number
}

export interface EquityCurve {
  readonly start: number
  /** Equity at the end of each day. */
  readonly days: readonly number[]
}

/** `uniform` draws the signs: from 0, below 1. */
export const statisticsOf = ({ start, days }: EquityCurve, uniform: () => number): Statistics => {
  const returns = days.map((equity, day) => returnOf(days[day - 1] ?? start, equity))
  return {
    totalReturn: returnOf(start, days.at(-1) ?? start),
    sharpe: sharpeOf(returns),
    pValue: signFlipPValue(returns, uniform),
  }
}

/** 0 for an empty account. */
const returnOf = (before: number, after: number): number => (before > 0 ? after / before - 1 : 0)

/** Annualised over 365 days; 0 without variance. */
export const sharpeOf = (returns: readonly number[]): number => {
  const mean = meanOf(returns)
  const deviation = Math.sqrt(meanOf(returns.map((value) => (value - mean) * (value - mean))))
  return deviation === 0 ? 0 : (mean / deviation) * Math.sqrt(DAYS_PER_YEAR)
}

/** Share of random sign flips of the daily returns with at least the same sum. */
export const signFlipPValue = (returns: readonly number[], uniform: () => number): number => {
  const reached = sumOf(returns)
  let atLeast = 0
  for (let draw = 0; draw < DRAWS; draw += 1) {
    let sum = 0
    for (const value of returns) sum += uniform() < 0.5 ? value : -value
    if (sum >= reached - ROUNDING) atLeast += 1
  }
  return (atLeast + 1) / (DRAWS + 1)
}

const DRAWS = 2000
const DAYS_PER_YEAR = 365
/** Sums of the same numbers in another order differ by that much. */
const ROUNDING = 1e-12

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : sumOf(values) / values.length
