import { z } from 'zod'
import { number, share } from '../config/sections/kinds.ts'
import type { JsonObject } from '../shared/json.ts'
import { clamp } from '../shared/numbers.ts'
import {
  above,
  balance,
  below,
  neutral,
  numberIn,
  optionalDirection,
  optionalNumber,
  positiveIn,
  scale,
  settingsOf,
  symbol,
  weightedType,
} from './declare.ts'

const settingsOfTa = settingsOf('ta', {
  rsi_neutral: neutral(50, 'RSI that says nothing'),
  rsi_scale: scale(20, 'deviation from neutral for full evidence'),
  volume_base: share(0.75, 'weight of the trend without volume'),
  volume_slope: share(0.25, 'added weight per unit of volume ratio'),
  volume_ratio_max: number(3, { min: 1, max: 100 }, 'volume ratio beyond which nothing is added'),
  bollinger_factor: number(2, { min: 0, max: 100 }, 'evidence per unit of deviation from the middle band'),
  ema_fast_scale: scale(0.02, 'EMA20 over EMA50, deviation for full evidence'),
  ema_slow_scale: scale(0.05, 'EMA50 over EMA200, deviation for full evidence'),
})

type TaSettings = z.infer<typeof settingsOfTa>

/** Indicators of technical analysis. */
export const ta = weightedType({
  name: 'ta',
  domain: 'technical',
  producer: { name: 'technical-analysis', schedule: '*/15 * * * *' },
  payload: z.looseObject({
    symbol,
    rsi_14: optionalNumber,
    ema_20: optionalNumber,
    ema_50: optionalNumber,
    ema_200: optionalNumber,
    bb_position: optionalNumber,
    volume_ratio: optionalNumber,
    trend: optionalDirection,
    trend_strength: optionalNumber,
    support_distance: optionalNumber,
    resistance_distance: optionalNumber,
  }),
  settings: settingsOfTa,
  partsOf: (payload, settings) => ({
    rsi: below(numberIn(payload, 'rsi_14'), settings.rsi_neutral, settings.rsi_scale),
    trend: trendIn(payload, settings),
    bollinger: bollingerIn(payload, settings),
    averages: averagesIn(payload, settings),
    // A distant resistance and a near support leave room for higher prices.
    levels: balance(numberIn(payload, 'resistance_distance'), numberIn(payload, 'support_distance')),
  }),
})

/** A trend counts more with volume behind it. */
const trendIn = (payload: JsonObject, settings: TaSettings): number | null => {
  const strength = numberIn(payload, 'trend_strength')
  if (strength === null) return null
  const volumeRatio = Math.max(0, numberIn(payload, 'volume_ratio') ?? 1)
  return (
    strength *
    (settings.volume_base + settings.volume_slope * Math.min(volumeRatio, settings.volume_ratio_max))
  )
}

const MIDDLE_BAND = 0.5

const bollingerIn = (payload: JsonObject, settings: TaSettings): number | null => {
  const position = numberIn(payload, 'bb_position')
  return position === null ? null : (MIDDLE_BAND - position) * settings.bollinger_factor
}

const averagesIn = (payload: JsonObject, settings: TaSettings): number | null => {
  const fast = aheadIn(payload, 'ema_20', 'ema_50', settings.ema_fast_scale)
  const slow = aheadIn(payload, 'ema_50', 'ema_200', settings.ema_slow_scale)
  if (fast === null || slow === null) return fast
  return (clamp(fast) + clamp(slow)) / 2
}

/** How far the shorter average is above the longer one. */
const aheadIn = (payload: JsonObject, shorter: string, longer: string, unit: number): number | null => {
  const shortAverage = positiveIn(payload, shorter)
  const longAverage = positiveIn(payload, longer)
  if (shortAverage === null || longAverage === null) return null
  return above(shortAverage / longAverage, 1, unit)
}
