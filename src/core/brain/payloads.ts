import type { Configuration } from '../config/schema.ts'
import { priceNumberOrNull } from '../shared/money.ts'
import type { Timestamp, SignalId, ContributorId, NodeId } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { r9 } from '../shared/numbers.ts'
import { type Conviction, TIMEFRAME } from './conviction.ts'
import type { CycleResult, DecidedConviction, DecidedIntent } from './cycle.ts'
import type { RegimeChange, RegimeReading } from './regime.ts'

export interface CycleContext {
  readonly cycleId: string
  readonly trigger: 'api' | 'schedule' | 'cli' | 'backtest'
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly weightsVersion: number
  readonly configHash: string
  readonly engineVersion: string
  readonly asOf?: Timestamp | undefined
  readonly awaited?: PayloadOf<'brain.cycle.v1'>['awaited']
}

// Members are in alphabetical order: canonical JSON then needs no sorting, which is measurably faster.

/** brain.conviction.v1 */
export const convictionPayload = (
  conviction: DecidedConviction,
  { cycleId, sha256Hex }: { readonly cycleId: string; readonly sha256Hex: Sha256Hex },
) => ({
  commitment_hash: sha256Hex(commitmentText(conviction)),
  confidence: conviction.confidence,
  // `explain` recomputes the conviction from the stored event alone, with these members.
  counter_thesis: {
    basis_annualized: shown(conviction.gauges.basis),
    funding_annualized: shown(conviction.gauges.funding),
    rsi_14: shown(conviction.gauges.rsi),
  },
  coverage: r9(conviction.coverage),
  cts_score: conviction.ctsScore,
  cycle_id: cycleId,
  decision: { action: conviction.decision.action, reasons: [...conviction.decision.reasons] },
  direction: conviction.direction,
  domain_scores: byDomain(conviction, ({ value }) => (1 + value) / 2),
  domain_weights: byDomain(conviction, ({ weight }) => weight),
  domains_used: conviction.domains.map(({ domain }) => domain),
  effective_conviction: conviction.effectiveConviction,
  final_score: conviction.finalScore,
  inputs: conviction.inputs.map((input) => ({
    author: input.authorId,
    contribution: r9(input.contribution),
    domain: input.domain,
    evidence: r9(input.evidence),
    quality: r9(input.quality),
    share: r9(input.share),
    signal_id: input.signalId,
  })),
  magnitude: conviction.magnitude,
  pcs_score: conviction.pcsScore,
  pre_cap_magnitude: conviction.preCapMagnitude,
  regime: conviction.regime,
  signal_ids: [...conviction.signalIds],
  symbol: conviction.symbol,
  timeframe: TIMEFRAME,
})

/** The input of `commitment_hash`, a digest of the content. It proves no time. */
export const commitmentText = (conviction: Conviction): string =>
  canonicalJson({
    cts_score: conviction.ctsScore,
    direction: conviction.direction,
    domains_used: conviction.domains.map(({ domain }) => domain).toSorted(),
    magnitude: conviction.magnitude,
    pcs_score: conviction.pcsScore,
    regime: conviction.regime,
    symbol: conviction.symbol,
    timeframe: TIMEFRAME,
  })

/** The members of a conviction that brain.cycle.v1 contains. */
type Summary = Pick<Conviction, 'symbol' | 'domains' | 'signalIds'>

