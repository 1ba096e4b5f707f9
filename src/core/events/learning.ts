import { z } from 'zod'

export const FEEDBACK_OUTCOMES = ['profit', 'loss', 'breakeven', 'no_fill', 'unknown'] as const

export const learningEvents = {
  /** What an agent says came of a signal: weak evidence, never money. */
  'learning.feedback.v1': z.object({
    producer_id: z.string(),
    signal_id: z.string().nullable(),
    outcome: z.enum(FEEDBACK_OUTCOMES).nullable(),
    pnl: z.number().nullable(),
    note: z.string().nullable(),
    /** False when the signal is unknown or of another producer: then it has no effect. */
    matched: z.boolean(),
    signal_type: z.string().nullable(),
    score: z.number().nullable(),
    submitted_by: z.string(),
  }),
} as const
