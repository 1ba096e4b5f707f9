import { r9 } from '../shared/numbers.ts'
import type { DecidedIntent } from './cycle.ts'

export type ContributorOf = (
  signalId: string,
) => { readonly contributorId: string; readonly nodeId: string } | null

export interface IntentContext {
  readonly cycleId: string
  /** Id of the brain.conviction.v1 event behind it. */
  readonly convictionId: string
  readonly asOfMs: number
  /** Who is behind a signal; null for producers. */
  readonly contributorOf: ContributorOf
  /** What would be sent now; null if that cannot be told, which in live mode counts as large. */
  readonly notionalUsd: number | null
}

export interface IntentRules {
  readonly execution: {
    readonly mode: 'paper' | 'live'
    /** Null: only in live mode. */
    readonly require_approval: boolean | null
    readonly confirmation_threshold_usd: number
    readonly stop_loss_pct: number
    readonly take_profit_pct: number
    readonly intent_ttl_seconds: number
    readonly approval_ttl_seconds: number
  }
}

/** execution.trade_intent.v1 */
export const tradeIntentPayload = (intent: DecidedIntent, context: IntentContext, rules: IntentRules) => {
  const { execution } = rules
  const awaits = awaitsApproval(intent, context, rules)
  const lifetimeSeconds = awaits ? execution.approval_ttl_seconds : execution.intent_ttl_seconds
  // In the order of the names, as in all that a cycle writes.
  return {
    approval_required: intent.approvalRequired || awaits,
    attribution: intent.credits.map(({ signalId, weightBillionths }) => {
      const contributor = context.contributorOf(signalId)
      return {
        contributor_id: contributor?.contributorId ?? null,
        node_id: contributor?.nodeId ?? null,
        signal_id: signalId,
        weight: weightBillionths / 1e9,
      }
    }),
    conviction_id: context.convictionId,
    conviction_score: intent.effectiveConviction,
    cts_score: intent.conviction.ctsScore,
    cycle_id: context.cycleId,
    direction: intent.direction,
    intended_price: intent.intendedPrice,
    leverage: intent.leverage,
    pcs_score: intent.conviction.pcsScore,
    rationale: rationaleOf(intent),
    regime: intent.regime,
    signal_ids: intent.credits.map(({ signalId }) => signalId),
    size_pct: intent.sizePct,
    status: awaits ? ('awaiting_approval' as const) : ('ready' as const),
    stop_loss_pct: execution.stop_loss_pct,
    symbol: intent.symbol,
    take_profit_pct: execution.take_profit_pct,
    valid_until: new Date(context.asOfMs + lifetimeSeconds * 1000).toISOString(),
  }
}

const awaitsApproval = (
  { approvalRequired }: DecidedIntent,
  { notionalUsd }: IntentContext,
  { execution }: IntentRules,
): boolean => {
  const isLive = execution.mode === 'live'
  if (!(execution.require_approval ?? isLive)) return false
  return approvalRequired || (isLive && (notionalUsd ?? Infinity) >= execution.confirmation_threshold_usd)
}

/** One line for people, strongest domain first. */
const rationaleOf = ({ conviction, direction, symbol }: DecidedIntent): string => {
  const pulls = conviction.domains
    .toSorted((one, other) => Math.abs(other.contribution) - Math.abs(one.contribution))
    .map(
      ({ domain, contribution }) => `${domain} ${contribution < 0 ? '' : '+'}${r9(contribution).toFixed(3)}`,
    )
  const strength = conviction.effectiveConviction.toFixed(1)
  return `${direction} ${symbol} with conviction ${strength} in ${conviction.regime}: ${pulls.join(', ')}; counter-thesis ${conviction.ctsScore.toFixed(1)}`
}
