import { assert } from '../core/shared/assert.ts'

export interface EquityCurve {
  readonly start: number
  /** Equity at the end of each day. */
  readonly days: readonly number[]
}

/** Key figures of a run. `uniform` draws the signs: from 0, below 1. */
export const statisticsOf = (curve: EquityCurve, uniform: () => number) => {
  const returns = dailyReturnsOf(curve)
  return {
    totalReturn: totalReturnOf(curve),
    sharpe: sharpeOf(returns),
    pValue: signFlipPValue(returns, uniform),
  }
}

export const totalReturnOf = ({ start, days }: EquityCurve): number => returnOf(start, days.at(-1) ?? start)

export const dailyReturnsOf = ({ start, days }: EquityCurve): readonly number[] =>
  days.map((equity, day) => returnOf(days[day - 1] ?? start, equity))

/** 0 for an empty account. */
const returnOf = (before: number, after: number): number => (before > 0 ? after / before - 1 : 0)

/** Annualised over 365 days; 0 without variance. */
export const sharpeOf = (returns: readonly number[]): number =>
  dailySharpeOf(returns) * Math.sqrt(DAYS_PER_YEAR)

/** Not annualised; 0 without variance. */
const dailySharpeOf = (returns: readonly number[]): number => {
  const deviation = deviationOf(returns)
  return deviation === 0 ? 0 : meanOf(returns) / deviation
}

/** Mean over the deviation of the losses, annualised; null where no day lost. */
export const sortinoOf = (returns: readonly number[]): number | null => {
  const downside = Math.sqrt(meanOf(returns.map((value) => Math.min(0, value) ** 2)))
  return downside === 0 ? null : (meanOf(returns) / downside) * Math.sqrt(DAYS_PER_YEAR)
}

export const volatilityOf = (returns: readonly number[]): number =>
  deviationOf(returns) * Math.sqrt(DAYS_PER_YEAR)

/** The constant growth per year that leads from the first value to the last. -1 if the account lost everything. */
export const annualGrowthOf = (totalReturn: number, days: number): number =>
  totalReturn <= -1 ? -1 : (1 + totalReturn) ** (DAYS_PER_YEAR / days) - 1

/** Figures of daily returns that the probabilistic Sharpe ratio needs. */
export interface ReturnShape {
  readonly days: number
  /** Sharpe ratio, not annualised. */
  readonly sharpe: number
  /** The third and fourth standardised moments; 0 and 3 for a normal distribution, and without variance. */
  readonly skewness: number
  readonly kurtosis: number
}

export const shapeOf = (returns: readonly number[]): ReturnShape => {
  const mean = meanOf(returns)
  const deviation = deviationOf(returns)
  const standardised = (power: number): number =>
    meanOf(returns.map((value) => ((value - mean) / deviation) ** power))
  const shape =
    deviation === 0 ? { skewness: 0, kurtosis: 3 } : { skewness: standardised(3), kurtosis: standardised(4) }
  return { days: returns.length, sharpe: dailySharpeOf(returns), ...shape }
}

/**
 * The probability that the true daily Sharpe ratio is above `benchmark`, given length and shape of the returns: Bailey
 * and López de Prado, The Sharpe Ratio Efficient Frontier (2012). Null with fewer than two days, or if the estimated
 * variance is not positive.
 */
export const sharpeProbability = (
  { days, sharpe, skewness, kurtosis }: ReturnShape,
  benchmark: number,
): number | null => {
  const variance = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe
  if (days < 2 || !(variance > 0)) return null
  return normalCdf(((sharpe - benchmark) * Math.sqrt(days - 1)) / Math.sqrt(variance))
}

/** Null also if the returns have no variance. */
export const probabilisticSharpeOf = (returns: readonly number[], benchmark = 0): number | null =>
  deviationOf(returns) === 0 ? null : sharpeProbability(shapeOf(returns), benchmark)

