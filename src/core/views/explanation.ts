import { z } from 'zod'
import { distanceOf, valueOf, whatIfs, type ExplainRules, type StoredConviction } from '../brain/explain.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { brainEvents, REGIMES } from '../events/brain.ts'
import { isBuiltin } from '../signals/producers.ts'
import { r9 } from '../shared/numbers.ts'

const conviction = brainEvents['brain.conviction.v1'].shape
const action = conviction.decision.shape.action

const explainedIntent = z.object({
  intent_id: z.string(),
  direction: z.enum(['long', 'short']),
  size_pct: z.number(),
  status: z.enum(['awaiting_approval', 'ready', 'executing', 'filled', 'rejected', 'expired']),
  reasons: z.array(z.string()),
})

const explainedConviction = z.object({
  conviction_id: z.string(),
  symbol: z.string(),
  decision: conviction.decision,
  direction: conviction.direction,
  pcs_score: z.number(),
  cts_score: z.number(),
  final_score: z.number(),
  effective_conviction: z.number(),
  confidence: z.number(),
  coverage: z.number(),
  value: z.number().meta({ description: 'what all contributions add up to, -1 to 1' }),
  domains: z.array(
    z.object({ domain: z.string(), score: z.number(), weight: z.number(), contribution: z.number() }),
  ),
  inputs: conviction.inputs.meta({ description: 'strongest contribution first' }),
  next_tier: z
    .object({ tier: z.number(), value_needed: z.number().nullable(), value_missing: z.number().nullable() })
    .nullable(),
  what_if: z.array(
    z.object({
      change: z.enum(['without_author', 'without_domain', 'other_regime']),
      subject: z.string(),
      value: z.number(),
      direction: conviction.direction,
      effective_conviction: z.number(),
      action,
      changes_decision: z.boolean(),
    }),
  ),
  intent: explainedIntent.nullable(),
})

export const explanationView = z.object({
  cycle_id: z.string(),
  ts: z.string(),
  trigger: brainEvents['brain.cycle.v1'].shape.trigger.nullable(),
  regime: z.enum(REGIMES).nullable(),
  kill_switch_level: z.int().nullable(),
  warnings: z.array(z.string()),
  rules_changed: z.boolean().meta({
    description: 'the configuration has changed since: what_if and next_tier follow the one of today',
  }),
  convictions: z.array(explainedConviction),
})

export type ExplanationView = z.infer<typeof explanationView>

/** What the log holds of a cycle, as far as it is asked for. */
export interface StoredCycle {
  readonly cycleId: string
  readonly ts: string
  readonly cycle: PayloadOf<'brain.cycle.v1'> | null
  readonly convictions: readonly { readonly id: string; readonly payload: StoredConviction }[]
  /** By conviction. */
  readonly intents: ReadonlyMap<string, z.infer<typeof explainedIntent>>
}

export const viewExplanation = (
  stored: StoredCycle,
  rules: ExplainRules,
  configHash: string,
): ExplanationView => ({
  cycle_id: stored.cycleId,
  ts: stored.ts,
  trigger: stored.cycle?.trigger ?? null,
  regime: stored.cycle?.regime ?? stored.convictions[0]?.payload.regime ?? null,
  kill_switch_level: stored.cycle?.kill_switch_level ?? null,
  warnings: stored.cycle?.warnings ?? [],
  rules_changed: stored.cycle !== null && stored.cycle.config_hash !== configHash,
  convictions: stored.convictions.map(({ id, payload }) => ({
    conviction_id: id,
    symbol: payload.symbol,
    decision: payload.decision,
    direction: payload.direction,
    pcs_score: payload.pcs_score,
    cts_score: payload.cts_score,
    final_score: payload.final_score,
    effective_conviction: payload.effective_conviction,
    confidence: payload.confidence,
    coverage: payload.coverage,
    value: valueOf(payload),
    domains: payload.domains_used.map((domain) => domainOf(payload, domain)),
    inputs: payload.inputs.toSorted(
      (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
    ),
    next_tier: distanceOf(payload, rules),
    what_if: [...whatIfs(payload, rules, (author) => !isBuiltin(author))],
    intent: stored.intents.get(id) ?? null,
  })),
})

const domainOf = (payload: StoredConviction, domain: string) => ({
  domain,
  score: payload.domain_scores[domain] ?? 0.5,
  weight: payload.domain_weights[domain] ?? 0,
  contribution: r9(
    payload.inputs
      .filter((input) => input.domain === domain)
      .reduce((sum, { contribution }) => sum + contribution, 0),
  ),
})
