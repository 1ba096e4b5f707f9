import type { NewEvent, PayloadOf } from '../../events/catalogue.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { minus, quantityNumber } from '../../shared/money.ts'
import { hasPassed, timestampAt } from '../../shared/time.ts'
import type { TradingState } from '../evolve.ts'
import { isHeldByKillSwitch, retryMs } from '../positions/exits.ts'
import { isProtectiveStop, isUnknown, type Order } from './orders.ts'
import type { ClosingPosition, HeldPosition } from '../positions/positions.ts'

/** A problem of an order or a position at a venue that needs an operator. */
export const executionAlert = ({
  cause,
  message,
  symbol,
  orderId = null,
  positionId = null,
  repeat = 0,
}: {
  readonly cause: PayloadOf<'alert.execution'>['cause']
  readonly message: string
  readonly symbol: string
  readonly orderId?: string | null
  readonly positionId?: string | null
  readonly repeat?: number
}): NewEvent => ({
  type: 'alert.execution',
  source: 'alerts',
  payload: {
    urgency: 'immediate',
    message,
    cause,
    symbol,
    order_id: orderId,
    position_id: positionId,
    repeat,
  },
})

/** Whether an alert about the exit of a position is due: the first one, and then at the interval of repeated alerts. */
export const isExitAlertDue = (
  { exit: { alerted } }: ClosingPosition,
  { now, configuration: { alerts } }: Pick<DecisionContext, 'now' | 'configuration'>,
): boolean => alerted === null || hasPassed(alerts.repeat_seconds * 1000, alerted.at, now)

/**
 * Alert about a failed exit, the first time and then at the interval of repeated alerts, because there may be many
 * attempts.
 */
export const exitFailedAlert = (
  trading: TradingState,
  position: ClosingPosition,
  { order: { id, symbol }, reason }: { readonly order: Order; readonly reason: string },
  context: DecisionContext,
): readonly NewEvent[] => {
  const { attempt, unsent, alerted } = position.exit
  if (!isExitAlertDue(position, context)) return []
  const left = quantityNumber(minus(position.holding.quantity, position.exit.quantity))
  const next = nextOf(trading, position)
  return [
    executionAlert({
      cause: 'exit_failed',
      message:
        `An exit of ${symbol} has not succeeded yet: ${left} are still held; ${next}. ` +
        `Attempts: ${attempt}, of which the venue examined ${attempt - unsent}. The last one: ${reason}`,
      symbol,
      orderId: id,
      positionId: position.id,
      repeat: alerted === null ? 0 : alerted.repeat + 1,
    }),
  ]
}

const nextOf = (trading: TradingState, position: ClosingPosition): string => {
  const order = trading.orders.open.get(position.exit.orderId)
  if (order !== undefined && !isUnknown(order))
    return isHeldByKillSwitch(trading, position)
      ? 'the order is still open at the venue, and the kill switch blocks another one: an operator has to close it'
      : 'the order is still open at the venue: it is canceled there, and the rest is ordered again'
  if (order !== undefined)
    return 'whether the last attempt has arrived is not known, and the venue is asked again'
  if (isHeldByKillSwitch(trading, position))
    return 'the kill switch blocks further attempts: an operator has to close it'
  return `still trying, next attempt at ${timestampAt(retryMs(trading, position))}`
}

/** The position stays open without the stop that the venue refused. The engine still monitors it. */
export const unprotectedEvents = (
  { orders }: TradingState,
  { holding }: HeldPosition,
  { id, positionId, symbol, venue }: Order,
): readonly NewEvent[] => {
  const stop = orders.ended.get(id)
  if (stop === undefined || !isProtectiveStop(stop) || stop.status === 'canceled') return []
  return [
    executionAlert({
      cause: 'stop_not_resting',
      message:
        `${venue} does not hold the stop of ${symbol}: it is watched here, and it ends if the engine does. ` +
        'It is tried again',
      symbol,
      orderId: id,
      positionId,
      repeat: (holding.stop?.count ?? 1) - 1,
    }),
  ]
}

/** Reason why an order ended, for people. */
export const reasonIn = (end: NewEvent | null): string => {
  if (end?.type === 'execution.order_canceled.v1') return `canceled (${end.payload.reason})`
  if (end?.type !== 'execution.order_failed.v1') return 'it was filled in part'
  const { reasons, details } = end.payload
  const said = details['reason'] ?? details['venue_reason']
  return `${reasons.join(', ')}${typeof said === 'string' ? `: ${said}` : ''}`
}
