import { z } from 'zod'
import { FEEDBACK_OUTCOMES } from '../events/learning.ts'
import type { Judgement } from '../reputation/feedback.ts'

export const feedbackView = z.object({
  producer_id: z.string(),
  window_hours: z.int(),
  signals_evaluated: z.int().min(0),
  hit_rate: z.number().min(0).max(1).meta({ description: 'of the evaluated signals, 4 decimals' }),
  top_miss: z
    .array(
      z.object({
        signal_id: z.string(),
        signal_type: z.string(),
        score: z.number().nullable(),
        outcome: z.enum(FEEDBACK_OUTCOMES),
      }),
    )
    .meta({ description: 'up to 10, highest score first' }),
  accepted: z.boolean().meta({ description: 'something was recorded' }),
  event_id: z.string().nullable(),
  matched: z.boolean().meta({ description: 'the signal is known and of this producer' }),
})

export type FeedbackView = z.infer<typeof feedbackView>

export type FeedbackReport = Pick<FeedbackView, 'signals_evaluated' | 'hit_rate' | 'top_miss'>

const MISSES_SHOWN = 10
const HOUR_MS = 3_600_000

/** What agents said of a producer's signals within the window. An order that never filled says nothing of its signal. */
export const reportFeedback = (
  judgements: readonly Judgement[],
  now: string,
  windowHours: number,
): FeedbackReport => {
  const fromMs = Date.parse(now) - windowHours * HOUR_MS
  const evaluated = judgements.filter(({ outcome, at }) => DECIDED.has(outcome) && Date.parse(at) >= fromMs)
  const misses = evaluated.filter(({ outcome }) => outcome !== 'profit')
  const hits = evaluated.length - misses.length
  return {
    signals_evaluated: evaluated.length,
    hit_rate: evaluated.length === 0 ? 0 : Math.round((hits / evaluated.length) * 10_000) / 10_000,
    top_miss: misses.toSorted(highestScoreFirst).slice(0, MISSES_SHOWN).map(viewMiss),
  }
}

const DECIDED: ReadonlySet<Judgement['outcome']> = new Set(['profit', 'loss', 'breakeven'])

const viewMiss = ({
  signalId,
  signalType,
  score,
  outcome,
}: Judgement): FeedbackReport['top_miss'][number] => ({
  signal_id: signalId,
  signal_type: signalType,
  score,
  outcome,
})

const highestScoreFirst = (one: Judgement, other: Judgement): number =>
  (other.score ?? -Infinity) === (one.score ?? -Infinity)
    ? 0
    : (other.score ?? -Infinity) > (one.score ?? -Infinity)
      ? 1
      : -1
