import { evolveBrain } from '../core/brain/evolve.ts'
import { proposeTrade, type Proposal } from '../core/brain/propose-trade.ts'
import { recordOutcome } from '../core/brain/run-learning.ts'
import type { KnownEvent, NewEvent } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import { stamp, type RunResult } from '../core/run.ts'
import { intentId } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import type { Decision } from '../core/shared/decision.ts'
import type { State } from '../core/state.ts'
import { equityOf, evolveRisk } from '../core/trading/risk/account.ts'
import { enterKnown } from '../core/trading/orders/entries.ts'
import type { TradingState } from '../core/trading/evolve.ts'
import { liveIntentsOf, newIntent } from '../core/trading/orders/intents.ts'
import { evolveLedger } from '../core/trading/risk/ledger.ts'
import { withFillCounted } from '../core/trading/orders/orders.ts'
import { evolvePortfolio, withExitDone } from '../core/trading/positions/portfolio.ts'
import { evolveVenue } from '../core/trading/venue/venue.ts'
import { accrueShares } from '../core/treasury/accrue.ts'
import { isRiskNews } from './quiet-risk.ts'

/** The events of a proposal and of all that follows from it, and the state after them. */
export type TradedAtOnce = Extract<RunResult, { readonly status: 'accepted' }>

/**
 * A proposal that becomes a whole entry or exit on paper, or nothing. The deciders are those of the engine, and so are
 * the events, but they are folded together: nobody looks at the states between them, nor at orders and intents that have
 * ended, which are left out. Null if anything else follows from it, as from an order that rests, a call that is settled
 * or a kill switch that moves: then nothing has happened yet.
 */
export const tradedAtOnce = (
  state: State,
  proposal: Proposal,
  context: DecisionContext,
): TradedAtOnce | null => {
  const { orders, intents } = state.trading
  if (orders.open.size > 0 || liveIntentsOf(intents).length > 0) return null
  const decided = eventsOf(proposeTrade(state, proposal, context))
  if (decided === null) return null
  if (decided.length === 0) return { status: 'accepted', state, events: [] }
  return decided.length === 1 ? entered(state, decided, context) : left(state, decided, context)
}

const entered = (
  state: State,
  [wanted]: readonly NewEvent[],
  context: DecisionContext,
): TradedAtOnce | null => {
  const { trading, brain } = state
  const intended = wanted === undefined ? null : stampedOf([wanted], state.seq, context)
  if (intended === null || !isOf(intended[0], 'execution.trade_intent.v1')) return null
  const [proposed] = intended
  // Its call would be bound to the position.
  if (proposed.payload.signal_ids.length > 0) return null
  const intent = newIntent(intentId(proposed.id), proposed.payload)
  const risk = riskBefore(trading, proposed)
  const { market, signals } = state
  const facts = { trading: withRisk(trading, risk), market, signals }
  const decided = eventsOf(enterKnown(facts, intent, context))
  if (decided?.length !== ENTRY_EVENTS) return null
  const [submitted, filled, opened] = stampedOf(decided, proposed.seq, context)
  if (
    !isOf(submitted, 'execution.order_submitted.v1') ||
    !isOf(filled, 'execution.order_filled.v1') ||
    !isOf(opened, 'execution.position_opened.v1') ||
    filled.payload.remaining_size > 0
  )
    return null
  const { positions, book } = evolvePortfolio(trading, opened)
  const { killSwitch, intents, cycles, leaderToken } = trading
  const after: TradingState = {
    killSwitch,
    intents,
    orders: withFillCounted(trading.orders, submitted.payload, filled.payload),
    venue: evolveVenue(trading.venue, opened),
    positions,
    book,
    ledger: evolveLedger(trading.ledger, filled, trading.positions),
    risk,
    cycles,
    leaderToken,
  }
  const events = [proposed, submitted, filled, opened] as unknown as readonly Stamped[]
  return assessed(state, { trading: after, brain: evolveBrain(brain, opened) }, events, context)
}

const left = (state: State, decided: readonly NewEvent[], context: DecisionContext): TradedAtOnce | null => {
  const { trading, reputation, treasury, brain } = state
  if (decided.length !== EXIT_EVENTS) return null
  const [submitted, filled, closed] = stampedOf(decided, state.seq, context)
  if (
    !isOf(submitted, 'execution.order_submitted.v1') ||
    !isOf(filled, 'execution.order_filled.v1') ||
    !isOf(closed, 'execution.position_closed.v1') ||
    closed.payload.mode === 'live' ||
    reputation.calls.ofPosition.has(closed.payload.position_id)
  )
    return null
  const { positions, book } = withExitDone(
    trading,
    submitted.payload,
    filled.payload,
    closed.payload,
    closed.ts,
  )
  const { killSwitch, intents, venue, cycles, leaderToken } = trading
  const after: TradingState = {
    killSwitch,
    intents,
    orders: withFillCounted(trading.orders, submitted.payload, filled.payload),
    venue,
    positions,
    book,
    ledger: evolveLedger(evolveLedger(trading.ledger, filled, trading.positions), closed, trading.positions),
    risk: riskBefore(trading, submitted),
    cycles,
    leaderToken,
  }
  const ended = evolveBrain(brain, closed)
  const outcomes = eventsOf(recordOutcome(ended.learning, positions, closed.payload, context.now)) ?? []
  const [outcome] = stampedOf(outcomes, closed.seq, context)
  if (!isOf(outcome, 'learning.outcome.v1')) return null
  if (eventsOf(accrueShares({ treasury, brain: ended }, closed.payload, context))?.length !== 0) return null
  const events = [submitted, filled, closed, outcome] as unknown as readonly Stamped[]
  return assessed(state, { trading: after, brain: evolveBrain(ended, outcome) }, events, context)
}

/** Order, fill and position. */
const ENTRY_EVENTS = 3
const EXIT_EVENTS = 3

const assessed = (
  before: State,
  { trading, brain }: Pick<State, 'trading' | 'brain'>,
  events: readonly Stamped[],
  { now, configuration }: DecisionContext,
): TradedAtOnce | null => {
  if (isRiskNews(trading, now, configuration)) return null
  const { market, signals, reputation, treasury, operations } = before
  // Written out, like all that a trade changes: copies take several times as long.
  const state: State = {
    seq: before.seq + events.length,
    recordedAt: now,
    decidedAt: now,
    standsAt: null,
    market,
    signals,
    trading,
    reputation,
    brain,
    treasury,
    operations,
  }
  return { status: 'accepted', state, events }
}

const withRisk = (trading: TradingState, risk: TradingState['risk']): TradingState => {
  const { killSwitch, intents, orders, venue, positions, book, ledger, cycles, leaderToken } = trading
  return { killSwitch, intents, orders, venue, positions, book, ledger, risk, cycles, leaderToken }
}

const eventsOf = (decision: Decision): readonly NewEvent[] | null =>
  decision.status === 'accepted' ? decision.events : null

const stampedOf = (
  events: readonly NewEvent[],
  seq: number,
  context: DecisionContext,
): readonly KnownEvent[] =>
  events.map((event, index) => stamp(event, seq + 1 + index, context) as unknown as KnownEvent)

const isOf = <Type extends KnownEvent['type']>(
  event: KnownEvent | undefined,
  type: Type,
): event is Extract<KnownEvent, { readonly type: Type }> => event?.type === type

/** As the first event of a batch leaves it. */
const riskBefore = (trading: TradingState, first: KnownEvent): TradingState['risk'] =>
  evolveRisk(trading.risk, first, { equity: equityOf(trading), hasTraded: trading.ledger.hasTraded })
