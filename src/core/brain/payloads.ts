import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { r9 } from '../shared/numbers.ts'
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

// Members stand in the order of their names: such a payload needs no second walk to become the text of the log.

/** brain.conviction.v1 */
export const convictionPayload = (
  conviction: DecidedConviction,
  { cycleId, sha256Hex }: { readonly cycleId: string; readonly sha256Hex: Sha256Hex },
) => ({
  commitment_hash: sha256Hex(commitmentText(conviction)),
  confidence: conviction.confidence,
  // With this and the weights the stored event alone says what would have changed it: see `explain`.
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

/** What `commitment_hash` is the digest of. It fixes the content, not the time. */
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

/** What the event of a cycle says of a conviction. */
type Summary = Pick<Conviction, 'symbol' | 'domains' | 'signalIds'>

/** brain.cycle.v1 */
export const cyclePayload = (result: CycleResult<Summary>, context: CycleContext) => {
  const inOrder = result.convictions.toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
  return {
    config_hash: context.configHash,
    cycle_id: context.cycleId,
    data_quality: bySymbol(inOrder, (conviction) => byDomain(conviction, ({ quality }) => quality)),
    duration_ms: context.durationMs,
    engine_version: context.engineVersion,
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

const DOMAINS_BY_NAME = DOMAINS.toSorted()

const byDomain = (
  { domains }: Pick<Conviction, 'domains'>,
  valueOf: (domain: Conviction['domains'][number]) => number,
): Record<string, number> => {
  const values: Record<string, number> = {}
  for (const name of DOMAINS_BY_NAME) {
    const heard = domains.find(({ domain }) => domain === name)
    if (heard !== undefined) values[name] = r9(valueOf(heard))
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
