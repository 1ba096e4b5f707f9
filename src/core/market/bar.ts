import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { priceFrom, priceNumber, returnOf, type Price } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { isTimestamp } from '../shared/time.ts'

/** A bar as a feed reports it, not validated yet: see `barFaultOf`. */
export type FeedBar = Omit<NewPayload<'market.bar.v1'>, 'feed'>

type BarPrices = 'open' | 'high' | 'low' | 'close'

/** A bar of the log. */
export type StoredBar = Omit<PayloadOf<'market.bar.v1'>, 'feed' | BarPrices> &
  Readonly<Record<BarPrices, Price>>

export const storedBar = ({ feed: _feed, ...bar }: PayloadOf<'market.bar.v1'>): StoredBar => ({
  ...bar,
  open: priceFrom(bar.open),
  high: priceFrom(bar.high),
  low: priceFrom(bar.low),
  close: priceFrom(bar.close),
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
): BarFault | null => {
  if (!isSoundBar(bar)) return 'invalid'
  const openMs = Date.parse(bar.open_ts)
  const lengthMs = bar.resolution_s * 1000
  if (openMs % lengthMs !== 0 || Date.parse(bar.close_ts) !== openMs + lengthMs) return 'off_grid'
  if (openMs + lengthMs > nowMs + SKEW_MS_MAX) return 'in_future'
  if (last === null || openMs >= Date.parse(last.close_ts)) return null
  return bar.open_ts === last.open_ts ? 'repeated' : 'out_of_order'
}

/** Relative distance of two prices. */
export const moveBetween = (from: Price, to: Price): number => r9(Math.abs(returnOf(from, to)))

const isSoundBar = (bar: FeedBar): boolean => {
  const { open, high, low, close, volume, quote_volume } = bar
  return (
    Number.isSafeInteger(bar.resolution_s) &&
    bar.resolution_s > 0 &&
    isTimestamp(bar.open_ts) &&
    isTimestamp(bar.close_ts) &&
    [open, high, low, close].every(isPrice) &&
    low <= Math.min(open, close) &&
    high >= Math.max(open, close) &&
    isAmount(volume) &&
    isAmount(quote_volume) &&
    [bar.open_interest_usd, bar.bid_depth_usd, bar.ask_depth_usd].every(
      (value) => value === null || isAmount(value),
    ) &&
    [bar.funding_annualized, bar.basis_annualized].every(
      (value) => value === null || Number.isFinite(value),
    ) &&
    (bar.fear_greed === null || (bar.fear_greed >= 0 && bar.fear_greed <= 100))
  )
}

/** A price that rounds to zero cannot be traded on. */
const isPrice = (value: number): boolean => value > 0 && value <= PRICE_MAX && priceFrom(value) > 0n

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0
