import { createDraws } from '../../src/adapters/feeds/simulated/draws.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'

/** Between two orders: 1 the same, -1 the opposite. Equal values share their mean rank. */
export const spearman = (ones: readonly number[], others: readonly number[]): number =>
  pearson(ranksOf(ones), ranksOf(others))

/**
 * Two-sided p-value of a sign test: the probability that coin flips split as many cases at least as unevenly. Ties are
 * left out.
 */
export const signTest = (differences: readonly number[]): number => {
  const ups = differences.filter((difference) => difference > 0).length
  const downs = differences.filter((difference) => difference < 0).length
  const count = ups + downs
  if (count === 0) return 1
  let tail = 0
  for (let fewer = 0; fewer <= Math.min(ups, downs); fewer += 1) {
    tail += Math.exp(logChoose(count, fewer) - count * Math.LN2)
  }
  return Math.min(1, 2 * tail)
}

/**
 * Two-sided: how often the same differences with random signs have a mean at least as far from 0. It judges the mean, as the
 * claim about returns does, and assumes no distribution: if learning changes nothing, either sign is as likely. The same
 * differences give the same number.
 */
export const signFlipTest = (differences: readonly number[]): number => {
  const seen = Math.abs(sumOf(differences))
  const draws = createDraws(1, 1, 'sign flips', sha256Hex)
  let asFar = 1
  for (let flip = 1; flip < FLIPS; flip += 1) {
    let sum = 0
    for (const difference of differences) sum += draws.next() < HALF ? difference : -difference
    if (Math.abs(sum) >= seen * (1 - ROUNDING)) asFar += 1
  }
  return asFar / FLIPS
}

/** The differences as they are count as one of them. */
const FLIPS = 100_000
const HALF = 2 ** 31
/** Largest difference between sums of equal numbers in another order. */
const ROUNDING = 1e-9

export interface Interval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** The mean, and where it lies with 95 % certainty. */
export const intervalOf = (values: readonly number[]): Interval => {
  const mean = meanOf(values)
  const variance =
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1)
  const reach = 1.96 * Math.sqrt(variance / Math.max(1, values.length))
  return { mean, low: mean - reach, high: mean + reach }
}

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : sumOf(values) / values.length

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

const ranksOf = (values: readonly number[]): readonly number[] => {
  const sorted = values.toSorted((one, other) => one - other)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}

const pearson = (ones: readonly number[], others: readonly number[]): number => {
  const [one, other] = [meanOf(ones), meanOf(others)]
  let together = 0
  let spread = 0
  let otherSpread = 0
  for (const [index, value] of ones.entries()) {
    const [left, right] = [value - one, (others[index] ?? Number.NaN) - other]
    together += left * right
    spread += left ** 2
    otherSpread += right ** 2
  }
  return together / Math.sqrt(spread * otherSpread)
}

const logChoose = (count: number, chosen: number): number => {
  let log = 0
  for (let index = 1; index <= chosen; index += 1) log += Math.log((count - chosen + index) / index)
  return log
}
