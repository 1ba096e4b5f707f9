import { z } from 'zod'

export const attributionEvents = {
  /** Who is behind a signal, and the call it makes. Contributor members are null for producers. */
  'attribution.recorded.v1': z.object({
    signal_id: z.string(),
    contributor_id: z.string().nullable(),
    node_id: z.string().nullable(),
    producer_id: z.string(),
    received_at: z.string(),
    symbol: z.string().nullable(),
    direction: z.enum(['bullish', 'bearish', 'neutral']).nullable(),
    /** The strength the signal states for itself. */
    score: z.number().nullable(),
  }),
} as const
