import type { DecisionContext } from '../shared/decision-context.ts'
import { PAPER, type Destination } from './venue-destination.ts'
import { openPositionsOf } from './book.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { blockersOf, type Blocker } from './readiness.ts'
import type { TradingFacts } from './evolve.ts'

/** Orders at venues that may be under way at once; one more is not sent. */
const VENUE_ORDERS_MAX = 500

/** Where an entry in the symbol would go now. */
export const destinationOf = (facts: TradingFacts, symbol: string, context: DecisionContext): Destination => {
  const { mode, venue: name } = context.configuration.execution
  if (mode === 'paper') return { kind: 'paper', name: PAPER, isAvailable: !holdsElsewhere(facts, PAPER) }
  const steps = facts.trading.venue.steps.get(canonicalSymbol(symbol)) ?? null
  const blockers = liveBlockers(facts, context)
  return {
    kind: 'venue',
    name,
    steps,
    isPaperPeriodOver: !blockers.includes('paper_period'),
    isAvailable:
      steps !== null &&
      blockers.every((blocker) => blocker === 'paper_period') &&
      !holdsElsewhere(facts, name) &&
      facts.trading.orders.open.size < VENUE_ORDERS_MAX,
  }
}

/** Why no entry is sent to the configured venue; empty if they are. */
export const liveBlockers = (
  facts: TradingFacts,
  { now, configuration }: Pick<DecisionContext, 'now' | 'configuration'>,
) =>
  blockersOf(facts.trading.venue, {
    now,
    venue: configuration.execution.venue,
    paperDaysMin: configuration.execution.paper_min_days,
    unknownOrders: facts.trading.orders.open.count(({ status }) => status === 'unknown'),
  }) satisfies readonly Blocker[]

/** One ledger, one account: what is open in another one has to end first. */
const holdsElsewhere = (facts: TradingFacts, name: string): boolean =>
  facts.trading.book.count > 0 && openPositionsOf(facts.trading).some(({ terms }) => terms.platform !== name)
