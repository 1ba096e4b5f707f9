import type { CycleInputs } from './cycle.ts'
import type { Holding } from './decision.ts'
import type { ContributorOf } from './intent-payload.ts'
import type { Configuration } from '../config/schema.ts'
import { weightsInForce } from './learning.ts'
import type { Quote } from '../market/market.ts'
import { dayFactsOf, markOf, type PriceTrust } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { LatestSignal } from '../signals/latest-signals.ts'
import { authorsForBrain, type AuthorWithSignals } from './authors.ts'
import { isLive } from '../trading/intents.ts'
import { openPositionsOf } from '../trading/book.ts'
import type { State } from '../state.ts'
import { canonicalSymbol } from '../shared/symbol.ts'

/** What the brain is handed of the other rooms: plain data, as of now. */
export const cycleInputsOf = (
  state: State,
  moment: DecisionContext,
): CycleInputs & { readonly voices: readonly AuthorWithSignals[] } => {
  const { now, configuration } = moment
  const trust = priceTrustOf(state, configuration)
  return {
    asOfMs: Date.parse(now),
    symbols: configuration.universe.symbols,
    voices: authorsForBrain(state, now, configuration),
    market: configuration.universe.symbols.map((symbol) => ({
      symbol,
      ...dayFactsOf(state.market, symbol),
      mark: markBy(trust, state, symbol, moment)?.price ?? null,
    })),
    regimeBefore: state.mind.regime?.regime ?? null,
    killSwitchLevel: state.killSwitch.level,
    weights: weightsInForce(state.learning, configuration).weights,
    holdings: holdingsOf(state),
    staleness: state.mind.staleness,
  }
}

/** Who is behind the signals of contributors. Looked up only when a cycle wants a trade. */
export const contributorsOfSignals = (voices: readonly AuthorWithSignals[]): ContributorOf => {
  let known: Map<string, LatestSignal> | null = null
  return (signalId) => {
    known ??= postingsOfContributors(voices)
    const posting = known.get(signalId)
    if (posting === undefined || posting.contributorId === null) return null
    return { contributorId: posting.contributorId, nodeId: posting.authorId }
  }
}

const postingsOfContributors = (voices: readonly AuthorWithSignals[]): Map<string, LatestSignal> => {
  const postings = new Map<string, LatestSignal>()
  for (const { author, said } of voices) {
    if (author.kind !== 'contributor') continue
    for (const posting of said) postings.set(posting.id, posting)
  }
  return postings
}

/** The price a decision may be made on; null when nobody told one lately. */
export const markNow = (state: State, symbol: string, moment: DecisionContext): Quote | null =>
  markBy(priceTrustOf(state, moment.configuration), state, symbol, moment)

const markBy = (
  trust: PriceTrust,
  { market }: State,
  symbol: string,
  { now, prices }: DecisionContext,
): Quote | null => {
  const told = prices?.get(canonicalSymbol(symbol))
  return told === undefined ? markOf(market, symbol, Date.parse(now), trust) : told
}

/** Beside the feed, trusted names may tell prices; where there is no feed, every registered producer. */
export const priceTrustOf = (
  { producers, market: { quotes } }: State,
  { market }: Configuration,
): PriceTrust => ({
  maxAgeMs: market.max_mark_age_seconds * 1000,
  producers:
    market.feed === 'none' && quotes.size > 0
      ? [...new Set([...producers.registered.keys(), ...market.trusted_price_sources])]
      : market.trusted_price_sources,
})

/** What is open, and what may still open. */
const holdingsOf = (state: State): readonly Holding[] => [
  ...openPositionsOf(state).map(({ id, terms }) => ({
    kind: 'position' as const,
    id,
    symbol: terms.asset,
    side: terms.direction,
  })),
  ...[...state.intents.values()]
    .filter(({ status }) => isLive(status))
    .map(({ id, intent }) => ({
      kind: 'intent' as const,
      id,
      symbol: intent.symbol,
      side: intent.direction,
    })),
]