/** brain.cycle.v1 */
export const cyclePayload = (result: CycleResult<Summary>, context: CycleContext) => {
  const inOrder = result.convictions.toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
  return {
    ...(context.asOf === undefined ? {} : { as_of: context.asOf }),
    ...(context.awaited === undefined ? {} : { awaited: context.awaited }),
    config_hash: context.configHash,
    cycle_id: context.cycleId,
    data_quality: bySymbol(inOrder, (conviction) => byDomain(conviction, ({ quality }) => quality)),
    duration_ms: context.durationMs,
    engine_version: context.engineVersion,
    evidence: evidenceOf(result.regime),
    intents: result.intents.length,
    kill_switch_level: result.killSwitchLevel,
    regime: result.regime.regime,
    signals_used: bySymbol(inOrder, ({ signalIds }) => [...signalIds]),
    stale_cycles: result.staleness.staleCycles,
    started_at: context.startedAt,
    symbols: result.convictions.map(({ symbol }) => symbol),
    trigger: context.trigger,
    warnings: [...result.warnings],
    weights: weightsByName(result.weights),
    weights_version: context.weightsVersion,
  }
}

/** brain.regime_change.v1 */
export const regimeChangePayload = (change: RegimeChange) => ({
  regime: change.regime,
  previous: change.previous,
  evidence: evidenceOf(change),
})

/** Evidence for the regime: gauges and votes. */
const evidenceOf = ({ gauges, votes }: Pick<RegimeReading, 'gauges' | 'votes'>) => ({
  basis_annualized: shown(gauges.basis),
  bear_votes: votes.bear,
  btc_rsi: shown(gauges.rsi),
  bull_votes: votes.bull,
  crisis_votes: votes.crisis,
  fear_greed: shown(gauges.fearGreed),
  funding_annualized: shown(gauges.funding),
})

const DOMAINS_BY_NAME = DOMAINS.toSorted()

const byDomain = (
  { domains }: Pick<Conviction, 'domains'>,
  valueOf: (domain: Conviction['domains'][number]) => number,
): Record<string, number> => {
  const values: Record<string, number> = {}
  for (const name of DOMAINS_BY_NAME) {
    const scored = domains.find(({ domain }) => domain === name)
    if (scored !== undefined) values[name] = r9(valueOf(scored))
  }
  return values
}

const weightsByName = (weights: DomainWeights): Record<string, number> =>
  Object.fromEntries(DOMAINS_BY_NAME.map((domain) => [domain, weights[domain]]))

const bySymbol = <Value>(
  convictions: readonly Summary[],
  valueOf: (conviction: Summary) => Value,
): Record<string, Value> =>
  Object.fromEntries(convictions.map((conviction) => [conviction.symbol, valueOf(conviction)]))

const shown = (value: number | null): number | null => (value === null ? null : r9(value))

export type ContributorOf = (
  signalId: SignalId,
) => { readonly contributorId: ContributorId; readonly nodeId: NodeId } | null

interface IntentContext {
  readonly cycleId: string
  /** Id of the brain.conviction.v1 event behind it. */
  readonly convictionId: string
  readonly asOfMs: number
  /** The contributor of a signal; null for producers. */
  readonly contributorOf: ContributorOf
  /** Largest possible notional of the order. Limits may reduce it. */
  readonly notionalUsd: number
}

export type IntentRules = Pick<Configuration, 'execution'>

/** execution.trade_intent.v1 */
export const tradeIntentPayload = (intent: DecidedIntent, context: IntentContext, rules: IntentRules) => {
  const { execution } = rules
  const awaits = awaitsApproval(intent, context, rules)
  const lifetimeSeconds = awaits ? execution.approval_ttl_seconds : execution.intent_ttl_seconds
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
    intended_price: priceNumberOrNull(intent.intendedPrice),
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
    valid_until: timestampAt(context.asOfMs + lifetimeSeconds * 1000),
  }
}

/**
 * Whether an operator must approve the entry: a large one, where approvals are enabled, as they are by default in live
 * mode.
 */
export const awaitsApproval = (
  { approvalRequired }: Pick<DecidedIntent, 'approvalRequired'>,
  { notionalUsd }: Pick<IntentContext, 'notionalUsd'>,
  { execution }: IntentRules,
): boolean => {
  const isLive = execution.mode === 'live'
  if (!(execution.require_approval ?? isLive)) return false
  return approvalRequired || notionalUsd >= execution.confirmation_threshold_usd
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
