import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { derivedId } from '../../shared/derived-id.ts'
import type { Configuration } from '../../config/schema.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { orderId, type PositionId, type Timestamp } from '../../shared/brand.ts'
import { blocksExits } from '../../shared/level.ts'
import { notionalOf, priceNumber, quantityNumber, usdNumber, type Price } from '../../shared/money.ts'
import { hasPassed } from '../../shared/time.ts'
import { openPositionsOf } from './book.ts'
import type { TradingFacts, TradingState } from '../evolve.ts'
import { newClientOrderId } from '../orders/client-order-id.ts'
import { byId, cancelEvents, isEntry, isProtectiveStop, PAPER, type OpenOrder } from '../orders/orders.ts'
import { isOpen, quantityLeft, type HeldPosition, type OpenPosition } from './positions.ts'
import { omsEvent } from '../orders/oms-event.ts'

/*
 * A position at a venue has a stop that rests there, so that it closes at its stop even while the engine is down. The
 * engine monitors the stop too and exits by a market order. Both only reduce the position, so their order does not
 * matter.
 */

/** Orders, replaces or cancels stops at the venue until every open position has the stop that it should have. */
export const keepProtectiveStops = (facts: TradingFacts, context: DecisionContext): Decision => {
  const { trading } = facts
  return accept(
    ...openPositionsOf(trading).flatMap((position) => stopEvents(trading, position, context)),
    ...leftOvers(trading).flatMap((order) => cancelEvents(order, 'position_closed')),
  )
}

/** Like `keepProtectiveStops`, for one position as soon as it changes. */
export const protectPosition = (facts: TradingFacts, id: PositionId, context: DecisionContext): Decision => {
  const { trading } = facts
  const position = trading.positions.get(id)
  if (position === undefined || position.terms.platform === PAPER) return accept()
  return accept(
    ...(isOpen(position) ? stopEvents(trading, position, context) : []),
    ...leftOvers(trading)
      .filter(({ positionId }) => positionId === id)
      .flatMap((order) => cancelEvents(order, 'position_closed')),
  )
}

/** Whether `keepProtectiveStops` would do anything. */
export const isProtectionDue = (
  trading: TradingState,
  rules: Pick<DecisionContext, 'now' | 'configuration'>,
): boolean =>
  leftOvers(trading).length > 0 ||
  openPositionsOf(trading).some((position) => {
    const { wanted, unwanted } = changeOf(trading, position, rules)
    return wanted !== null || unwanted.length > 0
  })

interface StopChange {
  /** Price of the stop to order; null if none is missing. */
  readonly wanted: Price | null
  readonly unwanted: readonly OpenOrder[]
}

const NO_CHANGE: StopChange = { wanted: null, unwanted: [] }

/** The old stop is canceled only after the new one rests, so that the position always has one. */
const changeOf = (
  trading: TradingState,
  position: OpenPosition,
  { now, configuration }: Pick<DecisionContext, 'now' | 'configuration'>,
): StopChange => {
  // A closing position keeps its stop, in case the exit fails. Under lockdown nothing is sent.
  if (position.status === 'closing' || blocksExits(trading.killSwitch.level)) return NO_CHANGE
  const stops = [...trading.orders.open.values()]
    .filter(
      (order) => isProtectiveStop(order) && order.positionId === position.id && order.cancelReason === null,
    )
    .toSorted(byId)
  const level = mayRest(trading, position, configuration) ? position.holding.stopLoss : null
  if (level === null) return { wanted: null, unwanted: stops }
  const right = stops.find((order) => isStopOf(order, position, level))
  if (right === undefined) return { wanted: isDue(trading, position, now) ? level : null, unwanted: [] }
  return right.status === 'open'
    ? { wanted: null, unwanted: stops.filter((stop) => stop !== right) }
    : NO_CHANGE
}

const mayRest = (
  { venue }: TradingState,
  { terms: { platform, origin } }: HeldPosition,
  { execution }: Configuration,
): boolean =>
  execution.venue_stops &&
  platform !== PAPER &&
  origin.kind !== 'adopted' &&
  venue.restingStops &&
  venue.checked?.venue === platform

const isStopOf = ({ quantity, purpose }: OpenOrder, position: HeldPosition, level: Price): boolean =>
  purpose.kind === 'protective_stop' && purpose.triggerPrice === level && quantity === quantityLeft(position)

const PAUSE_MS_MAX = 300_000

/** After a refusal, pauses grow before the venue is asked again. */
const isDue = ({ orders }: TradingState, { holding: { stop } }: HeldPosition, now: Timestamp): boolean => {
  const before = stop === null ? undefined : orders.ended.get(stop.orderId)
  if (stop === null || before === undefined) return true
  const wasRefused = before.status === 'rejected' || before.status === 'failed'
  const pauseMs = wasRefused ? Math.min(PAUSE_MS_MAX, 2500 * 2 ** Math.min(stop.count, 10)) : 1000
  return hasPassed(pauseMs, before.endedAt, now)
}

const stopEvents = (
  trading: TradingState,
  position: OpenPosition,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { wanted, unwanted } = changeOf(trading, position, context)
  return [
    ...(wanted === null ? [] : [orderedEvent(position, wanted, trading.leaderToken, context)]),
    ...unwanted.flatMap((order) => cancelEvents(order, 'stop_replaced')),
  ]
}

const orderedEvent = (
  position: OpenPosition,
  level: Price,
  leaderToken: number,
  { now, sha256Hex }: DecisionContext,
): NewEvent => {
  const { id: positionId, terms, holding } = position
  const quantity = quantityLeft(position)
  const count = (holding.stop?.count ?? 0) + 1
  const id = orderId(derivedId('stop', `${positionId}#${count}`, sha256Hex))
  return omsEvent('execution.order_submitted.v1', {
    order_id: id,
    position_id: positionId,
    intent_id: null,
    venue: terms.platform,
    type: 'stop_market',
    side: terms.direction === 'long' ? 'sell' : 'buy',
    symbol: terms.asset,
    size_notional: usdNumber(notionalOf(level, quantity)),
    reduce_only: true,
    idempotency_key: newClientOrderId(id, leaderToken),
    quantity: quantityNumber(quantity),
    limit_price: null,
    trigger_price: priceNumber(level),
    reference_price: priceNumber(level),
    reference_ts: now,
    trigger: null,
    limits: {},
    exit_reason: null,
    valid_until: null,
  })
}

/**
 * Reducing orders of closed positions. They must be canceled, because they would reduce the next position in the
 * symbol.
 */
const leftOvers = ({ orders, positions }: TradingState): readonly OpenOrder[] =>
  [...orders.open.values()]
    .filter((order) => {
      if (isEntry(order) || order.venue === PAPER || order.cancelReason !== null) return false
      const position = positions.get(order.positionId)
      return position === undefined || !isOpen(position)
    })
    .toSorted(byId)
