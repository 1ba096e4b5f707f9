import { z } from 'zod'
import {
  branded,
  type CanonicalSymbol,
  type ContributorId,
  type IntentId,
  type NodeId,
  type OrderId,
  type PositionId,
  type SignalId,
  type Timestamp,
} from '../shared/brand.ts'
import { REGIMES } from './brain.ts'

export const EXIT_REASONS = [
  'stop_loss',
  'take_profit',
  'time_stop',
  'bias_flip',
  'manual',
  'liquidated',
] as const

export const POSITION_STATUSES = [
  'open',
  'monitoring',
  'degrading',
  'closing',
  'closed',
  'liquidated',
] as const

const direction = z.enum(['long', 'short'])

/**
 * Price that triggered a decision: of a bar, of a producer, of the feed between bars, the last known one, or the
 * trigger price of a stop that rested at the venue.
 */
const trigger = z.object({
  kind: z.enum(['bar', 'quote', 'mark', 'tick', 'venue']),
  price: z.number(),
  ts: branded<Timestamp>(),
})

/** Evidence from earlier trades, and the size that it allows. */
export const sizingShape = z.object({
  /** True if the floor size applies, because the results so far would allow less. */
  probation: z.boolean(),
  /** Names of the limits that determine the size. */
  bound_by: z.array(z.string()),
  /** Number of trades that the discounted record stands for. */
  evidence_trades: z.number(),
  win_chance: z.number(),
  payoff: z.number(),
  /** Share of equity at full conviction, and its value before the first trade. */
  kelly_stake: z.number(),
  prior_stake: z.number(),
  kelly_usd: z.number(),
  floor_usd: z.number(),
})

