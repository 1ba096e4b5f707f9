import type { CanonicalSymbol, SignalId } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { priceNumberOrNull, type Direction, usdNumber } from '../shared/money.ts'
import { sizeFor } from './decision.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { exitSymbol } from '../trading/positions/exits.ts'
import { markNow } from '../signals/prices.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { liveIntentsOf } from '../trading/orders/intents.ts'
import { equityOf } from '../trading/risk/account.ts'
import { positionsOf } from '../trading/positions/book.ts'
import { isOpenedBy } from '../trading/positions/positions.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { BrainFacts } from './evolve.ts'
import { awaitsApproval } from './payloads.ts'

/** A trade that a strategy proposes. Shares are above 0; the producer of the proposal has checked them. */
export interface Proposal {
  /** The name of the strategy. */
  readonly rule: string
  readonly symbol: string
  /** `flat` closes the positions that this strategy opened. */
  readonly direction: Direction | 'flat'
  /** Decides the size like the brain's effective conviction, unless `sizePct` is given. */
  readonly conviction: number
  /** Notional divided by equity. The Kelly stake does not bound it, but all other limits do. */
  readonly sizePct?: number
  /** Undefined: stop and target of the settings. Null: none. */
  readonly stopPct?: number | null
  readonly targetPct?: number | null
  /** Stop and target as prices; the shares describe them. */
  readonly stopPrice?: number
  readonly targetPrice?: number
  /** Distance at which the stop follows the best price. */
  readonly trailingPct?: number
  readonly reason?: string
  /** Signal with the call of the strategy, which the result of the trade settles. */
  readonly signalId?: SignalId
}

/**
 * Applies the same limits and exits as to the brain's trades. A reversal takes two steps: exit, then entry. A strategy
 * closes only positions that it opened, and enters nothing while another author holds the symbol.
 */
export const proposeTrade = (state: BrainFacts, proposal: Proposal, context: DecisionContext): Decision => {
  const { direction, rule } = proposal
  const symbol = canonicalSymbol(proposal.symbol)
  const positions = positionsOf(state.trading, symbol)
  const isOpposite = positions.some(
    (position) => isOpenedBy(position, rule) && position.terms.direction !== direction,
  )
  if (isOpposite || direction === 'flat') return exitSymbol(state, { symbol, direction, rule }, context)
  if (positions.length > 0 || hasLiveIntent(state, symbol) || state.trading.killSwitch.level >= 2)
    return accept()
  return accept(intentEvent(state, proposal, direction, context))
}

/** Returns the proposal of the strategy `rule` that leads to an intent: the inverse of `intentEvent`. */
export const proposalOfIntent = (rule: string, intent: PayloadOf<'execution.trade_intent.v1'>): Proposal => {
  const { trailing_pct: trailingPct, stop_price: stopPrice, target_price: targetPrice, reason } = intent
  const [signalId] = intent.signal_ids
  return {
    rule,
    symbol: intent.symbol,
    direction: intent.direction,
    conviction: intent.conviction_score,
    stopPct: intent.stop_loss_pct,
    targetPct: intent.take_profit_pct,
    ...(intent.sizing === undefined ? {} : { sizePct: intent.size_pct }),
    ...(trailingPct === undefined ? {} : { trailingPct }),
    ...(stopPrice === undefined ? {} : { stopPrice }),
    ...(targetPrice === undefined ? {} : { targetPrice }),
    ...(reason === undefined ? {} : { reason }),
    ...(signalId === undefined ? {} : { signalId }),
  }
}

const hasLiveIntent = ({ trading: { intents } }: BrainFacts, symbol: CanonicalSymbol): boolean =>
  liveIntentsOf(intents).some(({ intent }) => canonicalSymbol(intent.symbol) === symbol)

const intentEvent = (
  state: BrainFacts,
  proposal: Proposal,
  direction: Direction,
  context: DecisionContext,
): NewEvent => {
  const { rule, symbol, conviction, sizePct, trailingPct, signalId } = proposal
  const { stopPct, targetPct, stopPrice, targetPrice, reason } = proposal
  const { now, configuration } = context
  const { execution } = configuration
  const tier = sizeFor(conviction, configuration)
  const largestPct = Math.min(sizePct ?? tier.sizePct, configuration.risk.max_position_pct)
  const notionalUsd = usdNumber(equityOf(state.trading)) * largestPct
  const awaits = awaitsApproval(tier, { notionalUsd }, configuration)
  const ttlSeconds = awaits ? execution.approval_ttl_seconds : execution.intent_ttl_seconds
  const cycleId = `${rule}:${now}`
  return {
    type: 'execution.trade_intent.v1',
    source: rule,
    traceId: cycleId,
    payload: {
      approval_required: tier.approvalRequired || awaits,
      attribution:
        signalId === undefined
          ? []
          : [{ contributor_id: null, node_id: null, signal_id: signalId, weight: 1 }],
      // There is no conviction event: rule and time identify the proposal.
      conviction_id: cycleId,
      conviction_score: conviction,
      cycle_id: cycleId,
      direction,
      intended_price: priceNumberOrNull(markNow(state, canonicalSymbol(symbol), context)?.price ?? null),
      leverage: tier.leverage,
      rationale: `${rule}: ${direction} ${symbol}${reason === undefined ? '' : `, ${reason}`}`,
      regime: state.brain.regime?.regime ?? 'TRANSITION',
      signal_ids: signalId === undefined ? [] : [signalId],
      size_pct: sizePct ?? tier.sizePct,
      status: awaits ? 'awaiting_approval' : 'ready',
      stop_loss_pct: stopPct === undefined ? execution.stop_loss_pct : stopPct,
      symbol,
      take_profit_pct: targetPct === undefined ? execution.take_profit_pct : targetPct,
      valid_until: timestampAt(Date.parse(now) + ttlSeconds * 1000),
      // Last: what stands behind a copied member takes several times as long.
      ...(reason === undefined ? {} : { reason }),
      ...(sizePct === undefined ? {} : { sizing: 'fixed' as const }),
      ...(trailingPct === undefined ? {} : { trailing_pct: trailingPct }),
      ...(stopPrice === undefined ? {} : { stop_price: stopPrice }),
      ...(targetPrice === undefined ? {} : { target_price: targetPrice }),
    },
  }
}
