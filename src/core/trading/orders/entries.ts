import { timestampAt } from '../../shared/time.ts'
import type { NewEvent, PayloadOf } from '../../events/catalogue.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { type Decision, accept } from '../../shared/decision.ts'
import { derivedId } from '../../shared/derived-id.ts'
import {
  type CanonicalSymbol,
  type IntentId,
  type OrderId,
  type PositionId,
  orderId,
  positionId,
} from '../../shared/brand.ts'
import { blocksEntries } from '../../shared/level.ts'
import {
  type Direction,
  NO_QUANTITY,
  NO_USD,
  type Price,
  type Quantity,
  type Usd,
  greater,
  marginOf,
  notionalOf,
  plus,
  priceFrom,
  priceNumber,
  priceNumberOrNull,
  quantityNumber,
  ratioOf,
  shareOf,
  slippedPrice,
  usdFrom,
  usdNumber,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { markNow } from '../../signals/prices.ts'
import { accountStatusOf } from '../risk/account.ts'
import { positionsOf } from '../positions/book.ts'
import { type Destination, destinationOf, planningCosts } from '../venue/destination.ts'
import type { TradingFacts, TradingState } from '../evolve.ts'
import { type Intent, isOver } from './intents.ts'
import { closesOf } from '../risk/ledger.ts'
import { newClientOrderId } from './client-order-id.ts'
import { ruleIn } from '../positions/positions.ts'
import {
  type Fill,
  filledEvent,
  levelsOf,
  levelsPassed,
  paperFill,
  perUsdOf,
  trailingShareOf,
} from './fills.ts'
import {
  type EntryFacts,
  type EntryRules,
  type OrderPlan,
  type Reserved,
  type SizeLimits,
  planned,
} from '../risk/sizing.ts'
import { omsEvent } from './oms-event.ts'
import { type OpenOrder, intentOf, isEntry, quantityOpen } from './orders.ts'

/** Turns a ready intent into an order, or rejects it with all reasons. */
export const enterIntent = (facts: TradingFacts, intentId: IntentId, context: DecisionContext): Decision => {
  const known = facts.trading.intents.get(intentId)
  if (known === undefined) return accept()
  const symbol = canonicalSymbol(known.intent.symbol)
  const { now, configuration, sha256Hex } = context
  const mark = markNow(facts, symbol, context)
  const destination = destinationOf(facts, symbol, context)
  return enter(known, {
    now,
    level: facts.trading.killSwitch.level,
    mark: mark === null ? null : { price: mark.price, ts: timestampAt(mark.atMs) },
    account: accountStatusOf(facts.trading, now),
    reserved: reservedBy(facts.trading, destination, configuration),
    closes: closesOf(facts.trading.ledger.closes, ruleIn(known.intent.conviction_id) ?? undefined),
    heldInSymbol: positionsOf(facts.trading, symbol).length + entriesUnderWay(facts.trading, symbol),
    isHeldAgainst: isHeldAgainst(facts.trading, symbol, known.intent.direction),
    destination,
    rules: configuration,
    leaderToken: facts.trading.leaderToken,
    sha256Hex,
  })
}

/** Runs all checks on the final order. It is sent only if none fails; otherwise every failed check is listed. */
const enter = (known: Intent, facts: EntryFacts): Decision => {
  if (
    known.status === 'awaiting_approval' &&
    isListed(known.intent.symbol, facts.rules.execution.dcg_symbols)
  )
    return accept(...rejected(known, ['dcg_symbol'], null, facts))
  if (known.status !== 'ready') return accept()
  const plan = planned(known, facts)
  const reasons = failedReasons(known, plan, facts)
  if (plan === null || reasons.length > 0) return accept(...rejected(known, reasons, plan, facts))
  return accept(...ordered(known, plan, facts))
}

const rejected = (
  { id, intent }: Intent,
  reasons: readonly CheckReason[],
  plan: OrderPlan | null,
  { now, sha256Hex, mark }: EntryFacts,
): readonly NewEvent[] => {
  const { symbol, direction, cycle_id: traceId } = intent
  const failed: NewEvent = omsEvent(
    'execution.order_failed.v1',
    {
      order_id: derivedId('order', id, sha256Hex),
      intent_id: id,
      symbol,
      reasons: [...reasons],
      details: {
        mark_price: priceNumberOrNull(mark?.price ?? null),
        intended_price: intent.intended_price,
        limits: plan === null ? null : limitNumbers(plan.limits),
        sizing: plan === null ? null : sizingOf(plan),
      },
    },
    traceId,
  )
  if (!reasons.includes('dcg_symbol')) return [failed]
  const violation: NewEvent = omsEvent(
    'system.dcg_violation.v1',
    {
      symbol,
      action: direction === 'long' ? 'buy' : 'sell',
      reason: 'Symbol in DCG blacklist',
      blocked_at: now,
      intent_id: id,
    },
    traceId,
  )
  return [violation, failed]
}

const ordered = (
  { id, intent }: Intent,
  plan: OrderPlan,
  { mark, rules, sha256Hex, now, destination, leaderToken }: EntryFacts,
): readonly NewEvent[] => {
  const { mid, side, limits, notional, quantity, limitPrice } = plan
  const newOrderId = orderId(derivedId('order', id, sha256Hex))
  const order = {
    id: newOrderId,
    positionId: positionId(derivedId('position', newOrderId, sha256Hex)),
    intentId: id,
    traceId: intent.cycle_id,
    venue: destination.name,
  }
  const submitted: NewEvent = omsEvent(
    'execution.order_submitted.v1',
    {
      order_id: order.id,
      position_id: order.positionId,
      intent_id: id,
      venue: destination.name,
      type: limitPrice === null ? 'market' : 'limit',
      side,
      symbol: intent.symbol,
      size_notional: usdNumber(destination.kind === 'paper' ? notional : notionalOf(mid, quantity)),
      reduce_only: false,
      idempotency_key: newClientOrderId(order.id, leaderToken),
      quantity: quantityNumber(quantity),
      limit_price: priceNumberOrNull(limitPrice),
      reference_price: priceNumber(mid),
      reference_ts: mark?.ts ?? now,
      trigger: null,
      limits: limitNumbers(limits),
      sizing: sizingOf(plan),
      exit_reason: null,
      valid_until: intent.valid_until,
    },
    intent.cycle_id,
  )
  // The venue, or later bars, report the fills.
  if (destination.kind === 'venue' || rules.execution.paper_partial_fills) return [submitted]
  const fill = paperFill(side, quantity, mid, rules.execution)
  return [
    submitted,
    filledEvent(order, fill, { fillNo: 1, remaining: NO_QUANTITY }),
    openedEvent({ id, intent }, order, fill, { mid, remaining: NO_QUANTITY, rules }),
  ]
}

/** The event that opens a position, with the first fill of its entry. */
export const openedEvent = (
  { id, intent }: Pick<Intent, 'id' | 'intent'>,
  order: { readonly id: OrderId; readonly positionId: PositionId; readonly venue: string },
  fill: Fill,
  {
    mid,
    remaining,
    rules,
  }: { readonly mid: Price; readonly remaining: Quantity; readonly rules: Pick<EntryRules, 'execution'> },
): NewEvent => {
  const { stopLoss, takeProfit, lossAtStop } = levelsOf(intent, fill, rules.execution)
  const trailing = trailingShareOf(intent, fill.price)
  return omsEvent(
    'execution.position_opened.v1',
    {
      position_id: order.positionId,
      order_id: order.id,
      intent_id: id,
      conviction_id: intent.conviction_id,
      platform: order.venue,
      asset: canonicalSymbol(intent.symbol),
      direction: intent.direction,
      entry_price: priceNumber(fill.price),
      quantity: quantityNumber(fill.quantity),
      size_notional: usdNumber(fill.notional),
      leverage: intent.leverage,
      margin_type: 'isolated',
      stop_loss: priceNumberOrNull(stopLoss),
      take_profit: priceNumberOrNull(takeProfit),
      regime_at_entry: intent.regime,
      pcs_at_entry: intent.pcs_score ?? null,
      cts_at_entry: intent.cts_score ?? null,
      signal_ids: [...intent.signal_ids],
      fees_usd: usdNumber(fill.fee),
      mark_price: priceNumber(mid),
      loss_at_stop_usd: usdNumber(lossAtStop),
      remaining_size: quantityNumber(remaining),
      ...(trailing === undefined ? {} : { trailing_pct: trailing }),
    },
    intent.cycle_id,
  )
}

const limitNumbers = (limits: SizeLimits): Record<string, number> => {
  const numbers: Record<string, number> = {}
  for (const name of Object.keys(limits) as (keyof SizeLimits)[]) {
    const limit = limits[name]
    if (limit !== undefined) numbers[name] = usdNumber(limit)
  }
  return numbers
}

/** The figures that determined the size. */
const sizingOf = ({ learned, limits, notional }: OrderPlan): Sizing => {
  const { estimate, kelly, floor } = learned
  const isProbation = learned.isProbation && limits.kelly !== undefined
  const names = Object.keys(limits) as readonly (keyof SizeLimits)[]
  return {
    probation: isProbation,
    bound_by: names.filter((name) => limits[name] === notional),
    evidence_trades: r9(estimate.evidence),
    win_chance: r9(estimate.chance),
    payoff: r9(estimate.payoff),
    kelly_stake: r9(estimate.stake),
    prior_stake: r9(estimate.priorStake),
    kelly_usd: usdNumber(kelly),
    floor_usd: usdNumber(floor),
  }
}

type Sizing = NonNullable<PayloadOf<'execution.order_submitted.v1'>['sizing']>

export type CheckReason =
  | 'dcg_symbol'
  | 'expired'
  | 'kill_switch'
  | 'approval_required'
  | 'venue_unavailable'
  | 'paper_period'
  | 'no_price'
  | 'price_moved'
  | 'stop_passed'
  | 'target_passed'
  | 'duplicate_position'
  | 'size_zero'
  | 'below_minimum'
  | 'position_limit'
  | 'heat_limit'
  | 'exposure_limit'
  | 'margin_limit'
  | 'leverage_limit'
  | 'daily_loss_limit'
  | 'drawdown_limit'

/** Reasons of all failed checks. Every check runs, whatever the result of the others. */
const failedReasons = (
  { intent, isApproved }: Intent,
  plan: OrderPlan | null,
  facts: EntryFacts,
): readonly CheckReason[] => {
  const { now, level, account, rules, mark } = facts
  const { execution, risk } = rules
  const { destination } = facts
  const isLive = destination.kind === 'venue'
  const isLarge = plan === null || plan.notional >= usdFrom(execution.confirmation_threshold_usd)
  const isMoved =
    mark !== null &&
    intent.intended_price !== null &&
    r9(Math.abs(ratioOf(mark.price, priceFrom(intent.intended_price)) - 1)) > execution.max_entry_drift_pct
  const slippageBps = isLive ? 0 : execution.paper_slippage_bps
  const passed = plan === null ? null : levelsPassed(intent, slippedPrice(plan.mid, plan.side, slippageBps))
  const fails: Readonly<Record<CheckReason, boolean>> = {
    dcg_symbol: isListed(intent.symbol, execution.dcg_symbols),
    expired: isOver(intent, now),
    kill_switch: blocksEntries(level),
    // Applies with real money always, and on paper if approvals are enabled.
    approval_required: (isLive || execution.require_approval === true) && isLarge && !isApproved,
    venue_unavailable: !destination.isAvailable,
    paper_period: isLive && !destination.isPaperPeriodOver,
    no_price: mark === null,
    price_moved: isMoved,
    // A position opened at such a level would close at once.
    stop_passed: passed?.stop === true,
    target_passed: passed?.target === true,
    // A venue nets opposite positions, so neither could be closed by a reduce-only order.
    duplicate_position:
      facts.heldInSymbol >= execution.max_positions_per_symbol || (isLive && facts.isHeldAgainst),
    size_zero: plan !== null && plan.quantity === 0n,
    below_minimum: plan !== null && isLearnedTooSmall(plan),
    position_limit: bounds(plan, 'position', execution.min_notional_usd),
    heat_limit: bounds(plan, 'heat', execution.min_notional_usd),
    exposure_limit: bounds(plan, 'exposure', execution.min_notional_usd),
    margin_limit: bounds(plan, 'margin', execution.min_notional_usd),
    leverage_limit: intent.leverage > risk.max_leverage,
    daily_loss_limit: risk.daily_loss_limit_pct > 0 && account.dayLoss >= risk.daily_loss_limit_pct,
    drawdown_limit: account.drawdown >= risk.max_drawdown_pct,
  }
  return (Object.keys(fails) as readonly CheckReason[]).filter((reason) => fails[reason])
}

/**
 * True if the results so far allow a size, but one below the smallest order. It grows again as losses are forgotten.
 */
const isLearnedTooSmall = ({ quantity, limits, notional }: OrderPlan): boolean =>
  quantity === 0n && notional > 0n && limits.kelly === notional

/** Whether this limit alone leaves less than the smallest order. It is then reported in addition to the size. */
const bounds = (plan: OrderPlan | null, limit: keyof OrderPlan['limits'], smallestUsd: number): boolean =>
  plan !== null && plan.quantity === 0n && (plan.limits[limit] ?? plan.notional) <= usdFrom(smallestUsd)

/** Whether the list contains the symbol, in any spelling. */
const isListed = (symbol: string, listed: readonly string[]): boolean =>
  listed.some((name) => canonicalSymbol(name) === canonicalSymbol(symbol))

const NOTHING: Reserved = { lossAtStop: NO_USD, exposure: NO_USD, margin: NO_USD, cost: NO_USD }

/**
 * Risk that pending entries may still add. A venue fills later, so several simultaneous entries must keep the limits as
 * if each were filled before the next.
 */
const reservedBy = (
  { orders, intents }: Pick<TradingState, 'orders' | 'intents'>,
  destination: Destination,
  { execution }: Pick<EntryRules, 'execution'>,
): Reserved => {
  if (orders.open.size === 0) return NOTHING
  const costs = planningCosts(destination, execution)
  return [...orders.open.values()].filter(isEntry).reduce((sum, order): Reserved => {
    const id = intentOf(order)
    const intent = id === null ? undefined : intents.get(id)?.intent
    const notional = notionalAtWorst(order)
    // Without a known stop or leverage, the whole notional counts.
    const perUsd =
      intent === undefined
        ? { lossAtStop: 1, cost: 0, exposure: 1 }
        : perUsdOf(intent, order.referencePrice, costs)
    return {
      lossAtStop: plus(sum.lossAtStop, shareOf(notional, perUsd.lossAtStop)),
      exposure: plus(sum.exposure, shareOf(notional, perUsd.exposure)),
      margin: plus(sum.margin, marginOf(notional, intent?.leverage ?? 1)),
      cost: plus(sum.cost, shareOf(notional, perUsd.cost)),
    }
  }, NOTHING)
}

const notionalAtWorst = (order: OpenOrder): Usd => {
  const { purpose, referencePrice } = order
  const limit = purpose.kind === 'entry' ? purpose.limitPrice : null
  return notionalOf(limit === null ? referencePrice : greater(limit, referencePrice), quantityOpen(order))
}

/** Number of pending entries in the symbol without a position. Entries with a first fill count as positions. */
const entriesUnderWay = ({ orders }: Pick<TradingState, 'orders'>, symbol: CanonicalSymbol): number =>
  orders.open.count(
    (order) => isEntry(order) && order.filled === 0n && canonicalSymbol(order.symbol) === symbol,
  )

/** Whether a position or pending entry in the symbol has the other direction. */
const isHeldAgainst = (trading: TradingState, symbol: CanonicalSymbol, direction: Direction): boolean => {
  const side = direction === 'long' ? 'sell' : 'buy'
  return (
    positionsOf(trading, symbol).some(({ terms }) => terms.direction !== direction) ||
    trading.orders.open.some(
      (order) => isEntry(order) && order.side === side && canonicalSymbol(order.symbol) === symbol,
    )
  )
}