export const executionEvents = {
  'execution.trade_intent.v1': z.object({
    cycle_id: z.string(),
    symbol: z.string(),
    direction,
    size_pct: z.number(),
    leverage: z.number(),
    conviction_score: z.number(),
    regime: z.enum(REGIMES),
    rationale: z.string(),
    /** Reason that the strategy gave; absent if it gave none, and for the brain. */
    reason: z.string().optional(),
    stop_loss_pct: z.number().nullable(),
    take_profit_pct: z.number().nullable(),
    valid_until: branded<Timestamp>(),
    conviction_id: z.string(),
    signal_ids: z.array(branded<SignalId>()),
    attribution: z.array(
      z.object({
        signal_id: branded<SignalId>(),
        weight: z.number(),
        /** Contributor behind the signal; null for producers. */
        contributor_id: branded<ContributorId>().nullable().optional(),
        node_id: branded<NodeId>().nullable().optional(),
      }),
    ),
    intended_price: z.number().nullable(),
    approval_required: z.boolean(),
    status: z.enum(['ready', 'awaiting_approval']),
    pcs_score: z.number().optional(),
    cts_score: z.number().optional(),
    /** Present if the intent requested a fixed size, which the Kelly stake does not bound. */
    sizing: z.literal('fixed').optional(),
    /** Distance at which the stop follows the best price, as a share of it. */
    trailing_pct: z.number().optional(),
    /** Stop and target that were requested as prices. The shares above are their distances when the intent was made. */
    stop_price: z.number().optional(),
    target_price: z.number().optional(),
  }),
  'execution.intent_approved.v1': z.object({
    intent_id: branded<IntentId>(),
    approved_by: z.string(),
    note: z.string().nullable(),
  }),
  /** Stored before an order is sent. */
  'execution.order_submitted.v1': z.object({
    order_id: branded<OrderId>(),
    position_id: branded<PositionId>(),
    /** Null for exits. */
    intent_id: branded<IntentId>().nullable(),
    venue: z.string(),
    /** `limit`: fills at once or is canceled. `stop_market`: rests at the venue until its trigger price is reached. */
    type: z.enum(['market', 'limit', 'stop_market']),
    side: z.enum(['buy', 'sell']),
    symbol: z.string(),
    size_notional: z.number(),
    reduce_only: z.boolean(),
    /** Key of the order for repetitions, and its client order id at the venue. */
    idempotency_key: z.string(),
    quantity: z.number(),
    limit_price: z.number().nullable(),
    /** Trigger price of a protective stop; absent from other orders. */
    trigger_price: z.number().optional(),
    reference_price: z.number(),
    reference_ts: branded<Timestamp>(),
    trigger: trigger.nullable(),
    /** Limits of the size, each in USD. */
    limits: z.record(z.string(), z.number()),
    /** Sizing of an entry; absent from other orders. */
    sizing: sizingShape.optional(),
    /** Null for entries and protective stops. */
    exit_reason: z.enum(EXIT_REASONS).nullable(),
    /** Operator who placed the order manually, and the reason given. */
    ordered_by: z.string().optional(),
    note: z.string().optional(),
    /** An entry that is not filled by this time is canceled. */
    valid_until: branded<Timestamp>().nullable(),
  }),
  'execution.order_acknowledged.v1': z.object({ order_id: branded<OrderId>(), venue_order_id: z.string() }),
  'execution.order_filled.v1': z.object({
    order_id: branded<OrderId>(),
    position_id: branded<PositionId>(),
    intent_id: branded<IntentId>().nullable(),
    fill_price: z.number(),
    fill_size: z.number(),
    fee_usd: z.number(),
    fill_no: z.int(),
    notional_usd: z.number(),
    remaining_size: z.number(),
    venue_trade_id: z.string().nullable(),
  }),
  'execution.order_canceled.v1': z.object({
    order_id: branded<OrderId>(),
    position_id: branded<PositionId>(),
    intent_id: branded<IntentId>().nullable(),
    reason: z.string(),
    filled_size: z.number(),
  }),
  /** Result of looking up an order in an unknown state at the venue. */
  'execution.order_reconciled.v1': z.object({
    order_id: branded<OrderId>(),
    found: z.boolean(),
    venue_status: z.string().nullable(),
    lookups: z.int(),
    action: z.enum(['none', 'resend', 'fail', 'operator']),
  }),
  'execution.position_opened.v1': z.object({
    position_id: branded<PositionId>(),
    order_id: branded<OrderId>(),
    intent_id: branded<IntentId>(),
    conviction_id: z.string(),
    platform: z.string(),
    asset: branded<CanonicalSymbol>(),
    direction,
    entry_price: z.number(),
    quantity: z.number(),
    size_notional: z.number(),
    leverage: z.number(),
    margin_type: z.enum(['isolated', 'cross']),
    stop_loss: z.number().nullable(),
    take_profit: z.number().nullable(),
    regime_at_entry: z.string(),
    pcs_at_entry: z.number().nullable(),
    cts_at_entry: z.number().nullable(),
    signal_ids: z.array(branded<SignalId>()),
    fees_usd: z.number(),
    mark_price: z.number(),
    /** Loss if the stop triggers, slippage and fee included. */
    loss_at_stop_usd: z.number(),
    /** Quantity of the entry that is still to be filled. */
    remaining_size: z.number(),
    /** Distance at which the stop follows the best price, as a share of it. */
    trailing_pct: z.number().optional(),
  }),
  'execution.position_updated.v1': z.object({
    position_id: branded<PositionId>(),
    status: z.enum(POSITION_STATUSES),
    stop_loss: z.number().nullable(),
    take_profit: z.number().nullable(),
    reason: z.string(),
    quantity: z.number(),
    loss_at_stop_usd: z.number(),
    /** Current price if no bar carries it, else null. */
    mark_price: z.number().nullable(),
  }),
  'execution.position_closed.v1': z.object({
    position_id: branded<PositionId>(),
    asset: branded<CanonicalSymbol>(),
    exit_price: z.number(),
    /** Profit net of both fees and of funding. */
    realized_pnl: z.number(),
    realized_pnl_pct: z.number(),
    fees_usd: z.number(),
    exit_reason: z.enum(EXIT_REASONS),
    /** Operator who closed the position manually, and the reason given. */
    closed_by: z.string().optional(),
    note: z.string().optional(),
    mode: z.enum(['paper', 'live']),
    gross_pnl: z.number(),
    funding_usd: z.number(),
    trigger: trigger.nullable(),
    max_adverse_pct: z.number(),
    max_favorable_pct: z.number(),
  }),
  'execution.funding_applied.v1': z.object({
    position_id: branded<PositionId>(),
    /** Null if the venue reported the amount that it charged. */
    rate_annualized: z.number().nullable(),
    notional_usd: z.number(),
    /** Positive if paid, negative if received. */
    amount_usd: z.number(),
    venue_payment_id: z.string().optional(),
    /** True if the payment arrived after the position was closed and is not part of its profit. */
    is_late: z.boolean().optional(),
  }),
  'execution.order_failed.v1': z.object({
    order_id: branded<OrderId>(),
    intent_id: branded<IntentId>().nullable(),
    /** Present for an order that was sent. */
    position_id: branded<PositionId>().optional(),
    symbol: z.string(),
    reasons: z.array(z.string()),
    details: z.record(z.string(), z.json()),
    /** For an order that was not sent (`not_sent`): the venue requests no attempt before this time. */
    retry_at: branded<Timestamp>().optional(),
  }),
} as const

