import { assert } from '../core/shared/assert.ts'

/** The probability that a standard normal value is at most this one; 15 digits, fewer far out in the tails. */
export const normalCdf = (value: number): number => {
  const scaled = Math.abs(value) / Math.SQRT2
  const tail = scaled < SERIES_MAX ? (1 - errorFunction(scaled)) / 2 : tailFraction(scaled) / 2
  return value < 0 ? tail : 1 - tail
}

/** The value that a standard normal one is below with this probability. */
export const normalQuantile = (probability: number): number => {
  assert(probability > 0 && probability < 1, `${probability} must lie between 0 and 1`)
  // Symmetric, and exact near 0: differences from 1 lose digits.
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
/** The probability beyond it is smaller than any double that is not 0. */
const QUANTILE_MAX = 39
const BISECTIONS = 80

/** 2/√π e^(-x²) (x + 2x³/3 + 4x⁵/15 + …): all terms have one sign, so that nothing is cancelled. */
const errorFunction = (value: number): number => {
  let term = value
  let sum = value
  for (let index = 1; index <= SERIES_TERMS; index += 1) {
    term *= (2 * value * value) / (2 * index + 1)
    sum += term
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-value * value) * sum
}

/** The complement of the error function as a continued fraction, from its far end. */
const tailFraction = (value: number): number => {
  let fraction = value
  for (let index = FRACTION_TERMS; index > 0; index -= 1) fraction = value + index / 2 / fraction
  return Math.exp(-value * value) / (fraction * Math.sqrt(Math.PI))
}
