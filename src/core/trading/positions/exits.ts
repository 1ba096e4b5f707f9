import { isFromFuture } from '../../shared/time.ts'
import { type OrderId, type PositionId, type CanonicalSymbol, orderId } from '../../shared/brand.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { accept, refuse, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { derivedId } from '../../shared/derived-id.ts'
import { blocksExits } from '../../shared/level.ts'
import {
  averagePrice,
  costOf,
  minus,
  NO_QUANTITY,
  notionalOf,
  plus,
  priceNumber,
  priceNumberOrNull,
  quantityNumber,
  ratioOf,
  signed,
  usdNumber,
  type Direction,
  type Price,
  type Usd,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { markNow } from '../../signals/prices.ts'
import { PAPER, cancelEvents } from '../orders/orders.ts'
import type { TradingFacts, TradingState } from '../evolve.ts'
import { filledEvent, paperFill, type Fill } from '../orders/fills.ts'
import { newClientOrderId } from '../orders/client-order-id.ts'
import { openPositionsOf, positionsOf } from './book.ts'
import {
  entryOrderOf,
  isOpen,
  isOpenedBy,
  isOpenedByBrain,
  quantityLeft,
  soldOf,
  type ClosedBy,
  type ClosingPosition,
  type ExitReason,
  type OpenPosition,
  type Position,
  type Trigger,
} from './positions.ts'
import { omsEvent } from '../orders/oms-event.ts'

/** An operator who acts through a surface. */
export interface Operator {
  readonly operator: string
  readonly surface: 'api' | 'cli'
  /** Reason for the log. */
  readonly note?: string
}

/** A reason to close a position now. */
export interface Exit {
  readonly position: OpenPosition
  readonly reason: ExitReason
  /** Price before slippage. */
  readonly basePrice: Price
  readonly trigger: Trigger | null
  /** Operator who requested the exit; absent if the engine did. */
  readonly by?: Operator
}

/** Closes a position manually, at every level of the kill switch. */
export const closePosition = (
  facts: TradingFacts,
  id: PositionId,
  by: Operator,
  context: DecisionContext,
): Decision => {
  const position = facts.trading.positions.get(id)
  const extras = { position_id: id }
  if (position === undefined) return refuse('position.not_found', `no position has id ${id}`, extras)
  if (!isOpen(position) || isExitUnderWay(facts, position)) {
    return refuse('position.not_open', `the position is ${position.status}`, {
      ...extras,
      position_status: position.status,
    })
  }
  const exit = exitNow(facts, position, 'manual', context)
  if (exit === null) {
    return refuse('price.unavailable', `no recent price for ${position.terms.asset}`, extras)
  }
  return accept(...exitEvents(facts, { ...exit, by }, context))
}

/** Closes all positions. A position without a price cannot be closed on paper, which is recorded. */
export const closeAll = (facts: TradingFacts, by: Operator, context: DecisionContext): Decision =>
  accept(
    ...openPositionsOf(facts.trading)
      .filter((position) => !isExitUnderWay(facts, position))
      .flatMap((position) => {
        const exit = exitNow(facts, position, 'manual', context)
        return exit === null ? [unpriced(position, context)] : exitEvents(facts, { ...exit, by }, context)
      }),
  )

/**
 * Closes the positions in a symbol that oppose the new direction. The brain and each strategy close only positions that
 * they opened.
 */
export const exitSymbol = (
  facts: TradingFacts,
  { symbol, direction, rule }: { symbol: CanonicalSymbol; direction: Direction | 'flat'; rule?: string },
  context: DecisionContext,
): Decision => {
  if (blocksExits(facts.trading.killSwitch.level)) return accept()
  return accept(
    ...positionsOf(facts.trading, symbol)
      .filter(
        (position) =>
          (rule === undefined ? isOpenedByBrain(position) : isOpenedBy(position, rule)) &&
          position.terms.direction !== direction &&
          position.status !== 'closing',
      )
      .flatMap((position) => exitNow(facts, position, 'bias_flip', context) ?? [])
      .flatMap((exit) => exitEvents(facts, exit, context)),
  )
}

/**
 * On paper, order, fill and close are in one batch. With partial fills, and at a venue, only the order is: bars fill
 * it, or the venue reports its fills.
 */
export const exitEvents = (
  facts: TradingFacts,
  { position, basePrice, reason, trigger, by }: Exit,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { execution } = context.configuration
  const quantity = quantityLeft(position)
  const side = position.terms.direction === 'long' ? 'sell' : 'buy'
  const order = { id: nextExitId(position, context), positionId: position.id, intentId: null }
  const submitted: NewEvent = {
    type: 'execution.order_submitted.v1',
    source: by?.surface ?? 'oms',
    payload: {
      order_id: order.id,
      position_id: position.id,
      intent_id: null,
      venue: position.terms.platform,
      type: 'market',
      side,
      symbol: position.terms.asset,
      size_notional: usdNumber(notionalOf(basePrice, quantity)),
      reduce_only: true,
      idempotency_key: newClientOrderId(order.id, facts.trading.leaderToken),
      quantity: quantityNumber(quantity),
      limit_price: null,
      reference_price: priceNumber(basePrice),
      reference_ts: trigger?.ts ?? context.now,
      trigger,
      limits: {},
      exit_reason: reason,
      valid_until: null,
      // Copied members come last: members after them are written several times slower.
      ...(by === undefined ? {} : { ordered_by: by.operator }),
      ...(by?.note === undefined ? {} : { note: by.note }),
    },
  }
  const begun = [...entryCanceled(facts.trading, position), submitted]
  if (position.terms.platform !== PAPER || execution.paper_partial_fills) return begun
  const fill = paperFill(side, quantity, basePrice, execution)
  return [
    ...begun,
    filledEvent(order, fill, { fillNo: 1, remaining: NO_QUANTITY }),
    ...closedEvents(position, fill, { reason, trigger, by: closedByOf(by) }),
  ]
}

/** The close of a position, and the alert for it. */
export const closedEvents = (
  position: OpenPosition,
  fill: Fill,
  {
    reason,
    trigger,
    by = position.status === 'closing' ? position.exit.by : null,
  }: { readonly reason: ExitReason; readonly trigger: Trigger | null; readonly by?: ClosedBy | null },
): readonly NewEvent[] => {
  const { terms, holding, mark } = position
  const before = soldOf(position)
  const quantity = plus(before.quantity, fill.quantity)
  const costBasis = plus(before.costBasis, costOf(fill.price, fill.quantity))
  const gross = signed(terms.direction, minus(plus(before.notional, fill.notional), holding.notional))
  const fees = plus(holding.fees, fill.fee)
  const net = minus(minus(gross, fees), holding.funding)
  const closed: NewEvent = omsEvent('execution.position_closed.v1', {
    position_id: position.id,
    asset: terms.asset,
    exit_price: priceNumber(averagePrice(costBasis, quantity)),
    realized_pnl: usdNumber(net),
    realized_pnl_pct: r9(ratioOf(net, holding.notional)),
    fees_usd: usdNumber(fees),
    exit_reason: reason,
    mode: terms.platform === PAPER ? 'paper' : 'live',
    gross_pnl: usdNumber(gross),
    funding_usd: usdNumber(holding.funding),
    trigger,
    max_adverse_pct: mark.maxAdverseExcursion,
    max_favorable_pct: mark.maxFavorableExcursion,
    ...(by === null ? {} : { closed_by: by.operator }),
    ...(by === null || by.note === null ? {} : { note: by.note }),
  })
  if (reason !== 'stop_loss' && reason !== 'take_profit') return [closed]
  const markPrice = trigger?.price ?? priceNumber(mark.price)
  return [closed, exitAlert({ position, reason, trigger }, { realized: net, repeat: 0, markPrice })]
}

/** Alert of a stop or target: it closed the position, or, if `realized` is null, the kill switch blocks the exit. */
export const exitAlert = (
  { position, reason, trigger }: Pick<Exit, 'position' | 'reason' | 'trigger'>,
  {
    realized,
    repeat,
    markPrice,
  }: { readonly realized: Usd | null; readonly repeat: number; readonly markPrice: number },
): NewEvent => {
  const { asset, direction } = position.terms
  const isTarget = reason === 'take_profit'
  const what = isTarget ? 'Target' : reason === 'time_stop' ? 'Time stop' : 'Stop'
  const outcome =
    realized === null
      ? 'the kill switch blocks the exit, an operator has to act'
      : `closed with ${usdNumber(realized)} USD`
  const common = {
    urgency: 'immediate' as const,
    message: `${what} of ${direction} ${asset} hit at ${trigger?.price ?? markPrice}: ${outcome}`,
    position_id: position.id,
    symbol: asset,
    direction,
    entry_price: priceNumber(position.holding.entryPrice),
    mark_price: markPrice,
    realized_pnl: realized === null ? null : usdNumber(realized),
    repeat,
  }
  return isTarget
    ? {
        type: 'alert.target_hit',
        source: 'alerts',
        payload: { ...common, take_profit: priceNumberOrNull(position.holding.takeProfit) },
      }
    : {
        type: 'alert.stop_triggered',
        source: 'alerts',
        payload: { ...common, stop_loss: priceNumberOrNull(position.holding.stopLoss) },
      }
}

/**
 * The exit of a position at the current price; null without one. A venue has its own price, so an exit there does not
 * need ours and has the last mark as its reference.
 */
export const exitNow = (
  facts: TradingFacts,
  position: OpenPosition,
  reason: ExitReason,
  context: DecisionContext,
): Exit | null => {
  const { terms, mark } = position
  const price = markNow(facts, terms.asset, context)?.price ?? (terms.platform === PAPER ? null : mark.price)
  return price === null ? null : { position, reason, basePrice: price, trigger: null }
}

/** Retries failed exits, with growing pauses, until their positions are closed. */
export const retryExits = (facts: TradingFacts, context: DecisionContext): Decision =>
  accept(
    ...openPositionsOf(facts.trading)
      .filter((position) => hasStrandedExit(facts.trading, position))
      .filter((position) => !isHeldByKillSwitch(facts.trading, position))
      .filter((position) => isRetryDue(facts.trading, position, Date.parse(context.now)))
      .flatMap((position) => {
        const { reason, trigger } = position.exit
        const again = exitNow(facts, position, reason, context)
        return again === null ? [] : exitEvents(facts, { ...again, trigger }, context)
      }),
  )

/** Whether the exit of a position has ended without closing it. */
export const hasStrandedExit = (
  { orders }: Pick<TradingState, 'orders'>,
  position: Position,
): position is ClosingPosition => {
  if (position.status !== 'closing' || orders.open.has(position.exit.orderId)) return false
  const entry = entryOrderOf(position)
  return entry === null || !orders.open.has(entry)
}

/** True under a lockdown for all exits that no operator ordered. Operators decide about exits then. */
export const isHeldByKillSwitch = (
  { killSwitch }: Pick<TradingState, 'killSwitch'>,
  { exit }: ClosingPosition,
): boolean => blocksExits(killSwitch.level) && exit.reason !== 'manual'

const PAUSE_MS_MAX = 60_000
/**
 * Longest pause, even if the venue requests days: an attempt checks whether the request still holds, and repeats the
 * alert.
 */
const WAIT_MS_MAX = 900_000

/** Time of the next attempt: when the venue allows it, or after a pause that grows with the attempts. */
export const retryMs = ({ orders }: Pick<TradingState, 'orders'>, { exit }: ClosingPosition): number => {
  const ended = orders.ended.get(exit.orderId)
  if (ended === undefined) return 0
  const endedMs = Date.parse(ended.endedAt)
  if (ended.retryAt === null) return endedMs + Math.min(PAUSE_MS_MAX, 1000 * 2 ** (exit.attempt - 1))
  return Math.min(Date.parse(ended.retryAt), endedMs + WAIT_MS_MAX)
}

/** Due also if the time is too far in the future, which only a wrong clock can have set. */
const isRetryDue = (trading: TradingState, position: ClosingPosition, nowMs: number): boolean => {
  const dueMs = retryMs(trading, position)
  return dueMs <= nowMs || isFromFuture(dueMs, nowMs + WAIT_MS_MAX)
}

const closedByOf = (by: Operator | undefined): ClosedBy | null =>
  by === undefined ? null : { operator: by.operator, note: by.note ?? null }

/** Cancels the rest of the entry, which must not fill after an exit. */
const entryCanceled = ({ orders }: TradingState, position: OpenPosition): readonly NewEvent[] => {
  const id = entryOrderOf(position)
  const entry = id === null ? undefined : orders.open.get(id)
  return entry === undefined ? [] : cancelEvents(entry, 'position_exit')
}

/** Each attempt to close a position has a different order id. */
const nextExitId = (position: OpenPosition, { sha256Hex }: DecisionContext): OrderId => {
  const attempt = (position.status === 'closing' ? position.exit.attempt : 0) + 1
  return orderId(derivedId('close', attempt === 1 ? position.id : `${position.id}#${attempt}`, sha256Hex))
}

/** True while an exit order is open; false after it failed. */
const isExitUnderWay = ({ trading: { orders } }: TradingFacts, position: OpenPosition): boolean =>
  position.status === 'closing' && orders.open.has(position.exit.orderId)

const unpriced = (position: OpenPosition, { sha256Hex }: DecisionContext): NewEvent =>
  omsEvent('execution.order_failed.v1', {
    order_id: derivedId('close', position.id, sha256Hex),
    intent_id: null,
    symbol: position.terms.asset,
    reasons: ['no_price'],
    details: { position_id: position.id },
  })
