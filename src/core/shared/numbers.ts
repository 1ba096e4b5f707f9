import { assert } from './assert.ts'

/** From this size on a double is coarser than 1e-9, and the multiplication below could overflow. */
const COARSE = 2 ** 23

const BILLION = 1e9

/** How ratios and scores are stored: nine decimals, half away from zero, never -0. */
export const r9 = (value: number): number => {
  const size = Math.abs(value)
  if (size >= COARSE) return value
  const rounded = Math.round(size * BILLION)
  return rounded === 0 ? 0 : (Math.sign(value) * rounded) / BILLION
}

/** Into [-1, 1]. */
export const clamp = (value: number): number => Math.max(-1, Math.min(1, value))

/** Into [0, 1]. */
export const clamp01 = (value: number): number => Math.max(0, Math.min(1, value))

/**
 * `powerOfTwo` and `naturalLog` replace functions of `Math`. Apart from plain arithmetic only `Math.sqrt` gives the
 * same result everywhere: the last digit of the other functions depends on the build of Node and may differ between x64
 * and arm64. The fold needs identical results, because a log is also read on other machines than those that wrote it.
 * These functions use only operations that all processors round alike.
 */

/** 2 to this power. */
export const powerOfTwo = (exponent: number): number => {
  if (exponent === 0) return 1
  if (exponent < -EXPONENT_MAX) return 0
  // The message is built only on failure: this runs for every pair of authors.
  if (!(exponent <= EXPONENT_MAX)) assert(false, `2 to the power of ${exponent} must be a number`)
  const whole = Math.round(exponent)
  const rest = (exponent - whole) * Math.LN2
  // 1 + x + x²/2 + x³/6 + …, from its far end.
  let power = 1
  for (let term = POWER_TERMS; term > 0; term -= 1) power = 1 + (rest / term) * power
  for (let left = whole; left > 0; left -= 1) power *= 2
  for (let left = whole; left < 0; left += 1) power /= 2
  return power
}

export const naturalLog = (value: number): number => {
  // The message is built only on failure, as above.
  if (!(value > 0 && value < Infinity)) assert(false, `${value} must have a logarithm`)
  let doublings = 0
  let rest = value
  for (; rest > Math.SQRT2; rest /= 2) doublings += 1
  for (; rest < Math.SQRT1_2; rest *= 2) doublings -= 1
  // 2 (x + x³/3 + x⁵/5 + …) with x = (rest - 1) / (rest + 1), from its far end.
  const part = (rest - 1) / (rest + 1)
  let sum = 0
  for (let term = LOG_TERMS; term >= 0; term -= 1) sum = 1 / (2 * term + 1) + part * part * sum
  return 2 * part * sum + doublings * Math.LN2
}

/** Larger exponents would give infinity. Exponents below the negative give zero. */
const EXPONENT_MAX = 1023
/** Terms of the series. The terms after them are smaller than the last digit of a double. */
const POWER_TERMS = 16
const LOG_TERMS = 12
