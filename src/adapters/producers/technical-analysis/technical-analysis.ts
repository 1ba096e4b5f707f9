import { priceNumber } from '../../../core/shared/money.ts'
import type { DIRECTIONS } from '../../../core/signal-types/declare.ts'
import type { AnalysisBar } from '../../../core/market/evolve.ts'
import type { MarketView, SymbolView } from '../../../core/market/readings.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { clamp, r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow } from '../../../ports/producer.ts'
import { symbolProducer } from '../../produced-rows.ts'
import { bandPositionOf, exponentialAverageOf, ratioToMeanOf, relativeStrengthOf } from './indicators.ts'

const TYPE = 'signal.ta.v1'

const RSI_PERIOD = 14
const BANDS = { period: 20, deviations: 2 } as const
const VOLUME_PERIOD = 20
const LEVEL_BARS = 50
/** A trend of this many standard deviations of a bar counts as the strongest. */
const FULL_TREND_SIGMAS = 4
const TREND_THRESHOLD = 0.1
/** Maximum age of a symbol's last close. An older one describes another market, whatever the other symbols do. */
const AGE_BARS_MAX = 2

const rowOf = (symbol: SymbolView, market: MarketView): ProducedRow | null => {
  const payload = isRecent(symbol, market) ? payloadOf(symbol) : null
  return payload === null ? null : { type: TYPE, payload }
}

export const technicalAnalysis = symbolProducer(
  'technical-analysis',
  rowOf,
  `no symbol has ${RSI_PERIOD + 1} analysis bars up to now`,
)

const isRecent = ({ analysisBars }: SymbolView, { asOfMs, analysisBarSeconds }: MarketView): boolean => {
  const last = analysisBars.at(-1)
  const barMs = analysisBarSeconds * 1000
  return last !== undefined && asOfMs - (last.openMs + barMs) <= AGE_BARS_MAX * barMs
}

/** Null until there is enough history for the first indicator. */
const payloadOf = ({ symbol, analysisBars, variance }: SymbolView): JsonObject | null => {
  const closes = closesOf(analysisBars)
  const close = closes.at(-1)
  const rsi = relativeStrengthOf(closes, RSI_PERIOD)
  if (close === undefined || rsi === null) return null
  const ema20 = exponentialAverageOf(closes, 20)
  const ema50 = exponentialAverageOf(closes, 50)
  const volumes = analysisBars.slice(-VOLUME_PERIOD).map((bar) => bar.volume)
  const trendStrength = trendStrengthOf({ ema20, ema50, close, variance })
  return known({
    symbol,
    rsi_14: r9(rsi),
    ema_20: asPrice(ema20),
    ema_50: asPrice(ema50),
    ema_200: asPrice(exponentialAverageOf(closes, 200)),
    bb_position: asRatio(bandPositionOf(closes, BANDS)),
    volume_ratio: asRatio(ratioToMeanOf(volumes, VOLUME_PERIOD)),
    trend: trendStrength === null ? null : trendOf(trendStrength),
    trend_strength: trendStrength,
    ...levelDistancesOf(analysisBars, close),
  })
}

/** Closes as numbers. All but the newest were computed in the previous call, and a bar always has the same history. */
const closesOf = (bars: readonly AnalysisBar[]): readonly number[] => {
  const [before, newest] = [bars.at(-2), bars.at(-1)]
  if (before === undefined || newest === undefined) return bars.map((bar) => priceNumber(bar.close))
  const same = closesUpTo.get(newest)
  if (same?.length === bars.length) return same
  const earlier = closesUpTo.get(before)
  const isKnown = earlier !== undefined && earlier.length >= bars.length - 1
  const closes = isKnown
    ? earlier.slice(earlier.length - (bars.length - 1))
    : bars.slice(0, -1).map((bar) => priceNumber(bar.close))
  closes.push(priceNumber(newest.close))
  closesUpTo.delete(before)
  closesUpTo.set(newest, closes)
  return closes
}

/** Closes by the last of the bars. */
const closesUpTo = new WeakMap<AnalysisBar, readonly number[]>()

const trendStrengthOf = ({
  ema20,
  ema50,
  close,
  variance,
}: {
  readonly ema20: number | null
  readonly ema50: number | null
  readonly close: number
  readonly variance: number | null
}): number | null => {
  if (ema20 === null || ema50 === null || variance === null || !(variance > 0)) return null
  return r9(clamp((ema20 - ema50) / close / (FULL_TREND_SIGMAS * Math.sqrt(variance))))
}

const trendOf = (strength: number): (typeof DIRECTIONS)[number] => {
  if (strength >= TREND_THRESHOLD) return 'bullish'
  return strength <= -TREND_THRESHOLD ? 'bearish' : 'neutral'
}

/** Distance of the close from the lowest low and the highest high, as shares of the close. */
const levelDistancesOf = (bars: readonly AnalysisBar[], close: number) => {
  if (bars.length < LEVEL_BARS) return { support_distance: null, resistance_distance: null }
  let { low, high } = bars.at(-1) as AnalysisBar
  for (let index = bars.length - LEVEL_BARS; index < bars.length; index += 1) {
    const bar = bars[index] as AnalysisBar
    if (bar.low < low) low = bar.low
    if (bar.high > high) high = bar.high
  }
  return {
    support_distance: r9((close - priceNumber(low)) / close),
    resistance_distance: r9((priceNumber(high) - close) / close),
  }
}

const asRatio = (value: number | null): number | null => (value === null ? null : r9(value))

/** Nine decimals would cut the price of a coin that costs a millionth; twelve digits never do. */
const asPrice = (value: number | null): number | null =>
  value === null ? null : Number(value.toPrecision(12))

const known = (members: Readonly<Record<string, number | string | null>>): JsonObject => {
  const said: Record<string, number | string> = {}
  for (const name in members) {
    const value = members[name] ?? null
    if (value !== null) said[name] = value
  }
  return said
}
