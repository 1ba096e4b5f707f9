import { markNow } from './cycle-inputs.ts'
import type { NewEvent } from './events/catalogue.ts'
import type { Moment } from './moment.ts'
import { canceledEvent } from './orders/cancel.ts'
import { clientOrderId } from './orders/entry.ts'
import { filledEvent, paperFill, type Fill } from './orders/paper.ts'
import { openPositionsOf, positionsOf } from './positions/book.ts'
import { closingEvent } from './positions/closing.ts'
import { exitAlert, type Exit } from './positions/monitor.ts'
import { isOpen, type ExitReason, type Position, type Trigger } from './positions/positions.ts'
import type { State } from './state.ts'
import { accept, refuse, type Decision } from './vocabulary/decision.ts'
import { derivedId } from './vocabulary/derived-id.ts'
import type { Direction } from './vocabulary/money.ts'
import { notionalOf, unitsFrom, unitsNumber, usdNumber } from './vocabulary/money.ts'

/** An operator who acts through a surface. */
export interface Operator {
  readonly operator: string
  readonly surface: 'api' | 'cli'
}

/** By hand, at every level. */
export const closePosition = (state: State, positionId: string, by: Operator, moment: Moment): Decision => {
  const position = state.positions.get(positionId)
  const extras = { position_id: positionId }
  if (position === undefined) return refuse('position.not_found', `no position has id ${positionId}`, extras)
  if (!isOpen(position) || position.status === 'closing') {
    return refuse('position.not_open', `the position is ${position.status}`, {
      ...extras,
      position_status: position.status,
    })
  }
  const exit = exitNow(state, position, 'manual', moment)
  if (exit === null) {
    return refuse('price.unavailable', `nobody tells a price of ${position.terms.asset}`, extras)
  }
  return accept(...exitEvents(state, exit, moment).map((event) => saidBy(event, by)))
}

/** All at once; what has no price cannot be closed, and that is recorded. */
export const closeAll = (state: State, by: Operator, moment: Moment): Decision =>
  accept(
    ...openPositionsOf(state)
      .filter(({ status }) => status !== 'closing')
      .flatMap((position) => {
        const exit = exitNow(state, position, 'manual', moment)
        const events = exit === null ? [unpriced(position, moment)] : exitEvents(state, exit, moment)
        return events.map((event) => saidBy(event, by))
      }),
  )

/** The brain turned around: positions against its direction end. */
export const exitSymbol = (
  state: State,
  { symbol, direction }: { readonly symbol: string; readonly direction: Direction },
  moment: Moment,
): Decision => {
  if (state.killSwitch.level === LOCKDOWN) return accept()
  return accept(
    ...positionsOf(state, symbol)
      .filter(({ terms, status }) => terms.direction !== direction && status !== 'closing')
      .flatMap((position) => exitNow(state, position, 'bias_flip', moment) ?? [])
      .flatMap((exit) => exitEvents(state, exit, moment)),
  )
}

/** Order, fill and close in one batch; with partial fills the order alone, and the bars do the rest. */
export const exitEvents = (state: State, exit: Exit, moment: Moment): readonly NewEvent[] => {
  const { position, basePrice, reason, trigger } = exit
  const { execution } = moment.configuration
  const { quantity } = position.holding
  const side = position.terms.direction === 'long' ? 'sell' : 'buy'
  const order = {
    id: derivedId('close', position.id, moment.sha256Hex),
    positionId: position.id,
    intentId: null,
  }
  const entry = state.orders.open.get(position.terms.orderId)
  const submitted: NewEvent = {
    type: 'execution.order_submitted.v1',
    source: 'oms',
    payload: {
      order_id: order.id,
      position_id: position.id,
      intent_id: null,
      venue: 'paper',
      type: 'market',
      side,
      symbol: position.terms.asset,
      size_notional: usdNumber(notionalOf(basePrice, quantity)),
      reduce_only: true,
      idempotency_key: clientOrderId(order.id),
      quantity: unitsNumber(quantity),
      limit_price: null,
      reference_price: unitsNumber(basePrice),
      reference_ts: trigger?.ts ?? moment.now,
      trigger,
      limits: {},
      exit_reason: reason,
      valid_until: null,
    },
  }
  const begun = entry === undefined ? [submitted] : [canceledEvent(entry, 'position_exit'), submitted]
  if (execution.paper_partial_fills) return begun
  const fill = paperFill(side, quantity, basePrice, execution)
  return [
    ...begun,
    filledEvent(order, fill, { fillNo: 1, remaining: 0n }),
    ...closedEvents(position, fill, { reason, trigger }),
  ]
}

/** The end of a position, with the alarm that belongs to it. */
export const closedEvents = (
  position: Position,
  fill: Fill,
  { reason, trigger }: { readonly reason: ExitReason; readonly trigger: Trigger | null },
): readonly NewEvent[] => {
  const { event, realized } = closingEvent(position, fill, { reason, trigger, mode: 'paper' })
  if (reason !== 'stop_loss' && reason !== 'take_profit') return [event]
  const markPrice = trigger?.price ?? position.mark.price
  return [event, exitAlert({ position, reason, trigger }, { realized, repeat: 0, markPrice })]
}

const LOCKDOWN = 3

const exitNow = (state: State, position: Position, reason: ExitReason, moment: Moment): Exit | null => {
  const mark = markNow(state, position.terms.asset, moment)
  return mark === null ? null : { position, reason, basePrice: unitsFrom(mark.price), trigger: null }
}

const unpriced = (position: Position, { sha256Hex }: Moment): NewEvent => ({
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

/** Who ordered it stands in the source of the order. */
const saidBy = (event: NewEvent, { surface }: Operator): NewEvent =>
  event.type === 'execution.order_submitted.v1' ? { ...event, source: surface } : event
