import type { Timestamp } from '../shared/brand.ts'
import { HOUR_MS, timestampAt } from '../shared/time.ts'
import { z } from 'zod'
import { FEEDBACK_OUTCOMES, learningEvents } from '../events/brain.ts'
import type { LogRecord } from '../log/event.ts'
import { type Learning, weightsInForce } from '../brain/learning.ts'
import type { Configuration } from '../config/schema.ts'
import { byDomain, type DomainWeights } from '../shared/domains.ts'
import { payloadOf } from '../log/payload.ts'
import { picked, shown } from './members.ts'
import type { FeedbackEntry } from '../reputation/feedback.ts'

const run = learningEvents['learning.weight_adjustment.v1']

const weights = z.object(byDomain(() => z.number()))

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
  edges: weights.meta({ description: 'how much better than chance the calls of each domain are, -1 to 1' }),
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
    next_run_at: rules.enabled ? timestampAt((Math.floor(nowMs / intervalMs) + 1) * intervalMs) : null,
    history: runs.flatMap((record) => viewLearningRun(record, payloadOf(record)) ?? []),
  }
}

/** Returns null for a damaged record. */
export const viewLearningRun = (
  { id, ts: at }: { readonly id: string; readonly ts: string },
  payload: unknown,
): LearningRunView | null => {
  const parsed = run.safeParse(payload)
  if (!parsed.success) return null
  const { data } = parsed
  return pickRun({
    ...data,
    id,
    at,
    correlations: all(data.correlations),
    edges: all(data.edges ?? {}),
    previous_weights: all(data.previous_weights),
    new_weights: all(data.new_weights),
    deltas: all(data.deltas),
  })
}

const pickRun = picked(learningRunView)

/** Each domain once, in the order in which they are always shown. */
const all = (values: Readonly<Record<string, number>>): DomainWeights =>
  byDomain((domain) => values[domain] ?? 0)

const missView = z.object({
  signal_id: z.string(),
  signal_type: z.string(),
  score: z.number().nullable(),
  outcome: z.enum(FEEDBACK_OUTCOMES),
})

export const feedbackView = z.object({
  producer_id: z.string(),
  window_hours: z.int(),
  signals_evaluated: z.int().min(0),
  hit_rate: z.number().min(0).max(1).meta({ description: 'of the evaluated signals, 4 decimals' }),
  top_miss: z.array(missView).meta({ description: 'up to 10, highest score first' }),
  accepted: z.boolean().meta({ description: 'something was recorded' }),
  event_id: z.string().nullable(),
  matched: z.boolean().meta({ description: 'the signal is known and of this producer' }),
})

type FeedbackReport = Pick<z.infer<typeof feedbackView>, 'signals_evaluated' | 'hit_rate' | 'top_miss'>

const MISSES_SHOWN = 10

/** Feedback of agents on a producer's signals within the window. Orders that never filled are left out. */
export const reportFeedback = (
  entries: readonly FeedbackEntry[],
  now: Timestamp,
  windowHours: number,
): FeedbackReport => {
  const fromMs = Date.parse(now) - windowHours * HOUR_MS
  const evaluated = entries.filter(({ outcome, at }) => DECIDED.has(outcome) && Date.parse(at) >= fromMs)
  const misses = evaluated.filter(({ outcome }) => outcome !== 'profit')
  const hits = evaluated.length - misses.length
  return {
    signals_evaluated: evaluated.length,
    hit_rate: evaluated.length === 0 ? 0 : Math.round((hits / evaluated.length) * 10_000) / 10_000,
    top_miss: misses.toSorted(highestScoreFirst).slice(0, MISSES_SHOWN).map(shown(missView)),
  }
}

const DECIDED: ReadonlySet<FeedbackEntry['outcome']> = new Set(['profit', 'loss', 'breakeven'])

const highestScoreFirst = (one: FeedbackEntry, other: FeedbackEntry): number =>
  (other.score ?? Number.NEGATIVE_INFINITY) - (one.score ?? Number.NEGATIVE_INFINITY) || 0
