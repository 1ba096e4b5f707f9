import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { r9 } from '../vocabulary/numbers.ts'
import { TIMEFRAME, type Conviction } from './conviction.ts'
import type { CycleResult, DecidedConviction } from './cycle.ts'
import type { RegimeChange } from './regime.ts'

export interface CycleContext {
  readonly cycleId: string
  readonly trigger: 'api' | 'schedule' | 'cli' | 'backtest'
  readonly startedAt: string
  readonly durationMs: number
  readonly weightsVersion: number
  readonly configHash: string
  readonly engineVersion: string
}

/** brain.conviction.v1 */
export const convictionPayload = (
  conviction: DecidedConviction,
  { cycleId, sha256Hex }: { readonly cycleId: string; readonly sha256Hex: Sha256Hex },
) => ({
  cycle_id: cycleId,
  ...committed(conviction),
  final_score: conviction.finalScore,
  domain_scores: byDomain(conviction, ({ value }) => (1 + value) / 2),
  signal_ids: conviction.inputs.map(({ signalId }) => signalId),
  commitment_hash: sha256Hex(commitmentText(conviction)),
  pre_cap_magnitude: conviction.preCapMagnitude,
  effective_conviction: conviction.effectiveConviction,
  confidence: conviction.confidence,
  coverage: r9(conviction.coverage),
  inputs: conviction.inputs.map((input) => ({
    signal_id: input.signalId,
    author: input.authorId,
    domain: input.domain,
    share: r9(input.share),
    quality: r9(input.quality),
    evidence: r9(input.evidence),
    contribution: r9(input.contribution),
  })),
  decision: { action: conviction.decision.action, reasons: [...conviction.decision.reasons] },
  // With these two the stored event alone says what would have changed it: see `explain`.
  domain_weights: byDomain(conviction, ({ weight }) => weight),
  counter_thesis: {
    rsi_14: shown(conviction.gauges.rsi),
    funding_annualized: shown(conviction.gauges.funding),
    basis_annualized: shown(conviction.gauges.basis),
  },
})

/** What `commitment_hash` is the digest of. It fixes the content, not the time. */
export const commitmentText = (conviction: Conviction): string => {
  const { domains_used, ...members } = committed(conviction)
  return canonicalJson({ ...members, domains_used: domains_used.toSorted() })
}

/** brain.cycle.v1 */
export const cyclePayload = (result: CycleResult, context: CycleContext) => ({
  cycle_id: context.cycleId,
  trigger: context.trigger,
  started_at: context.startedAt,
  symbols: result.convictions.map(({ symbol }) => symbol),
  regime: result.regime.regime,
  kill_switch_level: result.killSwitchLevel,
  weights: { ...result.weights },
  data_quality: bySymbol(result, (conviction) => byDomain(conviction, ({ quality }) => quality)),
  signals_used: bySymbol(result, ({ inputs }) => inputs.map(({ signalId }) => signalId)),
  intents: result.intents.length,
  duration_ms: context.durationMs,
  weights_version: context.weightsVersion,
  config_hash: context.configHash,
  engine_version: context.engineVersion,
  stale_cycles: result.staleness.staleCycles,
  warnings: [...result.warnings],
})

/** brain.regime_change.v1 */
export const regimeChangePayload = ({ regime, previous, gauges, votes }: RegimeChange) => ({
  regime,
  previous,
  evidence: {
    btc_rsi: shown(gauges.rsi),
    funding_annualized: shown(gauges.funding),
    basis_annualized: shown(gauges.basis),
    fear_greed: shown(gauges.fearGreed),
    crisis_votes: votes.crisis,
    bull_votes: votes.bull,
    bear_votes: votes.bear,
  },
})

const committed = (conviction: Conviction) => ({
  symbol: conviction.symbol,
  direction: conviction.direction,
  magnitude: conviction.magnitude,
  timeframe: TIMEFRAME,
  pcs_score: conviction.pcsScore,
  cts_score: conviction.ctsScore,
  regime: conviction.regime,
  domains_used: conviction.domains.map(({ domain }) => domain),
})

const byDomain = (
  { domains }: Conviction,
  valueOf: (domain: Conviction['domains'][number]) => number,
): Record<string, number> => Object.fromEntries(domains.map((one) => [one.domain, r9(valueOf(one))]))

const bySymbol = <Value>(
  { convictions }: CycleResult,
  valueOf: (conviction: Conviction) => Value,
): Record<string, Value> =>
  Object.fromEntries(convictions.map((conviction) => [conviction.symbol, valueOf(conviction)]))

const shown = (value: number | null): number | null => (value === null ? null : r9(value))
