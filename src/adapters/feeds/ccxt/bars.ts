import type { FeedBar } from '../../../core/market/bar.ts'
import type { Candle } from './candles.ts'
import type { SideValues } from './side-values.ts'
import { cents } from './values.ts'

export interface BarContext {
  readonly symbol: string
  readonly resolutionSeconds: number
  readonly backfill: boolean
  readonly side: SideValues
}

export const barOf = (
  candle: Candle,
  { symbol, resolutionSeconds, backfill, side }: BarContext,
): FeedBar => ({
  symbol,
  resolution_s: resolutionSeconds,
  open_ts: new Date(candle.openMs).toISOString(),
  close_ts: new Date(candle.openMs + resolutionSeconds * 1000).toISOString(),
  open: candle.open,
  high: candle.high,
  low: candle.low,
  close: candle.close,
  volume: candle.volume,
  quote_volume: quoteVolumeOf(candle),
  funding_annualized: side.funding_annualized,
  basis_annualized: side.basis_annualized,
  open_interest_usd: side.open_interest_usd,
  bid_depth_usd: side.bid_depth_usd,
  ask_depth_usd: side.ask_depth_usd,
  fear_greed: null,
  backfill,
})

/** Candles tell only units: their value follows from the typical price, which lies between lowest and highest. */
const quoteVolumeOf = ({ high, low, close, volume }: Candle): number =>
  cents((volume * (high + low + close)) / 3)
