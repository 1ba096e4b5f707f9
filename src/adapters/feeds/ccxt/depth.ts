import { cents, memberOf, positiveOf } from './values.ts'

export interface Depth {
  readonly mid: number
  readonly bidUsd: number
  readonly askUsd: number
}

/**
 * What stands in the book within half a percent of its middle, in USD. It is what the venue shows: the sum of a book that
 * was cut off before that is a lower bound. Null for a book with an empty side.
 */
export const depthOf = (book: unknown): Depth | null => {
  const bids = levelsOf(memberOf(book, 'bids'))
  const asks = levelsOf(memberOf(book, 'asks'))
  if (bids.length === 0 || asks.length === 0) return null
  // Not the first ones: the library sorts prices that are text as text.
  const bestBid = bids.reduce((best, { price }) => Math.max(best, price), 0)
  const bestAsk = asks.reduce((best, { price }) => Math.min(best, price), Number.POSITIVE_INFINITY)
  const mid = (bestBid + bestAsk) / 2
  return {
    mid,
    bidUsd: cents(sumUsd(bids.filter(({ price }) => price >= mid * (1 - BAND)))),
    askUsd: cents(sumUsd(asks.filter(({ price }) => price <= mid * (1 + BAND)))),
  }
}

const BAND = 0.005

interface Level {
  readonly price: number
  readonly amount: number
}

const levelsOf = (side: unknown): readonly Level[] =>
  (Array.isArray(side) ? (side as readonly unknown[]) : []).flatMap((entry) => {
    const [price, amount] = (Array.isArray(entry) ? entry : []).map(positiveOf)
    return typeof price === 'number' && typeof amount === 'number' ? [{ price, amount }] : []
  })

const sumUsd = (levels: readonly Level[]): number =>
  levels.reduce((sum, { price, amount }) => sum + price * amount, 0)
