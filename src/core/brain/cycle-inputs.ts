import { markNow } from '../signals/prices.ts'
import { priceNumberOrNull } from '../shared/money.ts'
import type { CycleInputs } from './cycle.ts'
import type { Holding } from './decision.ts'
import type { ContributorOf } from './intent-payload.ts'
import { weightsInForce } from './learning.ts'
import { dayFactsOf } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { LatestSignal } from '../signals/latest-signals.ts'
import { authorsForCycle, type AuthorWithLatest } from './authors.ts'
import { isLive } from '../trading/intents.ts'
import { openPositionsOf } from '../trading/portfolio.ts'
import type { BrainFacts } from './evolve.ts'

/** What the brain is handed of the other rooms: plain data, as of now. */
export const cycleInputsOf = (
  state: BrainFacts,
  context: DecisionContext,
): CycleInputs & { readonly authors: readonly AuthorWithLatest[] } => {
  const { now, configuration } = context
  return {
    asOfMs: Date.parse(now),
    symbols: configuration.universe.symbols,
    authors: authorsForCycle(state, now, configuration),
    market: configuration.universe.symbols.map((symbol) => ({
      symbol,
      ...dayFactsOf(state.market, symbol),
      mark: priceNumberOrNull(markNow(state, symbol, context)?.price ?? null),
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
