import type { CycleInputs } from './cycle.ts'
import type { Holding } from './decision.ts'
import type { ContributorOf } from './intent-payload.ts'
import type { Configuration } from '../config/schema.ts'
import { weightsInForce } from './learning.ts'
import type { Quote } from '../shared/quote.ts'
import { dayFactsOf, markOf, type PriceTrust } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { LatestSignal } from '../signals/latest-signals.ts'
import { authorsForCycle, type AuthorWithLatest } from './authors.ts'
import { isLive } from '../trading/intents.ts'
import { openPositionsOf } from '../trading/book.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { BrainFacts } from './evolve.ts'

/** What the brain is handed of the other rooms: plain data, as of now. */
export const cycleInputsOf = (
  state: BrainFacts,
  context: DecisionContext,
): CycleInputs & { readonly authors: readonly AuthorWithLatest[] } => {
  const { now, configuration } = context
  const trust = priceTrustOf(state, configuration)
  return {
    asOfMs: Date.parse(now),
    symbols: configuration.universe.symbols,
    authors: authorsForCycle(state, now, configuration),
    market: configuration.universe.symbols.map((symbol) => ({
      symbol,
      ...dayFactsOf(state.market, symbol),
      mark: markBy(trust, state, symbol, context)?.price ?? null,
    })),
    regimeBefore: state.brain.regime?.regime ?? null,
    killSwitchLevel: state.trading.killSwitch.level,
    weights: weightsInForce(state.brain.learning, configuration).weights,
    holdings: holdingsOf(state),
    staleness: state.brain.staleness,
  }
}

/** Who is behind the signals of contributors. Looked up only when a cycle wants a trade. */
export const contributorsOfSignals = (authors: readonly AuthorWithLatest[]): ContributorOf => {
  let known: Map<string, LatestSignal> | null = null
  return (signalId) => {
    known ??= postingsOfContributors(authors)
    const signal = known.get(signalId)
    if (signal === undefined || signal.contributorId === null) return null
    return { contributorId: signal.contributorId, nodeId: signal.authorId }
  }
}

const postingsOfContributors = (authors: readonly AuthorWithLatest[]): Map<string, LatestSignal> => {
  const signals = new Map<string, LatestSignal>()
  for (const { author, said } of authors) {
    if (author.kind !== 'contributor') continue
    for (const signal of said) signals.set(signal.id, signal)
  }
  return signals
}

/** The price a decision may be made on; null when nobody told one lately. */
export const markNow = (state: BrainFacts, symbol: string, context: DecisionContext): Quote | null =>
  markBy(priceTrustOf(state, context.configuration), state, symbol, context)

const markBy = (
  trust: PriceTrust,
  { market }: BrainFacts,
  symbol: string,
  { now, prices }: DecisionContext,
): Quote | null => {
  const told = prices?.get(canonicalSymbol(symbol))
  return told === undefined ? markOf(market, symbol, Date.parse(now), trust) : told
}

/** Beside the feed, trusted names may tell prices; where there is no feed, every registered producer. */
export const priceTrustOf = (
  { signals: { producers }, market: { quotes } }: BrainFacts,
  { market }: Configuration,
): PriceTrust => ({
  maxAgeMs: market.max_mark_age_seconds * 1000,
  producers:
    market.feed === 'none' && quotes.size > 0
      ? [...new Set([...producers.registered.keys(), ...market.trusted_price_sources])]
      : market.trusted_price_sources,
})

/** What is open, and what may still open. */
const holdingsOf = (state: BrainFacts): readonly Holding[] => [
  ...openPositionsOf(state.trading).map(({ id, terms }) => ({
    kind: 'position' as const,
    id,
    symbol: terms.asset,
    side: terms.direction,
  })),
  ...[...state.trading.intents.values()]
    .filter(({ status }) => isLive(status))
    .map(({ id, intent }) => ({
      kind: 'intent' as const,
      id,
      symbol: intent.symbol,
      side: intent.direction,
    })),
]
