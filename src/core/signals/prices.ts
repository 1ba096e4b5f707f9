import type { Configuration } from '../config/schema.ts'
import type { Market } from '../market/evolve.ts'
import { markOf, type PriceTrust } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { Quote } from '../shared/quote.ts'
import { msOf } from '../shared/time.ts'
import type { CanonicalSymbol } from '../shared/brand.ts'
import type { SignalsState } from './evolve.ts'

interface PriceFacts {
  readonly market: Market
  readonly signals: SignalsState
}

/** The price on which a decision may be made; null if there is no recent one. */
export const markNow = (facts: PriceFacts, symbol: CanonicalSymbol, context: DecisionContext): Quote | null =>
  markReader(facts, context)(symbol)

/** Like `markNow`, for many symbols: the trusted sources are computed once. */
export const markReader = (
  facts: PriceFacts,
  { now, prices, configuration }: Pick<DecisionContext, 'now' | 'prices' | 'configuration'>,
): ((symbol: CanonicalSymbol) => Quote | null) => {
  const trust = priceTrustOf(facts, configuration)
  return (symbol) => {
    const given = prices?.get(symbol)
    return given === undefined ? markOf(facts.market, symbol, msOf(now), trust) : given
  }
}

/** Price sources beside the feed: the trusted ones; without a feed, every registered producer. */
export const priceTrustOf = (
  { market: { quotes }, signals: { producers } }: PriceFacts,
  { market }: Configuration,
): PriceTrust => ({
  maxAgeMs: market.max_mark_age_seconds * 1000,
  producers:
    market.feed === 'none' && quotes.size > 0
      ? [...new Set([...producers.registered.keys(), ...market.trusted_price_sources])]
      : market.trusted_price_sources,
})
