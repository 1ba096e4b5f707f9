import type { CanonicalSymbol } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { priceNumberOrNull } from '../shared/money.ts'
import { sizeFor } from './decision.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { exitSymbol } from '../trading/exits.ts'
import { markNow } from '../signals/prices.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { liveIntentsOf } from '../trading/intents.ts'
import { positionsOf } from '../trading/book.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { Direction } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { BrainFacts } from './evolve.ts'

/** A trade proposed by a simple rule, as a benchmark for the brain. */
export interface Proposal {
  /** The name of the rule. */
  readonly rule: string
  readonly symbol: string
  readonly direction: Direction
  /** Decides the size, as the brain's effective conviction does. */
  readonly conviction: number
}

/** Same sizes, limits and exits as for the brain's trades. A reversal takes two steps: exit, then entry. */
export const proposeTrade = (state: BrainFacts, proposal: Proposal, context: DecisionContext): Decision => {
  const { direction } = proposal
  const symbol = canonicalSymbol(proposal.symbol)
  const positions = positionsOf(state.trading, symbol)
  if (positions.some(({ terms }) => terms.direction !== direction))
    return exitSymbol(state, { symbol, direction }, context)
  if (positions.length > 0 || hasLiveIntent(state, symbol) || state.trading.killSwitch.level >= 2)
    return accept()
  return accept(intentEvent(state, proposal, context))
}

const hasLiveIntent = ({ trading: { intents } }: BrainFacts, symbol: CanonicalSymbol): boolean =>
  liveIntentsOf(intents).some(({ intent }) => canonicalSymbol(intent.symbol) === symbol)

const intentEvent = (
  state: BrainFacts,
  { rule, symbol, direction, conviction }: Proposal,
  context: DecisionContext,
): NewEvent => {
  const { now, configuration } = context
  const { execution } = configuration
  const { sizePct, leverage, approvalRequired } = sizeFor(conviction, configuration)
  const cycleId = `${rule}:${now}`
  return {
    type: 'execution.trade_intent.v1',
    source: rule,
    traceId: cycleId,
    payload: {
      approval_required: approvalRequired,
      attribution: [],
      // There is no conviction event: rule and time identify the proposal.
      conviction_id: cycleId,
      conviction_score: conviction,
      cycle_id: cycleId,
      direction,
      intended_price: priceNumberOrNull(markNow(state, canonicalSymbol(symbol), context)?.price ?? null),
      leverage,
      rationale: `${rule}: ${direction} ${symbol}`,
      regime: state.brain.regime?.regime ?? 'TRANSITION',
      signal_ids: [],
      size_pct: sizePct,
      status: 'ready',
      stop_loss_pct: execution.stop_loss_pct,
      symbol,
      take_profit_pct: execution.take_profit_pct,
      valid_until: timestampAt(Date.parse(now) + execution.intent_ttl_seconds * 1000),
    },
  }
}
