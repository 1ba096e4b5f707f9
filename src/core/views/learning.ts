import { z } from 'zod'
import { learningEvents } from '../events/learning.ts'
import type { LogRecord } from '../log/event.ts'
import { weightsInForce, type Learning } from '../brain/learning.ts'
import type { Configuration } from '../config/schema.ts'
import { byDomain, type DomainWeights } from '../shared/domains.ts'
import { payloadOf } from './stored-payload.ts'

const run = learningEvents['learning.weight_adjustment.v1']

const weights = z.object({
  curator: z.number(),
  onchain: z.number(),
  tradfi: z.number(),
  social: z.number(),
  technical: z.number(),
  events: z.number(),
})

export const learningRunView = z.object({
  id: z.string(),
  at: z.string(),
  trigger: run.shape.trigger,
  reason: run.shape.reason.meta({
    description: 'why the weights moved, or why they could not',
  }),
  applied: z.boolean(),
  step: z.number().meta({ description: 'by how much a weight could move' }),
  observations: z.int().meta({ description: 'trades that closed in the window' }),
  window_mean_return: z.number().nullable(),
  correlations: weights.meta({ description: 'how well each domain went with winning, -1 to 1' }),
  previous_weights: weights,
  new_weights: weights,
  deltas: weights,
  weights_version: z.int().meta({ description: 'in force after the run; 0 for the configured weights' }),
})

export type LearningRunView = z.infer<typeof learningRunView>

export const weightsView = z.object({
  weights: weights.meta({ description: 'what the brain uses now' }),
  origin: z.enum(['configured', 'learned']),
  version: z.int().min(0).meta({ description: '0 for the configured weights' }),
  learned_at: z.string().nullable(),
  configured_weights: weights,
  first_close_at: z.string().nullable(),
  last_run_at: z.string().nullable(),
  next_run_at: z.string().nullable().meta({ description: 'null while learning is off' }),
  history: z.array(learningRunView).meta({ description: 'runs, newest first' }),
})

export type WeightsView = z.infer<typeof weightsView>

export const viewWeights = (
  learning: Learning,
  configuration: Pick<Configuration, 'weights' | 'learning'>,
  { nowMs, runs }: { readonly nowMs: number; readonly runs: readonly LogRecord[] },
): WeightsView => {
  const { weights: configured, learning: rules } = configuration
  const inForce = weightsInForce(learning, configuration)
  const intervalMs = rules.interval_seconds * 1000
  return {
    weights: all(inForce.weights),
    origin: inForce.version === 0 ? 'configured' : 'learned',
    version: inForce.version,
    learned_at: inForce.version === 0 ? null : (learning.learned?.at ?? null),
    configured_weights: all(configured),
    first_close_at: learning.firstCloseAt,
    last_run_at: learning.lastRun?.at ?? null,
    next_run_at: rules.enabled
      ? new Date((Math.floor(nowMs / intervalMs) + 1) * intervalMs).toISOString()
      : null,
    history: runs.flatMap((record) => viewLearningRun(record, payloadOf(record)) ?? []),
  }
}

/** Null for what is left of a damaged record. */
export const viewLearningRun = (
  { id, ts: at }: { readonly id: string; readonly ts: string },
  payload: unknown,
): LearningRunView | null => {
  const parsed = run.safeParse(payload)
  if (!parsed.success) return null
  const { data } = parsed
  return {
    id,
    at,
    trigger: data.trigger,
    reason: data.reason,
    applied: data.applied,
    step: data.step,
    observations: data.observations,
    window_mean_return: data.window_mean_return,
    correlations: all(data.correlations),
    previous_weights: all(data.previous_weights),
    new_weights: all(data.new_weights),
    deltas: all(data.deltas),
    weights_version: data.weights_version,
  }
}

/** Each domain once, in the order in which they are always shown. */
const all = (values: Readonly<Record<string, number>>): DomainWeights =>
  byDomain((domain) => values[domain] ?? 0)
