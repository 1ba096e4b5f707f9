import {
  bestOfTrials,
  meanOf,
  sharpeProbability,
  signFlipPValue,
  sumOf,
  type ReturnShape,
} from '../statistics.ts'

/**
 * The p-value of a report, extended below the smallest that its draws can show by Hoeffding's bound for the same test:
 * random signs reach this sum with at most this probability. Without it, no trial could survive the correction for many
 * trials.
 */
export const sharpened = (pValue: number, returns: readonly number[]): number => {
  if (pValue > SMALLEST_DRAWN) return pValue
  const sum = sumOf(returns)
  const squares = sumOf(returns.map((value) => value * value))
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
 * Bailey and López de Prado (2014): the probability that the true Sharpe ratio is above the best ratio that as many
 * trials without an edge would show. Null if the data do not determine it.
 */
export const deflatedSharpe = (
  shape: ReturnShape,
  sharpesOfTrials: readonly number[],
  trials: number,
): number | null => {
  const mean = meanOf(sharpesOfTrials)
  const variance = meanOf(sharpesOfTrials.map((value) => (value - mean) ** 2))
  return sharpeProbability(shape, bestOfTrials(trials, variance))
}
