import { z } from 'zod'
import {
  branded,
  type ContributorId,
  type PositionId,
  type SignalId,
  type Timestamp,
} from '../shared/brand.ts'
import { killSwitchLevel } from '../shared/level.ts'

export const REGIMES = ['BULL', 'BEAR', 'CRISIS', 'TRANSITION'] as const

const numbers = z.record(z.string(), z.number())
const regime = z.enum(REGIMES)
/** Values of gauges and counts of votes; null for a gauge without a fresh signal. */
const evidence = z.record(z.string(), z.number().nullable())

export const brainEvents = {
  'brain.regime_change.v1': z.object({
    regime,
    previous: regime.nullable(),
    evidence,
  }),
  'brain.conviction.v1': z.object({
    cycle_id: z.string(),
    symbol: z.string(),
    direction: z.enum(['long', 'short', 'neutral']),
    magnitude: z.number(),
    timeframe: z.string(),
    pcs_score: z.number(),
    cts_score: z.number(),
    final_score: z.number(),
    regime,
    domain_scores: numbers,
    domains_used: z.array(z.string()),
    signal_ids: z.array(branded<SignalId>()),
    commitment_hash: z.string(),
    pre_cap_magnitude: z.number(),
    effective_conviction: z.number(),
    confidence: z.number(),
    coverage: z.number(),
    inputs: z.array(
      z.object({
        signal_id: branded<SignalId>(),
        author: z.string(),
        domain: z.string(),
        share: z.number(),
        quality: z.number(),
        evidence: z.number(),
        contribution: z.number(),
      }),
    ),
    decision: z.object({
      action: z.enum(['none', 'long', 'short', 'hold', 'exit']),
      reasons: z.array(z.string()),
    }),
    domain_weights: numbers,
    counter_thesis: z.record(z.string(), z.number().nullable()),
  }),
  /** Last of the events of a cycle. */
  'brain.cycle.v1': z.object({
    cycle_id: z.string(),
    trigger: z.enum(['api', 'schedule', 'cli', 'backtest']),
    started_at: branded<Timestamp>(),
    symbols: z.array(z.string()),
    regime,
    kill_switch_level: killSwitchLevel,
    weights: numbers,
    data_quality: z.record(z.string(), numbers),
    signals_used: z.record(z.string(), z.array(z.string())),
    intents: z.int(),
    duration_ms: z.number(),
    weights_version: z.int(),
    config_hash: z.string(),
    engine_version: z.string(),
    stale_cycles: z.int(),
    warnings: z.array(z.string()),
    /** Gauges and votes that decided the regime. Absent from logs of releases that did not record it. */
    evidence: evidence.optional(),
    /**
     * Time on the grid of cycles for which the cycle decided, from which the ages of signals are measured. Absent for
     * cycles on request, and from logs of releases that did not record it.
     */
    as_of: branded<Timestamp>().optional(),
    /**
     * Inputs that a scheduled cycle waited for. Absent for other cycles, and from logs of releases that did not record
     * it.
     */
    awaited: z
      .object({
        /** `late`: not all bars that closed at that time were stored. `none`: no bars were due. */
        bar: z.enum(['stored', 'late', 'none']),
        /** Producers that were due and had finished. */
        producers: z.array(z.string()),
        /** Producers that were due and had not finished when the cycle stopped waiting for them. */
        late_producers: z.array(z.string()),
      })
      .optional(),
  }),
} as const

export const FEEDBACK_OUTCOMES = ['profit', 'loss', 'breakeven', 'no_fill', 'unknown'] as const

const LEARNING_REASONS = [
  'cold_start_no_history',
  'cold_start_baseline',
  'insufficient_data',
  'reverted',
  'adjusted',
  'unchanged',
] as const

const reason = z.enum(LEARNING_REASONS)

export const learningEvents = {
  /** Report of an agent about the result of a signal. It is weak evidence and never affects money. */
  'learning.feedback.v1': z.object({
    producer_id: z.string(),
    signal_id: branded<SignalId>().nullable(),
    outcome: z.enum(FEEDBACK_OUTCOMES).nullable(),
    pnl: z.number().nullable(),
    note: z.string().nullable(),
    /** False if the signal is unknown or from another producer. The feedback then has no effect. */
    matched: z.boolean(),
    signal_type: z.string().nullable(),
    score: z.number().nullable(),
    submitted_by: z.string(),
    contributor_id: branded<ContributorId>().nullish(),
    /** Whether the feedback counts as evidence: once per signal and caller, and only if the market gave no answer. */
    counted: z.boolean().optional(),
    /** Weight relative to an outcome that the market decided. */
    weight: z.number().optional(),
  }),
  /** A closed trade, with the domain scores at its entry. */
  'learning.outcome.v1': z.object({
    position_id: branded<PositionId>(),
    conviction_id: z.string(),
    direction: z.enum(['long', 'short']),
    realized_pnl: z.number(),
    /** Profit after all costs, divided by the capital put in. */
    net_return: z.number(),
    /** Whether the price moved in the direction of the trade, regardless of costs. */
    direction_correct: z.boolean(),
    time_held_hours: z.number(),
    max_drawdown_pct: z.number(),
    regime_at_entry: z.string(),
    /** (1 + v) / 2 by domain. */
    domain_scores_at_entry: numbers,
    signal_ids: z.array(branded<SignalId>()),
  }),
  /** A learning run, even if it changes nothing. */
  'learning.weight_adjustment.v1': z.object({
    cycle_type: z.literal('weekly'),
    trigger: z.enum(['schedule', 'api', 'cli']),
    previous_weights: numbers,
    new_weights: numbers,
    deltas: numbers,
    observations: z.int(),
    reason,
    applied: z.boolean(),
    correlations: numbers,
    /** Edge of the calls over chance, by domain. Absent from older logs. */
    edges: numbers.optional(),
    step: z.number(),
    /** Version of the weights in force after this run; 0 for the configured weights. */
    weights_version: z.int(),
    window_mean_return: z.number().nullable(),
    /** Configured weights at the time of the run. Learned weights remain valid until these change. */
    configured_weights: numbers,
  }),
  'learning.report.v1': z.object({
    /** Signals behind the trades of the window. */
    attributions: z.int(),
    weight_adjustment: z.object({
      applied: z.boolean(),
      reason,
      observations: z.int(),
      deltas: numbers,
    }),
    /** Karma by name. */
    producer_scores: numbers,
  }),
} as const
