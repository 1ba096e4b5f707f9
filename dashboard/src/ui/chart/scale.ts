import type { AutoscaleInfo } from 'lightweight-charts'

/** Labels that a scale may have between its ends. */
const LABELS_MAX = 10
const RANGE_SHARE_MIN = 0.0002

/** Widens the scale of an almost flat line, so that its labels differ. */
export const widened = (
  info: AutoscaleInfo | null,
  format: (value: number) => string,
): AutoscaleInfo | null => {
  if (info === null || info.priceRange === null) return info
  const { minValue, maxValue } = info.priceRange
  const middle = (minValue + maxValue) / 2
  const least = leastRange(middle, format)
  if (maxValue - minValue >= least) return info
  return { ...info, priceRange: { minValue: middle - least / 2, maxValue: middle + least / 2 } }
}

/** Wide enough that no two labels read the same, whatever the numbers and their format. */
const leastRange = (middle: number, format: (value: number) => string): number => {
  let range = Math.max(Math.abs(middle) * RANGE_SHARE_MIN, Number.EPSILON)
  // Doubled from the smallest to the largest number there is: it ends.
  while (repeatsALabel(middle, range, format) && range < Number.MAX_VALUE / 2) range *= 2
  return range
}

const repeatsALabel = (middle: number, range: number, format: (value: number) => string): boolean => {
  const labels = Array.from({ length: LABELS_MAX }, (_, index) =>
    format(middle - range / 2 + (range * index) / (LABELS_MAX - 1)),
  )
  return new Set(labels).size < labels.length
}
