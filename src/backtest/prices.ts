import type { FeedBar } from '../core/market/bar.ts'
import type { CanonicalSymbol } from '../core/shared/brand.ts'
import { priceFrom } from '../core/shared/money.ts'
import type { Quote } from '../core/shared/quote.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'

/** Prices at which orders can be filled now; null where a symbol has none. */
export type Prices = ReadonlyMap<CanonicalSymbol, Quote | null>

/** A symbol without a bar now cannot be traded now. */
export const pricesAtOpen = (
  symbols: readonly string[],
  bars: readonly FeedBar[],
  openMs: number,
): Prices => {
  const prices = new Map<CanonicalSymbol, Quote | null>(
    symbols.map((symbol) => [canonicalSymbol(symbol), null]),
  )
  for (const { symbol, open } of bars)
    prices.set(canonicalSymbol(symbol), { price: priceFrom(open), atMs: openMs })
  return prices
}

export const NO_PRICES: Prices = new Map()
