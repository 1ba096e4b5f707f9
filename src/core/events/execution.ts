import { z } from 'zod'
import { REGIMES } from './brain.ts'

export const executionEvents = {
  'execution.trade_intent.v1': z.object({
    cycle_id: z.string(),
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
    conviction_id: z.string(),
    signal_ids: z.array(z.string()),
    attribution: z.array(z.object({ signal_id: z.string(), weight: z.number() })),
    intended_price: z.number().nullable(),
    approval_required: z.boolean(),
    status: z.enum(['ready', 'awaiting_approval']),
  }),
  'execution.order_failed.v1': z.object({
    order_id: z.string(),
    intent_id: z.string().nullable(),
    symbol: z.string(),
    reasons: z.array(z.string()),
    details: z.record(z.string(), z.json()),
  }),
} as const
