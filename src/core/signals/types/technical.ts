import type { JsonObject } from '../../shared/json.ts'
import { clamp } from '../../shared/numbers.ts'
import { above, balance, below, numberIn, positiveIn, type Reader } from './reader.ts'

export interface TechnicalRules {
  readonly ta: {
    readonly rsi_neutral: number
    readonly rsi_scale: number
    readonly volume_base: number
    readonly volume_slope: number
    readonly volume_ratio_max: number
    readonly bollinger_factor: number
    readonly ema_fast_scale: number
    readonly ema_slow_scale: number
  }
}

type IndicatorRules = TechnicalRules['ta']

const MIDDLE_BAND = 0.5

export const indicators: Reader<TechnicalRules> = {
  domain: 'technical',
  partsOf: (payload, { ta }) => ({
    rsi: below(numberIn(payload, 'rsi_14'), ta.rsi_neutral, ta.rsi_scale),
    trend: trendIn(payload, ta),
    bollinger: bollingerIn(payload, ta),
    averages: averagesIn(payload, ta),
    // A far resistance and a near support leave room above.
    levels: balance(numberIn(payload, 'resistance_distance'), numberIn(payload, 'support_distance')),
  }),
}

export const orderBook: Reader<TechnicalRules> = {
  domain: 'technical',
  partsOf: (payload) => ({
    imbalance:
      numberIn(payload, 'imbalance') ??
      balance(numberIn(payload, 'bid_depth_usd'), numberIn(payload, 'ask_depth_usd')),
  }),
}

/** A trend counts more with volume behind it. */
const trendIn = (payload: JsonObject, rules: IndicatorRules): number | null => {
  const strength = numberIn(payload, 'trend_strength')
  if (strength === null) return null
  const volumeRatio = Math.max(0, numberIn(payload, 'volume_ratio') ?? 1)
  return strength * (rules.volume_base + rules.volume_slope * Math.min(volumeRatio, rules.volume_ratio_max))
}

const bollingerIn = (payload: JsonObject, rules: IndicatorRules): number | null => {
  const position = numberIn(payload, 'bb_position')
  return position === null ? null : (MIDDLE_BAND - position) * rules.bollinger_factor
}

const averagesIn = (payload: JsonObject, rules: IndicatorRules): number | null => {
  const fast = aheadIn(payload, 'ema_20', 'ema_50', rules.ema_fast_scale)
  const slow = aheadIn(payload, 'ema_50', 'ema_200', rules.ema_slow_scale)
  if (fast === null || slow === null) return fast
  return (clamp(fast) + clamp(slow)) / 2
}

const aheadIn = (payload: JsonObject, shorter: string, longer: string, scale: number): number | null => {
  const shortAverage = positiveIn(payload, shorter)
  const longAverage = positiveIn(payload, longer)
  if (shortAverage === null || longAverage === null) return null
  return above(shortAverage / longAverage, 1, scale)
}
