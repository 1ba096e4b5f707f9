import { z } from 'zod'

const stepOrNull = z.number().nullable()

/** What is said of orders and positions at a venue, beside what paper orders know too. */
export const venueEvents = {
  /** Nobody knows whether the venue has it: it is looked up before anything is sent again. */
  'execution.order_unknown.v1': z.object({ order_id: z.string(), symbol: z.string(), reason: z.string() }),
  /** Stored before the venue is asked. */
  'execution.cancel_requested.v1': z.object({
    order_id: z.string(),
    symbol: z.string(),
    reason: z.string(),
    /** Null when no operator asked. */
    requested_by: z.string().nullable(),
  }),
  /** Whether orders may be sent, and how fine the venue takes them. */
  'execution.venue_checked.v1': z.object({
    venue: z.string(),
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
    /** Symbols that the venue trades; null where it does not say how fine. */
    symbols: z.array(
      z.object({
        symbol: z.string(),
        quantity_step: stepOrNull,
        quantity_min: stepOrNull,
        notional_min_usd: stepOrNull,
        price_step: stepOrNull,
      }),
    ),
  }),
  /** The venue holds more than we know of. It is ours to watch, and an operator's to end. */
  'execution.position_adopted.v1': z.object({
    position_id: z.string(),
    venue: z.string(),
    asset: z.string(),
    direction: z.enum(['long', 'short']),
    entry_price: z.number(),
    quantity: z.number(),
    size_notional: z.number(),
    leverage: z.number(),
    mark_price: z.number(),
    /** It has no stop, so all of it. */
    loss_at_stop_usd: z.number(),
  }),
  /** The venue holds less than we do. Signed: longs above zero. */
  'execution.venue_differs.v1': z.object({
    venue: z.string(),
    symbol: z.string(),
    our_quantity: z.number(),
    venue_quantity: z.number(),
  }),
  /** While it is active nothing is opened. */
  'execution.reduce_only.v1': z.object({
    active: z.boolean(),
    reason: z.string(),
    /** Null when the engine did it by itself. */
    set_by: z.string().nullable(),
  }),
} as const
