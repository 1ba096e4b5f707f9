import { z } from 'zod'
import { intentOf, isEntry, isUnknown, type Order, type Orders } from '../trading/orders/orders.ts'
import { priceNumber, quantityNumber } from '../shared/money.ts'
import type { Intent, Intents } from '../trading/orders/intents.ts'
import { newestFirst, picked, shown } from './members.ts'
import { cycleIntentView, viewCycleIntent } from './brain.ts'

const orderStatus = z.enum([
  'submitting',
  'open',
  'partial',
  'unknown',
  'filled',
  'canceled',
  'rejected',
  'failed',
])

export const orderView = z.object({
  order_id: z.string(),
  position_id: z.string(),
  intent_id: z.string().nullable().meta({ description: 'null for exits' }),
  venue: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  purpose: z
    .enum(['entry', 'exit', 'protective_stop'])
    .meta({ description: 'a protective stop rests at the venue while its position is held' }),
  trigger_price: z.number().nullable().meta({ description: 'of a protective stop; else null' }),
  reduce_only: z.boolean(),
  quantity: z.number(),
  filled_quantity: z.number(),
  fills: z.int(),
  reference_price: z.number().meta({ description: 'the price it was sent at' }),
  submitted_at: z.string(),
  valid_until: z.string().nullable(),
  status: orderStatus,
  cancel_reason: z.string().nullable().meta({ description: 'why it is to be canceled; null if it is not' }),
  needs_operator: z
    .boolean()
    .meta({ description: 'nobody can look it up: an operator says what became of it' }),
})

export type OrderView = z.infer<typeof orderView>

export const ORDER_FILTERS = ['all', ...orderStatus.options] as const

export interface OrderFilter {
  readonly status: (typeof ORDER_FILTERS)[number]
  readonly limit: number
}

/** Orders, newest first. */
export const viewOrders = ({ open, ended }: Orders, filter: OrderFilter): OrderView[] =>
  [open, ended]
    .flatMap((orders) => [...orders.values()].sort(newestFirst(({ submittedAt }) => submittedAt)))
    .filter((order) => filter.status === 'all' || order.status === filter.status)
    // Ended orders never displace open ones, which may need an operator.
    .slice(0, filter.limit)
    .sort(newestFirst(({ submittedAt }) => submittedAt))
    .map(viewOrder)

export const viewOrder = (order: Order): OrderView =>
  showOrder({
    ...order,
    orderId: order.id,
    intentId: intentOf(order),
    purpose: order.purpose.kind,
    reduceOnly: !isEntry(order),
    quantity: quantityNumber(order.quantity),
    filledQuantity: quantityNumber(order.filled),
    triggerPrice: order.purpose.kind === 'protective_stop' ? priceNumber(order.purpose.triggerPrice) : null,
    referencePrice: priceNumber(order.referencePrice),
    validUntil: order.purpose.kind === 'entry' ? order.purpose.validUntil : null,
    needsOperator: isUnknown(order) && order.needsOperator,
  })

const showOrder = shown(orderView)

/** An intent in the form in which its cycle shows it, with its origin and its order. */
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

/** Intents, newest first: their ids grow with time. */
export const viewIntents = (intents: Intents, { status, limit }: IntentFilter): IntentView[] =>
  [...intents.values()]
    .filter((intent) => status === 'all' || intent.status === status)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, limit)
    .map(viewIntent)

export const viewIntent = (known: Intent): IntentView =>
  pickIntent({
    ...known.intent,
    ...viewCycleIntent(known),
    approved: known.isApproved,
    order_id: known.orderId,
  })

const pickIntent = picked(intentView)