/** Tried variants of a strategy, of which this run is one. */
export interface Trials {
  readonly count: number
  /** Variance of the daily Sharpe ratios of all trials; null where only their number is known. */
  readonly variance: number | null
}

/**
 * The probabilistic Sharpe ratio against the best ratio that as many trials without an edge would have shown: Bailey
 * and López de Prado, The Deflated Sharpe Ratio (2014). If the variance of the trials is unknown, the variance of an
 * estimate over as many days is used.
 */
export const deflatedSharpeOf = (returns: readonly number[], { count, variance }: Trials): number | null =>
  probabilisticSharpeOf(returns, bestOfTrials(count, variance ?? 1 / Math.max(1, returns.length - 1)))

/** The expected maximum of `count` normal values: the best Sharpe ratio of as many trials without an edge. */
export const bestOfTrials = (count: number, variance: number): number => {
  if (count <= 1) return 0
  const largest =
    (1 - EULER_GAMMA) * normalQuantile(1 - 1 / count) + EULER_GAMMA * normalQuantile(1 - 1 / (count * Math.E))
  return Math.sqrt(variance) * largest
}

/** p-value of a sign-flip test: the share of random sign flips of the daily returns with at least the same sum. */
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
export const DAYS_PER_YEAR = 365
const EULER_GAMMA = 0.577_215_664_901_532_9
/** Sums of the same numbers in another order differ by up to this much. */
const ROUNDING = 1e-12

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : sumOf(values) / values.length

/** Standard deviation of the population, not of a sample. 0 if all values are equal, however their sum is rounded. */
const deviationOf = (values: readonly number[]): number => {
  const [first] = values
  if (values.every((value) => value === first)) return 0
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) * (value - mean))))
}

/** Between the two nearest of the sorted values, in proportion. */
export const quantileOf = (sorted: ArrayLike<number>, share: number): number => {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** The largest fall from a peak, as a part of that peak. */
export const drawdownOf = ({ start, days }: EquityCurve): number => {
  let peak = start
  let deepest = 0
  for (const equity of days) {
    peak = Math.max(peak, equity)
    if (peak > 0) deepest = Math.max(deepest, 1 - equity / peak)
  }
  return deepest
}

/**
 * The probability that a standard normal value is at most this one. It has 15 digits, and fewer far out in the tails.
 */
export const normalCdf = (value: number): number => {
  const scaled = Math.abs(value) / Math.SQRT2
  const tail = scaled < SERIES_MAX ? (1 - errorFunction(scaled)) / 2 : tailFraction(scaled) / 2
  return value < 0 ? tail : 1 - tail
}

/** The value below which a standard normal value lies with this probability. */
export const normalQuantile = (probability: number): number => {
  assert(probability > 0 && probability < 1, `${probability} must lie between 0 and 1`)
  // Uses the symmetry, which is exact near 0: differences from 1 lose digits.
  if (probability > 0.5) return -normalQuantile(1 - probability)
  let low = -QUANTILE_MAX
  let high = 0
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}

const SERIES_MAX = 3
const SERIES_TERMS = 60
const FRACTION_TERMS = 60
/** The probability beyond this value is smaller than any double other than 0. */
const QUANTILE_MAX = 39
const BISECTIONS = 80

/** 2/√π e^(-x²) (x + 2x³/3 + 4x⁵/15 + …). All terms have one sign, so that no digits cancel. */
const errorFunction = (value: number): number => {
  let term = value
  let sum = value
  for (let index = 1; index <= SERIES_TERMS; index += 1) {
    term *= (2 * value * value) / (2 * index + 1)
    sum += term
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-value * value) * sum
}

/** The complement of the error function as a continued fraction, computed from its far end. */
const tailFraction = (value: number): number => {
  let fraction = value
  for (let index = FRACTION_TERMS; index > 0; index -= 1) fraction = value + index / 2 / fraction
  return Math.exp(-value * value) / (fraction * Math.sqrt(Math.PI))
}
