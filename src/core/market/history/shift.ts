import type { HistoryBar } from './series.ts'
import { HOUR_MS } from '../../shared/time.ts'

/** Time offset at which the prices of two series of one coin agree. */
export interface SeriesShift {
  readonly hours: number
  /** Correlation of the hourly returns after the shift; `correlationUnmoved` is that without it. */
  readonly correlation: number
  readonly correlationUnmoved: number
}

/** Largest offset in hours. Time zones reach from UTC+14 (Line Islands) to UTC-12 (Baker Island). */
const HOURS_MAX = 14
const OVERLAP_MIN = 48
const CLEAR = 0.8

/**
 * Whether two series have times in different zones: their hourly returns agree clearly, but only after a shift. Null if
 * they agree without a shift, or if too little can be compared.
 */
export const shiftBetween = (
  one: readonly HistoryBar[],
  other: readonly HistoryBar[],
): SeriesShift | null => {
  const [returns, reference] = [hourlyReturns(one), hourlyReturns(other)]
  const unmoved = correlation(returns, reference, 0) ?? 0
  let best: SeriesShift | null = null
  for (let hours = -HOURS_MAX; hours <= HOURS_MAX; hours += 1) {
    const found = correlation(returns, reference, hours)
    if (hours === 0 || found === null || found < CLEAR || found < unmoved + 0.3) continue
    if (best === null || found > best.correlation) {
      best = { hours, correlation: found, correlationUnmoved: unmoved }
    }
  }
  return best
}

/** Hourly returns by the number of the hour since 1970. */
const hourlyReturns = (bars: readonly HistoryBar[]): ReadonlyMap<number, number> => {
  const closes = new Map<number, number>()
  for (const { openMs, close } of bars) closes.set(Math.floor(openMs / HOUR_MS), close)
  const returns = new Map<number, number>()
  for (const [hour, close] of closes) {
    const before = closes.get(hour - 1)
    if (before !== undefined && before > 0) returns.set(hour, close / before - 1)
  }
  return returns
}

const correlation = (
  one: ReadonlyMap<number, number>,
  other: ReadonlyMap<number, number>,
  hours: number,
): number | null => {
  let [count, sumX, sumY, sumXX, sumYY, sumXY] = [0, 0, 0, 0, 0, 0]
  for (const [hour, x] of one) {
    const y = other.get(hour + hours)
    if (y === undefined) continue
    count += 1
    sumX += x
    sumY += y
    sumXX += x * x
    sumYY += y * y
    sumXY += x * y
  }
  if (count < OVERLAP_MIN) return null
  const spread = Math.sqrt((sumXX - (sumX * sumX) / count) * (sumYY - (sumY * sumY) / count))
  return spread > 0 ? (sumXY - (sumX * sumY) / count) / spread : null
}
