import type { KnownEvent } from '../events/catalogue.ts'
import type { Market } from '../market/evolve.ts'
import type { SignalsState } from '../signals/evolve.ts'
import type { TradingState } from '../trading/evolve.ts'
import { evolveCalls, INITIAL_CALLS, type Calls } from './calls.ts'
import { contributionsOf, type ContributionRules, type Contributions } from './contribution.ts'
import { evolveFeedback, INITIAL_FEEDBACK, type FeedbackLedger } from './feedback.ts'
import { evolveOutcomes, INITIAL_OUTCOMES, type Outcomes } from './outcomes.ts'
import { evolveOverlaps, NO_OVERLAPS, type Overlaps } from './overlaps.ts'

export interface ReputationState {
  readonly calls: Calls
  readonly outcomes: Outcomes
  readonly overlaps: Overlaps
  readonly feedback: FeedbackLedger
}

/** State that reputation reads: its own, prices, authors, and the trades that calls led to. */
export interface ReputationFacts {
  readonly reputation: ReputationState
  readonly market: Market
  readonly signals: SignalsState
  readonly trading: TradingState
}

export const INITIAL_REPUTATION: ReputationState = {
  calls: INITIAL_CALLS,
  outcomes: INITIAL_OUTCOMES,
  overlaps: NO_OVERLAPS,
  feedback: INITIAL_FEEDBACK,
}

export const evolveReputation = (state: ReputationState, event: KnownEvent): ReputationState => ({
  calls: evolveCalls(state.calls, event),
  outcomes: evolveOutcomes(state.outcomes, event, state.calls),
  overlaps: evolveOverlaps(state.overlaps, event, (author) => state.outcomes.edges.get(author)?.sum ?? 0),
  feedback: evolveFeedback(state.feedback, event),
})

/** Contribution of each author, from its whole record. */
export const contributionsIn = (
  { outcomes: { edges }, overlaps }: ReputationState,
  rules: ContributionRules,
): Contributions => {
  const known = computed.get(overlaps)
  if (known !== undefined && known.edges === edges && known.rules === rules) return known.contributions
  const contributions = contributionsOf({ edges, overlaps }, rules)
  computed.set(overlaps, { edges, rules, contributions })
  return contributions
}

/**
 * Cached, because it takes long with many pairs: repeated reads must not compute it again while nothing has changed.
 */
const computed = new WeakMap<
  Overlaps,
  {
    readonly edges: Outcomes['edges']
    readonly rules: ContributionRules
    readonly contributions: Contributions
  }
>()
