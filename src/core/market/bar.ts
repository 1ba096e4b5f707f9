import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { timestampOf, type CanonicalSymbol } from '../shared/brand.ts'
import { priceFrom, priceNumber, returnOf, roundsToPrice, type Price } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { exactMs, msOf } from '../shared/time.ts'

/** A bar as a feed reports it, not validated yet: see `barFaultOf`. */
export type FeedBar = Omit<NewPayload<'market.bar.v1'>, 'feed'>

type BarPrices = 'open' | 'high' | 'low' | 'close'

/** A bar of the log. */
export type StoredBar = Omit<PayloadOf<'market.bar.v1'>, 'feed' | BarPrices> &
  Readonly<Record<BarPrices, Price>>

/** Spelled out, because every bar passes here and spreading an object takes several times as long. */
export const storedBar = (bar: FeedBar): StoredBar => ({
  symbol: bar.symbol,
  resolution_s: bar.resolution_s,
  open_ts: timestampOf(bar.open_ts),
  close_ts: timestampOf(bar.close_ts),
  open: priceFrom(bar.open),
  high: priceFrom(bar.high),
  low: priceFrom(bar.low),
  close: priceFrom(bar.close),
  volume: bar.volume,
  quote_volume: bar.quote_volume,
  funding_annualized: bar.funding_annualized,
  basis_annualized: bar.basis_annualized,
  open_interest_usd: bar.open_interest_usd,
  bid_depth_usd: bar.bid_depth_usd,
  ask_depth_usd: bar.ask_depth_usd,
  fear_greed: bar.fear_greed,
  backfill: bar.backfill,
})

/** A valid bar in the form in which the fold and the deciders read it. */
export interface ObservedBar {
  readonly symbol: CanonicalSymbol
  /** Name of the feed. */
  readonly feed: string
  readonly openMs: number
  readonly closeMs: number
  readonly bar: StoredBar
}

export const observedBar = (bar: FeedBar, feed: string): ObservedBar =>
  observedAt(bar, feed, { openMs: msOf(timestampOf(bar.open_ts)), closeMs: msOf(timestampOf(bar.close_ts)) })

/** When a bar opens and closes; no numbers where a text is no time. */
interface BarTimes {
  readonly openMs: number
  readonly closeMs: number
}

/** Times of a bar from outside, which must have the form that we write. */
export const exactTimesOf = ({ open_ts, close_ts }: FeedBar): BarTimes => ({
  openMs: exactMs(open_ts),
  closeMs: exactMs(close_ts),
})

/** Like `observedBar`, for a bar whose times are known. */
export const observedAt = (bar: FeedBar, feed: string, { openMs, closeMs }: BarTimes): ObservedBar => ({
  symbol: canonicalSymbol(bar.symbol),
  feed,
  openMs,
  closeMs,
  bar: storedBar(bar),
})

/** The bar in the form in which the feed reported it. */
export const reportedBar = (bar: StoredBar): FeedBar => ({
  ...bar,
  open: priceNumber(bar.open),
  high: priceNumber(bar.high),
  low: priceNumber(bar.low),
  close: priceNumber(bar.close),
})

/** Reasons to refuse a bar. */
export type BarFault = 'invalid' | 'off_grid' | 'repeated' | 'out_of_order' | 'in_future' | 'price_jump'

/** Clocks of venues may differ from ours by this much. */
const SKEW_MS_MAX = 5000

/** Largest accepted price. A higher one is a unit error. */
const PRICE_MAX = 1e12

/** Returns null for a valid bar. Price jumps are checked in `decideMarket`. */
export const barFaultOf = (
  bar: FeedBar,
  last: Pick<FeedBar, 'open_ts' | 'close_ts'> | null,
  nowMs: number,
  { openMs, closeMs }: BarTimes = exactTimesOf(bar),
): BarFault | null => {
  if (!isSoundBar(bar)) return 'invalid'
  if (Number.isNaN(openMs) || Number.isNaN(closeMs)) return 'invalid'
  const lengthMs = bar.resolution_s * 1000
  if (openMs % lengthMs !== 0 || closeMs !== openMs + lengthMs) return 'off_grid'
  if (openMs + lengthMs > nowMs + SKEW_MS_MAX) return 'in_future'
  if (last === null || openMs >= msOf(timestampOf(last.close_ts))) return null
  return bar.open_ts === last.open_ts ? 'repeated' : 'out_of_order'
}

/** Relative distance of two prices. */
export const moveBetween = (from: Price, to: Price): number => r9(Math.abs(returnOf(from, to)))

const isSoundBar = (bar: FeedBar): boolean => {
  const { open, high, low, close } = bar
  return (
    Number.isSafeInteger(bar.resolution_s) &&
    bar.resolution_s > 0 &&
    isPrice(open) &&
    isPrice(high) &&
    isPrice(low) &&
    isPrice(close) &&
    low <= Math.min(open, close) &&
    high >= Math.max(open, close) &&
    isAmount(bar.volume) &&
    isAmount(bar.quote_volume) &&
    (bar.open_interest_usd === null || isAmount(bar.open_interest_usd)) &&
    (bar.bid_depth_usd === null || isAmount(bar.bid_depth_usd)) &&
    (bar.ask_depth_usd === null || isAmount(bar.ask_depth_usd)) &&
    (bar.funding_annualized === null || Number.isFinite(bar.funding_annualized)) &&
    (bar.basis_annualized === null || Number.isFinite(bar.basis_annualized)) &&
    (bar.fear_greed === null || (bar.fear_greed >= 0 && bar.fear_greed <= 100))
  )
}

/** A price that rounds to zero cannot be traded on. */
const isPrice = (value: number): boolean => value > 0 && value <= PRICE_MAX && roundsToPrice(value)

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0
