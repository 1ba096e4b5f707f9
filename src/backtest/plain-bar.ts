import type { FeedBar } from '../core/market/bar.ts'

/** Whether a bar would be taken without a question, by stricter limits than those of the market. */
export const isPlainBar = (bar: FeedBar, lengthMs: number, lastClose: number, moveMax: number): boolean => {
  const { open, high, low, close } = bar
  return (
    bar.resolution_s * 1000 === lengthMs &&
    low >= PRICE_MIN &&
    high < PRICE_MAX &&
    open >= low &&
    open <= high &&
    close >= low &&
    close <= high &&
    isNear(open, lastClose, moveMax) &&
    isNear(close, lastClose, moveMax) &&
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

/** Between these, a price in whole units is exact as a plain number. */
const PRICE_MIN = 1e-6
const PRICE_MAX = 1e6

const isNear = (price: number, last: number, moveMax: number): boolean =>
  Math.abs(price / last - 1) < moveMax * NEARLY

/** Rounding must not matter. */
const NEARLY = 0.999

const isAmount = (value: number): boolean => value >= 0 && value < Infinity
