import type { NewEvent } from '../events/catalogue.ts'
import { DOMAINS } from '../shared/domains.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { adjust, type Adjustment, type LearningSettings } from './adjust.ts'
import { weightsInForce, type Learning } from './learning.ts'

/** Who asked: the clock at a moment of its grid, or an operator through a surface. */
export type LearningCause =
  | { readonly trigger: 'schedule'; readonly due: string }
  | { readonly trigger: 'api' | 'cli' }

export interface LearningRequest {
  readonly cause: LearningCause
  readonly configuration: LearningSettings
  /** Karma by name. */
  readonly producerScores: Readonly<Record<string, number>>
  readonly now: string
}

/** Recorded, whatever it comes to. */
export const runLearning = (learning: Learning, request: LearningRequest): Decision => {
  const { cause, configuration, now } = request
  if (!configuration.learning.enabled)
    return refuse('learning.disabled', 'learning is off (learning.enabled)')
  const adjustment = adjust(learning, configuration, now)
  const applied = DOMAINS.some((domain) => adjustment.deltas[domain] !== 0)
  const version = applied ? learning.newestVersion + 1 : weightsInForce(learning, configuration).version
  const { reason, observations, deltas } = adjustment
  return accept(
    {
      type: 'learning.weight_adjustment.v1',
      source: SOURCE,
      // Several services on one log come to the same moment: the first one learns.
      ...(cause.trigger === 'schedule' ? { dedupeKey: `learning:${cause.due}` } : {}),
      payload: {
        cycle_type: 'weekly',
        trigger: cause.trigger,
        previous_weights: adjustment.previous,
        new_weights: adjustment.weights,
        deltas,
        observations,
        reason,
        applied,
        correlations: adjustment.correlations,
        step: adjustment.step,
        weights_version: version,
        window_mean_return: adjustment.meanReturn,
        configured_weights: configuration.weights,
      },
    },
    {
      type: 'learning.report.v1',
      source: SOURCE,
      payload: {
        attributions: adjustment.attributions,
        weight_adjustment: { applied, reason, observations, deltas },
        producer_scores: request.producerScores,
      },
    },
    ...(applied ? [alertOf(adjustment)] : []),
  )
}

const SOURCE = 'learning'

const alertOf = ({ previous, weights, deltas, observations, reason }: Adjustment): NewEvent => ({
  type: 'alert.weights_adjusted',
  source: 'alerts',
  payload: {
    urgency: 'low',
    message: `Weights ${reason} after ${observations} trades`,
    previous_weights: previous,
    new_weights: weights,
    deltas,
    observations,
    reason,
    repeat: 0,
  },
})
