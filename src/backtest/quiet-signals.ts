import { decide } from '../core/decide.ts'
import { asKnown, type KnownEvent, type NewEvent } from '../core/events/catalogue.ts'
import { callsOfSignals } from '../core/reputation/open-call.ts'
import { evolveReputation, type ReputationFacts, type ReputationState } from '../core/reputation/evolve.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { stamp } from '../core/run.ts'
import { assert } from '../core/shared/assert.ts'
import { timestampOf } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { priceFrom } from '../core/shared/money.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { priceWs } from '../core/signal-types/price-ws.ts'
import { decideSignals } from '../core/signals/decide.ts'
import { evolveSignals, type SignalsState } from '../core/signals/evolve.ts'
import type { ProducerReport } from '../core/signals/producer-runs.ts'
import { evolve, type State } from '../core/state.ts'

/** As the deciders see it, but the market is folded only if one of them asks for it. */
export const unfolded = (state: () => State, market: () => State['market']): ReputationFacts => ({
  get market() {
    return market()
  },
  get signals() {
    return state().signals
  },
  get reputation() {
    return state().reputation
  },
  get trading() {
    return state().trading
  },
})

/** After so many events of signals. Written out: this runs for most of them, and a copy takes several times as long. */
export const withSignals = (
  before: State,
  count: number,
  signals: SignalsState,
  reputation: ReputationState,
): State => ({
  seq: before.seq + count,
  recordedAt: before.recordedAt,
  decidedAt: before.decidedAt,
  standsAt: before.standsAt,
  market: before.market,
  signals,
  trading: before.trading,
  reputation,
  brain: before.brain,
  treasury: before.treasury,
  operations: before.operations,
})

/** What the signals of a run change. */
interface AfterSignals {
  readonly signals: SignalsState
  readonly reputation: ReputationState
  /** How many events they would have been. */
  readonly count: number
}

/**
 * Signals as the deciders take them, folded only where they leave something: with the signals and with reputation. Null
 * if more may follow from them.
 */
export const afterSignals = (
  facts: ReputationFacts,
  report: ProducerReport,
  context: DecisionContext,
): AfterSignals | null => {
  const decision = decideSignals(
    facts,
    { kind: 'run-producer', report },
    context,
    callsOfSignals(facts, context),
  )
  if (decision.status === 'refused' || !decision.events.every(isFoldedHere)) return null
  let { signals, reputation } = facts
  for (const wanted of decision.events) {
    // No fold of these looks at the place in the log.
    const event = asKnown(stamp(wanted, 0, context)) as KnownEvent
    signals = evolveSignals(signals, event)
    // Signals themselves and runs are no matter of reputation.
    if (event.type === 'attribution.recorded.v1') reputation = evolveReputation(reputation, event)
  }
  return { signals, reputation, count: decision.events.length }
}

/** A price would be looked at by those who trade. */
const isFoldedHere = ({ type }: NewEvent): boolean =>
  type === 'attribution.recorded.v1' ||
  type === 'producer.run.v1' ||
  (type.startsWith('signal.') && type !== priceWs.type)

/** The calls that quiet bars decide change what authors are worth, and nothing else follows from them. */
export const afterSettling = (before: State, bars: readonly FeedBar[], context: DecisionContext): State => {
  let state = before
  for (const { symbol, close, close_ts } of bars) {
    const bar = {
      symbol: canonicalSymbol(symbol),
      close: priceFrom(close),
      closeTs: timestampOf(close_ts),
    }
    const decision = decide(state, { kind: 'settle-bar', bar }, context)
    assert(decision.status === 'accepted', 'calls that a bar decides are settled')
    for (const event of decision.events) state = evolve(state, stamp(event, state.seq + 1, context))
  }
  return state
}
