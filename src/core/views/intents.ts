import { z } from 'zod'
import type { Intent, Intents } from '../trading/intents.ts'
import { intentView as cycleIntentView, viewIntent as viewCycleIntent } from './cycle.ts'

/** An intent as its cycle tells of it, and where it came from and went to. */
export const intentView = cycleIntentView.extend({
  cycle_id: z.string(),
  conviction_id: z.string(),
  intended_price: z.number().nullable(),
  approval_required: z.boolean(),
  approved: z.boolean().meta({ description: 'an operator approved it' }),
  order_id: z.string().nullable(),
})

export type IntentView = z.infer<typeof intentView>

export const INTENT_FILTERS = ['all', ...cycleIntentView.shape.status.options] as const

export interface IntentFilter {
  readonly status: (typeof INTENT_FILTERS)[number]
  readonly limit: number
}

/** Newest first: ids grow with time. */
export const viewIntents = (intents: Intents, { status, limit }: IntentFilter): IntentView[] =>
  [...intents.values()]
    .filter((intent) => status === 'all' || intent.status === status)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, limit)
    .map(viewIntent)

export const viewIntent = (known: Intent): IntentView => ({
  ...viewCycleIntent(known),
  cycle_id: known.intent.cycle_id,
  conviction_id: known.intent.conviction_id,
  intended_price: known.intent.intended_price,
  approval_required: known.intent.approval_required,
  approved: known.isApproved,
  order_id: known.orderId,
})
