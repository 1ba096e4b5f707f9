import type { NewEvent } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { derivedId } from '../shared/derived-id.ts'
import { notionalOf, unitsNumber, usdNumber, type Price, type Quantity } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { failedReasons, isListed, type CheckReason } from './checks.ts'
import type { Intent } from './intents.ts'
import { filledEvent, levelsOf, paperFill, type Fill } from './paper.ts'
import { planned, type EntryFacts, type OrderPlan } from './plan.ts'
import type { EntryRules } from './rules.ts'
import type { SizeLimits } from './sizing.ts'

/** All checks on the final order; it is sent only if none fails, and every failing one is listed. */
export const enter = (known: Intent | undefined, facts: EntryFacts): Decision => {
  if (
    known?.status === 'awaiting_approval' &&
    isListed(known.intent.symbol, facts.rules.execution.dcg_symbols)
  )
    return accept(...rejected(known, ['dcg_symbol'], null, facts))
  if (known?.status !== 'ready') return accept()
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
  const failed: NewEvent = {
    type: 'execution.order_failed.v1',
    source: 'oms',
    traceId,
    payload: {
      order_id: derivedId('order', id, sha256Hex),
      intent_id: id,
      symbol,
      reasons: [...reasons],
      details: {
        mark_price: mark?.price ?? null,
        intended_price: intent.intended_price,
        limits: plan === null ? null : limitNumbers(plan.limits),
      },
    },
  }
  if (!reasons.includes('dcg_symbol')) return [failed]
  const violation: NewEvent = {
    type: 'system.dcg_violation.v1',
    source: 'oms',
    traceId,
    payload: {
      symbol,
      action: direction === 'long' ? 'buy' : 'sell',
      reason: 'Symbol in DCG blacklist',
      blocked_at: now,
      intent_id: id,
    },
  }
  return [violation, failed]
}

const ordered = (
  { id, intent }: Intent,
  { mid, side, limits, notional, quantity, limitPrice }: OrderPlan,
  { mark, rules, sha256Hex, now, destination }: EntryFacts,
): readonly NewEvent[] => {
  const orderId = derivedId('order', id, sha256Hex)
  const positionId = derivedId('position', orderId, sha256Hex)
  const order = { id: orderId, positionId, intentId: id, traceId: intent.cycle_id, venue: destination.name }
  const submitted: NewEvent = {
    type: 'execution.order_submitted.v1',
    source: 'oms',
    traceId: intent.cycle_id,
    payload: {
      order_id: orderId,
      position_id: positionId,
      intent_id: id,
      venue: destination.name,
      type: limitPrice === null ? 'market' : 'limit',
      side,
      symbol: intent.symbol,
      size_notional: usdNumber(destination.kind === 'paper' ? notional : notionalOf(mid, quantity)),
      reduce_only: false,
      idempotency_key: clientOrderId(orderId),
      quantity: unitsNumber(quantity),
      limit_price: limitPrice === null ? null : unitsNumber(limitPrice),
      reference_price: unitsNumber(mid),
      reference_ts: mark?.ts ?? now,
      trigger: null,
      limits: limitNumbers(limits),
      exit_reason: null,
      valid_until: intent.valid_until,
    },
  }
  // What a venue makes of it is told by the venue.
  if (destination.kind === 'venue' || rules.execution.paper_partial_fills) return [submitted]
  const fill = paperFill(side, quantity, mid, rules.execution)
  return [
    submitted,
    filledEvent(order, fill, { fillNo: 1, remaining: 0n }),
    openedEvent({ id, intent }, order, fill, { mid, remaining: 0n, rules }),
  ]
}

/** A position exists from its first fill. */
export const openedEvent = (
  { id, intent }: Pick<Intent, 'id' | 'intent'>,
  order: { readonly id: string; readonly positionId: string; readonly venue: string },
  fill: Fill,
  {
    mid,
    remaining,
    rules,
  }: { readonly mid: Price; readonly remaining: Quantity; readonly rules: Pick<EntryRules, 'execution'> },
): NewEvent => {
  const { stopLoss, takeProfit, lossAtStop } = levelsOf(intent, fill, rules.execution)
  return {
    type: 'execution.position_opened.v1',
    source: 'oms',
    traceId: intent.cycle_id,
    payload: {
      position_id: order.positionId,
      order_id: order.id,
      intent_id: id,
      conviction_id: intent.conviction_id,
      platform: order.venue,
      asset: canonicalSymbol(intent.symbol),
      direction: intent.direction,
      entry_price: unitsNumber(fill.price),
      quantity: unitsNumber(fill.quantity),
      size_notional: usdNumber(fill.notional),
      leverage: intent.leverage,
      margin_type: 'isolated',
      stop_loss: stopLoss === null ? null : unitsNumber(stopLoss),
      take_profit: takeProfit === null ? null : unitsNumber(takeProfit),
      regime_at_entry: intent.regime,
      pcs_at_entry: intent.pcs_score ?? null,
      cts_at_entry: intent.cts_score ?? null,
      signal_ids: [...intent.signal_ids],
      fees_usd: usdNumber(fill.fee),
      mark_price: unitsNumber(mid),
      loss_at_stop_usd: usdNumber(lossAtStop),
      remaining_size: unitsNumber(remaining),
    },
  }
}

/** The name under which a venue knows the order: the same however often it is sent. */
export const clientOrderId = (orderId: string): string => orderId.replaceAll('-', '')

const limitNumbers = (limits: SizeLimits): Record<string, number> =>
  Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, usdNumber(limit)]))
