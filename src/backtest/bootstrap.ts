import { annualGrowthOf, drawdownOf, quantileOf, sharpeOf, totalReturnOf } from './statistics.ts'

export type Interval = readonly [low: number, high: number]

/** Intervals that contain the figure in 95 of 100 resamplings of the same days. */
export type ConfidenceIntervals = ReturnType<typeof confidenceIntervalsOf>

/**
 * The stationary bootstrap of Politis and Romano (1994): blocks of consecutive days of random length, so that the
 * resampled series keeps effects that last for several days. `days` is the length of the run in days.
 */
export const confidenceIntervalsOf = (returns: readonly number[], days: number, uniform: () => number) => {
  const blockDays = blockLengthOf(returns.length)
  const cagr: number[] = []
  const sharpe: number[] = []
  const maxDrawdown: number[] = []
  for (let count = 0; count < RESAMPLES; count += 1) {
    const sample = resampled(returns, blockDays, uniform)
    const curve = curveOf(sample)
    cagr.push(annualGrowthOf(totalReturnOf(curve), days))
    sharpe.push(sharpeOf(sample))
    maxDrawdown.push(drawdownOf(curve))
  }
  return {
    level: LEVEL,
    resamples: RESAMPLES,
    /** Mean length of the blocks. */
    block_days: blockDays,
    cagr: intervalOf(cagr),
    sharpe: intervalOf(sharpe),
    max_drawdown: intervalOf(maxDrawdown),
  }
}

const RESAMPLES = 1000
const LEVEL = 0.95

/** The cube root of the length, because the best block length grows at that rate. */
const blockLengthOf = (count: number): number => Math.max(1, Math.round(Math.cbrt(count)))

/**
 * The same number of values, drawn in blocks whose lengths are geometric with this mean. The series is treated as a
 * circle.
 */
export const resampled = (
  values: readonly number[],
  blockLength: number,
  uniform: () => number,
): readonly number[] => {
  const sample: number[] = []
  let place = 0
  while (sample.length < values.length) {
    const isNewBlock = sample.length === 0 || uniform() < 1 / blockLength
    place = isNewBlock ? Math.floor(uniform() * values.length) : (place + 1) % values.length
    sample.push(values[place] ?? 0)
  }
  return sample
}

const curveOf = (returns: readonly number[]) => {
  let equity = 1
  return { start: 1, days: returns.map((value) => (equity *= 1 + value)) }
}

const intervalOf = (values: readonly number[]): Interval => {
  const sorted = values.toSorted((one, other) => one - other)
  return [quantileOf(sorted, (1 - LEVEL) / 2), quantileOf(sorted, (1 + LEVEL) / 2)]
}
