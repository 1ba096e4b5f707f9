import type { DecisionContext } from '../shared/decision-context.ts'
import { PAPER, type Destination } from './venue-destination.ts'
import { openPositionsOf } from './book.ts'
import type { State } from '../state.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { blockersOf, type Blocker } from './readiness.ts'

/** Orders at venues that may be under way at once; one more is not sent. */
const VENUE_ORDERS_MAX = 500

/** Where an entry in the symbol would go now. */
export const destinationOf = (state: State, symbol: string, moment: DecisionContext): Destination => {
  const { mode, venue: name } = moment.configuration.execution
  if (mode === 'paper') return { kind: 'paper', name: PAPER, isAvailable: !holdsElsewhere(state, PAPER) }
  const steps = state.venue.steps.get(canonicalSymbol(symbol)) ?? null
  const blockers = liveBlockers(state, moment)
  return {
    kind: 'venue',
    name,
    steps,
    isPaperPeriodOver: !blockers.includes('paper_period'),
    isAvailable:
      steps !== null &&
      blockers.every((blocker) => blocker === 'paper_period') &&
      !holdsElsewhere(state, name) &&
      state.orders.open.size < VENUE_ORDERS_MAX,
  }
}

/** Why no entry is sent to the configured venue; empty if they are. */
export const liveBlockers = (
  state: State,
  { now, configuration }: Pick<DecisionContext, 'now' | 'configuration'>,
) =>
  blockersOf(state.venue, {
    now,
    venue: configuration.execution.venue,
    paperDaysMin: configuration.execution.paper_min_days,
    unknownOrders: state.orders.open.count(({ status }) => status === 'unknown'),
  }) satisfies readonly Blocker[]

/** One ledger, one account: what is open in another one has to end first. */
const holdsElsewhere = (state: State, name: string): boolean =>
  state.book.count > 0 && openPositionsOf(state).some(({ terms }) => terms.platform !== name)
