import { markNow } from '../signals/prices.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { givenUp } from './cancel.ts'
import { PAPER } from './venue-destination.ts'
import { clientOrderId } from './entry.ts'
import { filledEvent, paperFill, type Fill } from './paper.ts'
import { openPositionsOf, positionsOf } from './book.ts'
import { closingEvent } from './closing.ts'
import { exitAlert, type Exit } from './monitor.ts'
import { isOpen, type ClosedBy, type ExitReason, type Position, type Trigger } from './positions.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { derivedId } from '../shared/derived-id.ts'
import type { Direction } from '../shared/money.ts'
import { notionalOf, unitsFrom, unitsNumber, usdNumber } from '../shared/money.ts'
import type { TradingFacts } from './evolve.ts'

/** An operator who acts through a surface. */
export interface Operator {
  readonly operator: string
  readonly surface: 'api' | 'cli'
  /** Why, for the log. */
  readonly note?: string
}

/** An exit, and who wants it; nobody in particular where the engine does. */
export type ExitRequest = Exit & { readonly by?: Operator }

/** By hand, at every level. */
export const closePosition = (
  facts: TradingFacts,
  positionId: string,
  by: Operator,
  context: DecisionContext,
): Decision => {
  const position = facts.trading.positions.get(positionId)
  const extras = { position_id: positionId }
  if (position === undefined) return refuse('position.not_found', `no position has id ${positionId}`, extras)
  if (!isOpen(position) || isLeaving(facts, position)) {
    return refuse('position.not_open', `the position is ${position.status}`, {
      ...extras,
      position_status: position.status,
    })
  }
  const exit = exitNow(facts, position, 'manual', context)
  if (exit === null) {
    return refuse('price.unavailable', `nobody tells a price of ${position.terms.asset}`, extras)
  }
  return accept(...exitEvents(facts, { ...exit, by }, context))
}

/** All at once; what has no price cannot be closed, and that is recorded. */
export const closeAll = (facts: TradingFacts, by: Operator, context: DecisionContext): Decision =>
  accept(
    ...openPositionsOf(facts.trading)
      .filter((position) => !isLeaving(facts, position))
      .flatMap((position) => {
        const exit = exitNow(facts, position, 'manual', context)
        return exit === null ? [unpriced(position, context)] : exitEvents(facts, { ...exit, by }, context)
      }),
  )

/** The brain turned around: positions against its direction end. */
export const exitSymbol = (
  facts: TradingFacts,
  { symbol, direction }: { readonly symbol: string; readonly direction: Direction },
  context: DecisionContext,
): Decision => {
  if (facts.trading.killSwitch.level === LOCKDOWN) return accept()
  return accept(
    ...positionsOf(facts.trading, symbol)
      .filter(
        ({ terms, status }) => !terms.isAdopted && terms.direction !== direction && status !== 'closing',
      )
      .flatMap((position) => exitNow(facts, position, 'bias_flip', context) ?? [])
      .flatMap((exit) => exitEvents(facts, exit, context)),
  )
}

/**
 * Order, fill and close in one batch; with partial fills the order alone, and the bars do the rest. At a venue the
 * order alone, too: what becomes of it is told by the venue.
 */
export const exitEvents = (
  facts: TradingFacts,
  exit: ExitRequest,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { position, basePrice, reason, trigger, by } = exit
  const { execution } = context.configuration
  const quantity = position.holding.quantity - (position.holding.exit?.quantity ?? 0n)
  const side = position.terms.direction === 'long' ? 'sell' : 'buy'
  const order = { id: nextExitId(position, context), positionId: position.id, intentId: null }
  const entry = facts.trading.orders.open.get(position.terms.orderId)
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
      idempotency_key: clientOrderId(order.id),
      quantity: unitsNumber(quantity),
      limit_price: null,
      reference_price: unitsNumber(basePrice),
      reference_ts: trigger?.ts ?? context.now,
      trigger,
      limits: {},
      exit_reason: reason,
      ...(by === undefined ? {} : { ordered_by: by.operator }),
      ...(by?.note === undefined ? {} : { note: by.note }),
      valid_until: null,
    },
  }
  const begun = entry === undefined ? [submitted] : [...givenUp(entry, 'position_exit'), submitted]
  if (position.terms.platform !== PAPER || execution.paper_partial_fills) return begun
  const fill = paperFill(side, quantity, basePrice, execution)
  return [
    ...begun,
    filledEvent(order, fill, { fillNo: 1, remaining: 0n }),
    ...closedEvents(position, fill, { reason, trigger, by: signatureOf(by) }),
  ]
}

/** The end of a position, with the alarm that belongs to it. */
export const closedEvents = (
  position: Position,
  fill: Fill,
  {
    reason,
    trigger,
    by = position.holding.exit?.by ?? null,
  }: { readonly reason: ExitReason; readonly trigger: Trigger | null; readonly by?: ClosedBy | null },
): readonly NewEvent[] => {
  const mode = position.terms.platform === PAPER ? 'paper' : 'live'
  const { event, realized } = closingEvent(position, fill, { reason, trigger, mode, by })
  if (reason !== 'stop_loss' && reason !== 'take_profit') return [event]
  const markPrice = trigger?.price ?? position.mark.price
  return [event, exitAlert({ position, reason, trigger }, { realized, repeat: 0, markPrice })]
}

const LOCKDOWN = 3

const signatureOf = (by: Operator | undefined): ClosedBy | null =>
  by === undefined ? null : { operator: by.operator, note: by.note ?? null }

/** Attempt n of leaving a position has its own name. */
const nextExitId = (position: Position, { sha256Hex }: DecisionContext): string => {
  const attempt = (position.holding.exit?.attempt ?? 0) + 1
  return derivedId('close', attempt === 1 ? position.id : `${position.id}#${attempt}`, sha256Hex)
}

/** A venue has a price of its own: there it goes without ours, and the last one seen is the reference. */
export const exitNow = (
  facts: TradingFacts,
  position: Position,
  reason: ExitReason,
  context: DecisionContext,
): Exit | null => {
  const { terms, mark: seen } = position
  const price = markNow(facts, terms.asset, context)?.price ?? (terms.platform === PAPER ? null : seen.price)
  return price === null ? null : { position, reason, basePrice: unitsFrom(price), trigger: null }
}

/** Whether an exit is under way; one that failed is not. */
const isLeaving = ({ trading: { orders } }: TradingFacts, { status, holding }: Position): boolean =>
  status === 'closing' && holding.exit !== null && orders.open.has(holding.exit.orderId)

const unpriced = (position: Position, { sha256Hex }: DecisionContext): NewEvent => ({
  type: 'execution.order_failed.v1',
  source: 'oms',
  payload: {
    order_id: derivedId('close', position.id, sha256Hex),
    intent_id: null,
    symbol: position.terms.asset,
    reasons: ['no_price'],
    details: { position_id: position.id },
  },
})
