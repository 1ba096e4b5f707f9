import type { Map as PersistentMap } from 'immutable'
import type { CanonicalSymbol, Timestamp } from '../../shared/brand.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import { priceNumber, ratioOf, type Price } from '../../shared/money.ts'
import type { Quote } from '../../shared/quote.ts'
import { exchangeOf } from '../../shared/sandbox.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { omsEvent } from '../orders/oms-event.ts'

// Real orders are decided on prices of a feed, which must be those of the venue that the orders go to.

/** Prices that the venue last reported. */
export interface Quoted {
  readonly venue: string
  readonly at: Timestamp
  readonly prices: PersistentMap<CanonicalSymbol, Price>
}

/** Reasons why the configured feed does not match the venue. */
export type FeedBlocker = 'feed_simulated' | 'feed_file' | 'feed_other_venue'

/** Blockers of one symbol: no recent price, no recent quote of the venue, or a different price there. */
export type PriceBlocker = 'price_old' | 'quote_old' | 'price_differs'

/** Returns why the configured feed does not provide the prices of the venue, or null. */
export const feedBlockerOf = (
  { feed, exchange }: { readonly feed: string; readonly exchange: string },
  venue: string,
): FeedBlocker | null => {
  if (feed === 'simulated') return 'feed_simulated'
  if (feed === 'file') return 'feed_file'
  // Without a feed, trusted producers report prices, which are compared with the venue like any other.
  return feed === 'ccxt' && exchange !== exchangeOf(venue) ? 'feed_other_venue' : null
}

export interface PriceLimits {
  readonly now: Timestamp
  readonly venue: string
  readonly ageMsMax: number
  readonly differenceMax: number
}

/** Blocker of a symbol by its price, or null if entries may be decided on it. */
export const priceBlockerOf = (
  quoted: Quoted | null,
  symbol: CanonicalSymbol,
  mark: Quote | null,
  { now, venue, ageMsMax, differenceMax }: PriceLimits,
): PriceBlocker | null => {
  const nowMs = Date.parse(now)
  if (mark === null || nowMs - mark.atMs > ageMsMax) return 'price_old'
  const price = quoted?.venue === venue ? quoted.prices.get(symbol) : undefined
  if (quoted === null || price === undefined || nowMs - Date.parse(quoted.at) > QUOTE_AGE_MS_MAX)
    return 'quote_old'
  return Math.abs(ratioOf(mark.price, price) - 1) > differenceMax ? 'price_differs' : null
}

export interface VenueQuotes {
  readonly venue: string
  readonly quotes: readonly { readonly symbol: string; readonly price: Price }[]
}

/** Records quotes when a price has moved by a part of the allowed difference, and often enough to stay current. */
export const recordVenueQuotes = (
  quoted: Quoted | null,
  { venue, quotes }: VenueQuotes,
  { now, differenceMax }: { readonly now: Timestamp; readonly differenceMax: number },
): Decision => {
  if (quotes.length === 0) return accept()
  const isCurrent =
    quoted !== null &&
    quoted.venue === venue &&
    Date.parse(now) - Date.parse(quoted.at) < QUOTE_EVERY_MS &&
    quoted.prices.size === quotes.length &&
    quotes.every(({ symbol, price }) => {
      const known = quoted.prices.get(canonicalSymbol(symbol))
      return known !== undefined && Math.abs(ratioOf(price, known) - 1) <= differenceMax * MOVE_SHARE
    })
  if (isCurrent) return accept()
  const payload = {
    venue,
    quotes: quotes.map(({ symbol, price }) => ({
      symbol: canonicalSymbol(symbol),
      price: priceNumber(price),
    })),
  }
  return accept(omsEvent('execution.venue_quoted.v1', payload))
}

const QUOTE_EVERY_MS = 120_000
const MOVE_SHARE = 0.25
/** Older quotes are not used. */
const QUOTE_AGE_MS_MAX = 300_000
