import { z } from 'zod'
import { killSwitchLevel } from '../shared/level.ts'

export const REGIMES = ['BULL', 'BEAR', 'CRISIS', 'TRANSITION'] as const

const numbers = z.record(z.string(), z.number())
const regime = z.enum(REGIMES)

export const brainEvents = {
  'brain.regime_change.v1': z.object({
    regime,
    previous: regime.nullable(),
    evidence: z.record(z.string(), z.number().nullable()),
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
    signal_ids: z.array(z.string()),
    commitment_hash: z.string(),
    pre_cap_magnitude: z.number(),
    effective_conviction: z.number(),
    confidence: z.number(),
    coverage: z.number(),
    inputs: z.array(
      z.object({
        signal_id: z.string(),
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
  /** Ends the events of a cycle. */
  'brain.cycle.v1': z.object({
    cycle_id: z.string(),
    trigger: z.enum(['api', 'schedule', 'cli', 'backtest']),
    started_at: z.string(),
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
  }),
} as const