const stepOrNull = z.number().nullable()

/** Events about orders and positions at a venue, in addition to those that paper orders have. */
export const venueEvents = {
  /** The state of the order at the venue is unknown. The engine looks it up before it sends anything again. */
  'execution.order_unknown.v1': z.object({
    order_id: branded<OrderId>(),
    symbol: z.string(),
    reason: z.string(),
  }),
  /** The venue has filled a protective stop at least in part, which closes the position. */
  'execution.venue_stop_triggered.v1': z.object({
    order_id: branded<OrderId>(),
    position_id: branded<PositionId>(),
    trigger,
  }),
  /** Stored before the cancellation is sent to the venue. */
  'execution.cancel_requested.v1': z.object({
    order_id: branded<OrderId>(),
    symbol: z.string(),
    reason: z.string(),
    /** Null if no operator requested it. */
    requested_by: z.string().nullable(),
  }),
  /** Whether the venue accepts orders, and its steps and minimum sizes. */
  'execution.venue_checked.v1': z.object({
    venue: z.string(),
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
    /** Whether stops can rest at the venue. Absent means no. */
    resting_stops: z.boolean().optional(),
    /** Symbols that the venue trades. Steps are null if the venue does not report them. */
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
  /** Prices at the venue itself. Orders are decided on prices of a feed, which must agree with them. */
  'execution.venue_quoted.v1': z.object({
    venue: z.string(),
    quotes: z.array(z.object({ symbol: branded<CanonicalSymbol>(), price: z.number() })),
  }),
  /**
   * The venue holds a larger position than the log. The engine monitors the difference, and an operator has to close
   * it.
   */
  'execution.position_adopted.v1': z.object({
    position_id: branded<PositionId>(),
    venue: z.string(),
    asset: branded<CanonicalSymbol>(),
    direction: z.enum(['long', 'short']),
    entry_price: z.number(),
    quantity: z.number(),
    size_notional: z.number(),
    leverage: z.number(),
    mark_price: z.number(),
    /** The whole position value, because an adopted position has no stop. */
    loss_at_stop_usd: z.number(),
  }),
  /** The venue holds less than the log, or, after such a difference, the same again. Signed: positive for longs. */
  'execution.venue_differs.v1': z.object({
    venue: z.string(),
    symbol: branded<CanonicalSymbol>(),
    our_quantity: z.number(),
    venue_quantity: z.number(),
  }),
  /** A manual deposit to or withdrawal from the account at the venue. It is neither profit nor loss. */
  'execution.capital_moved.v1': z.object({
    venue: z.string(),
    /** Positive for a deposit. */
    amount_usd: z.number(),
  }),
  /**
   * A loss at the venue that no trade, fee or funding explains, in connection with a position that the venue no longer
   * holds.
   */
  'execution.loss_unexplained.v1': z.object({
    venue: z.string(),
    /** Negative for a loss. Positive for a part of earlier losses that turned out to be none. */
    amount_usd: z.number(),
  }),
  /**
   * The balance of the venue differs from the books by an amount too small for a deposit or withdrawal. The books do
   * not change.
   */
  'execution.balance_differs.v1': z.object({
    venue: z.string(),
    /** The whole current difference. Positive if the venue has more. */
    unexplained_usd: z.number(),
  }),
  /** While it is active, no position is opened. */
  'execution.reduce_only.v1': z.object({
    active: z.boolean(),
    reason: z.string(),
    /** Null if the engine set it by itself. */
    set_by: z.string().nullable(),
  }),
} as const
