import { dailySharpeOf, meanOf, shapeOf as skewAndKurtosisOf, signFlipPValue } from '../statistics.ts'

/** Mean over standard deviation and shape of daily returns: what the deflated Sharpe ratio needs. */
export interface ReturnShape {
  readonly days: number
  /** Not annualised. */
  readonly sharpe: number
  readonly skewness: number
  /** 3 for a normal distribution. */
  readonly kurtosis: number
}

export const shapeOf = (returns: readonly number[]): ReturnShape => ({
  days: returns.length,
  sharpe: dailySharpeOf(returns),
  ...skewAndKurtosisOf(returns),
})

export const returnsOf = (start: number, equity: readonly number[]): readonly number[] =>
  equity.map((value, day) => {
    const before = equity[day - 1] ?? start
    return before > 0 ? value / before - 1 : 0
  })

/**
 * The p-value of a report, below the smallest that its draws can show. Behind that stands Hoeffding's bound for the same
 * test: random signs reach this sum with at most this probability. Without it, the correction of many trials could never
 * let one of them survive.
 */
export const sharpened = (pValue: number, returns: readonly number[]): number => {
  if (pValue > SMALLEST_DRAWN) return pValue
  const sum = returns.reduce((total, value) => total + value, 0)
  const squares = returns.reduce((total, value) => total + value * value, 0)
  if (squares === 0 || sum <= 0) return pValue
  return Math.min(pValue, Math.exp(-(sum * sum) / (2 * squares)))
}

/** 1 of 2,001: see `signFlipPValue`. */
const SMALLEST_DRAWN = 1.001 / 2001

export const pValueOf = (returns: readonly number[], uniform: () => number): number =>
  sharpened(signFlipPValue(returns, uniform), returns)

/**
 * Benjamini and Hochberg: the share of false discoveries that is accepted with each p-value, in the order of the values.
 * `trials` counts also those that were given up before they had a p-value.
 */
export const falseDiscoveryRates = (pValues: readonly number[], trials: number): readonly number[] => {
  const order = pValues.map((_, index) => index).sort((one, other) => pOf(one) - pOf(other))
  function pOf(index: number): number {
    return pValues[index] ?? 1
  }
  const rates = pValues.map(() => 1)
  let smallest = 1
  for (let rank = order.length; rank > 0; rank -= 1) {
    const index = order[rank - 1] ?? 0
    smallest = Math.min(smallest, pOf(index) * (trials / rank))
    rates[index] = smallest
  }
  return rates
}

/**
 * Bailey and López de Prado (2014): the probability that the true Sharpe ratio is above what the best of so many trials
 * without any edge would show. Null where there is too little to say so.
 */
export const deflatedSharpe = (
  { days, sharpe, skewness, kurtosis }: ReturnShape,
  sharpesOfTrials: readonly number[],
  trials: number,
): number | null => {
  if (days < 2) return null
  const mean = meanOf(sharpesOfTrials)
  const variance = meanOf(sharpesOfTrials.map((value) => (value - mean) ** 2))
  const expectedBest =
    trials < 2
      ? 0
      : Math.sqrt(variance) *
        ((1 - EULER) * inverseNormal(1 - 1 / trials) + EULER * inverseNormal(1 - 1 / (trials * Math.E)))
  const spread = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe
  if (!(spread > 0)) return null
  return normalShare(((sharpe - expectedBest) * Math.sqrt(days - 1)) / Math.sqrt(spread))
}

/** Euler and Mascheroni's constant. */
const EULER = 0.5772156649015329

/** The share of a standard normal distribution below `z`, to about 1e-7. */
export const normalShare = (z: number): number => {
  const x = Math.abs(z) / Math.SQRT2
  const t = 1 / (1 + x / 2)
  const tail = t * Math.exp(-x * x + CHEBYSHEV.reduceRight((sum, coefficient) => coefficient + t * sum, 0))
  return z > 0 ? 1 - tail / 2 : tail / 2
}

/** Of the complementary error function (Press et al., Numerical Recipes, erfcc). */
const CHEBYSHEV = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
] as const

/** The z below which this share of a standard normal distribution lies, by halving the interval. */
export const inverseNormal = (share: number): number => {
  let [low, high] = [-Z_MAX, Z_MAX]
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2
    if (normalShare(middle) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

const Z_MAX = 10
const HALVINGS = 60
