import { BollingerBands } from 'trading-signals'
import { clamp01 } from '../../../core/shared/numbers.ts'

/**
 * Wilder's index: the first averages are means, later ones move by one part of the period. Null until there are as many
 * changes as the period has. The library's own takes forty times as long and calls prices that never moved overbought.
 */
export const relativeStrengthOf = (closes: readonly number[], period: number): number | null => {
  if (closes.length <= period) return null
  let gain = 0
  let loss = 0
  for (let index = 1; index < closes.length; index += 1) {
    const change = (closes[index] ?? 0) - (closes[index - 1] ?? 0)
    const kept = index > period ? 1 - 1 / period : 1
    gain = gain * kept + Math.max(change, 0) / period
    loss = loss * kept + Math.max(-change, 0) / period
  }
  return gain + loss === 0 ? BALANCE : 100 * (gain / (gain + loss))
}

/**
 * Exponential average, seeded by the mean of the first closes. The library seeds with the first close alone, which
 * lingers.
 */
export const exponentialAverageOf = (closes: readonly number[], period: number): number | null => {
  if (closes.length < period) return null
  const weight = 2 / (period + 1)
  let sum = 0
  for (let index = 0; index < period; index += 1) sum += closes[index] ?? 0
  let average = sum / period
  for (let index = period; index < closes.length; index += 1)
    average += weight * ((closes[index] ?? 0) - average)
  return average
}

/** Position of the last close between the bands: 0 at the lower, 1 at the upper one. Null if they have no width. */
export const bandPositionOf = (
  closes: readonly number[],
  { period, deviations }: { readonly period: number; readonly deviations: number },
): number | null => {
  const recent = closes.slice(-period)
  const close = recent.at(-1)
  // Rounding could give equal closes a tiny width.
  if (close === undefined || recent.length < period || isFlat(recent)) return null
  const indicator = new BollingerBands(period, deviations)
  for (const price of recent) indicator.add(price)
  const bands = indicator.getResult()
  if (bands === null || bands.upper <= bands.lower) return null
  return clamp01((close - bands.lower) / (bands.upper - bands.lower))
}

/** Ratio of the last value to the mean of the last values, itself included. Null if all are zero. */
export const ratioToMeanOf = (values: readonly number[], period: number): number | null => {
  const recent = values.slice(-period)
  const last = recent.at(-1)
  if (last === undefined || recent.length < period) return null
  const mean = meanOf(recent)
  return mean > 0 ? last / mean : null
}

const BALANCE = 50

const isFlat = (closes: readonly number[]): boolean => closes.every((close) => close === closes[0])

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
