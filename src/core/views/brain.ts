import { intentId, type Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import type { State } from '../state.ts'
import { brainEvents, REGIMES } from '../events/brain.ts'
import { sizingShape } from '../events/trading.ts'
import type { Stamped } from '../log/event.ts'
import type { Intent } from '../trading/orders/intents.ts'
import { killSwitchLevel } from '../shared/level.ts'
import type { DecisionRules } from '../brain/decision.ts'
import { distanceOf, type StoredConviction, valueOf, whatIfs } from '../brain/explain.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import type { CycleInputs } from '../brain/cycle.ts'
import { r9 } from '../shared/numbers.ts'
import { picked } from './members.ts'

export const brainStatusView = z.object({
  regime: z.string().nullable(),
  regime_changed_at: z.string().nullable(),
  kill_switch_level: z.int().min(0).max(3),
  kill_switch_reason: z.string().nullable(),
  kill_switch_changed_at: z.string().nullable(),
  last_cycle_id: z.string().nullable(),
  last_cycle_at: z.string().nullable(),
})

export const viewBrainStatus = ({
  trading: { killSwitch },
  brain: { regime, lastCycle },
}: Pick<State, 'trading' | 'brain'>): z.infer<typeof brainStatusView> => ({
  regime: regime?.regime ?? null,
  regime_changed_at: regime?.changedAt ?? null,
  kill_switch_level: killSwitch.level,
  kill_switch_reason: killSwitch.reason,
  kill_switch_changed_at: killSwitch.changedAt,
  last_cycle_id: lastCycle?.id ?? null,
  last_cycle_at: lastCycle?.at ?? null,
})

export const regimeView = z.object({
  regime: z.enum(REGIMES).nullable(),
  changed_at: z.string().nullable(),
  conditions: z
    .record(z.string(), z.number().nullable())
    .meta({ description: 'the evidence that the newest cycle found' }),
  conditions_at: z.string().nullable().meta({ description: 'when it found it' }),
})

export const viewRegime = ({ brain }: Pick<State, 'brain'>): z.infer<typeof regimeView> => ({
  regime: brain.regime?.regime ?? null,
  changed_at: brain.regime?.changedAt ?? null,
  conditions: brain.regime?.evidence ?? {},
  conditions_at: brain.regime?.evidenceAt ?? null,
})

export const cycleIntentView = z.object({
  intent_id: z.string(),
  symbol: z.string(),
  direction: z.enum(['long', 'short']),
  size_pct: z.number(),
  leverage: z.number(),
  conviction_score: z.number(),
  regime: z.enum(REGIMES),
  rationale: z.string(),
  stop_loss_pct: z.number().nullable(),
  take_profit_pct: z.number().nullable(),
  valid_until: z.string(),
  status: z.enum(['awaiting_approval', 'ready', 'executing', 'filled', 'rejected', 'expired']),
  reasons: z.array(z.string()),
  position_id: z.string().nullable(),
})

export const cycleView = z.object({
  cycle_id: z.string(),
  ts: z.string(),
  intents: z.array(cycleIntentView),
  regime: z.enum(REGIMES).nullable(),
  kill_switch_level: killSwitchLevel,
})

export type CycleView = z.infer<typeof cycleView>

/** Result of a cycle. Its intents include the effects of everything that followed in the same batch. */
export const viewCycle = (
  cycle: { readonly id: string; readonly events: readonly Stamped[] },
  { trading: { intents, killSwitch }, brain }: Pick<State, 'trading' | 'brain'>,
): CycleView => ({
  cycle_id: cycle.id,
  ts: cycle.events[0]?.ts ?? '',
  intents: cycle.events
    .filter(({ type }) => type === 'execution.trade_intent.v1')
    .flatMap(({ id }) => intents.get(intentId(id)) ?? [])
    .map(viewCycleIntent),
  regime: brain.regime?.regime ?? null,
  kill_switch_level: killSwitch.level,
})

const pickCycleIntent = picked(cycleIntentView)

export const viewCycleIntent = ({
  id,
  intent,
  status,
  reasons,
  positionId,
}: Intent): z.infer<typeof cycleIntentView> =>
  pickCycleIntent({ ...intent, intent_id: id, status, reasons, position_id: positionId })

const conviction = brainEvents['brain.conviction.v1'].shape
const action = conviction.decision.shape.action

export const explainedSizing = sizingShape.extend({
  size_usd: z.number().nullable().meta({ description: 'of the order; null if there was none' }),
  limits: z.record(z.string(), z.number()).meta({ description: 'in USD; the size is the least of them' }),
})

const explainedIntent = cycleIntentView
  .pick({
    intent_id: true,
    direction: true,
    size_pct: true,
    status: true,
    reasons: true,
  })
  .extend({
    sizing: explainedSizing
      .nullable()
      .meta({ description: 'the numbers that led to the size; null before it is known' }),
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
  what_if: z
    .array(
      z.object({
        change: z.enum(['without_author', 'without_domain', 'other_regime']),
        subject: z.string(),
        value: z.number(),
        direction: conviction.direction,
        effective_conviction: z.number(),
        action,
        changes_decision: z.boolean(),
      }),
    )
    .meta({ description: 'empty for a cycle of a release that did not store commands' }),
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
    description: 'the configuration has changed since: what_if and next_tier follow the one of the cycle',
  }),
  convictions: z.array(explainedConviction),
})

export type ExplanationView = z.infer<typeof explanationView>

/** Events that the log holds of a cycle, as far as the explanation reads them. */
export interface StoredCycle {
  readonly cycleId: string
  readonly ts: Timestamp
  readonly cycle: PayloadOf<'brain.cycle.v1'> | null
  /** Inputs of the cycle; null if its command is not stored. */
  readonly inputs: CycleInputs | null
  readonly convictions: readonly { readonly id: string; readonly payload: StoredConviction }[]
  /** By conviction. */
  readonly intents: ReadonlyMap<string, z.infer<typeof explainedIntent>>
}

export const viewExplanation = (
  stored: StoredCycle,
  rules: DecisionRules,
  configHash: string,
): ExplanationView => ({
  cycle_id: stored.cycleId,
  ts: stored.ts,
  trigger: stored.cycle?.trigger ?? null,
  regime: stored.cycle?.regime ?? stored.convictions[0]?.payload.regime ?? null,
  kill_switch_level: stored.cycle?.kill_switch_level ?? null,
  warnings: stored.cycle?.warnings ?? [],
  rules_changed: stored.cycle !== null && stored.cycle.config_hash !== configHash,
  convictions: stored.convictions.map(({ id, payload }) =>
    pickConviction({
      ...payload,
      conviction_id: id,
      value: valueOf(payload),
      domains: payload.domains_used.map((domain) => domainOf(payload, domain)),
      inputs: payload.inputs.toSorted(
        (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
      ),
      next_tier: distanceOf(payload, rules),
      what_if: stored.inputs === null ? [] : [...whatIfs(payload, stored.inputs, rules)],
      intent: stored.intents.get(id),
    }),
  ),
})

const pickConviction = picked(explainedConviction)

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
