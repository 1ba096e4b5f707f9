import type { NewEvent } from '../../events/catalogue.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { quantityNumber } from '../../shared/money.ts'
import { hasPassed } from '../../shared/time.ts'
import { openPositionsOf } from './book.ts'
import type { TradingFacts, TradingState } from '../evolve.ts'
import { exitFailedAlert, isExitAlertDue } from '../orders/execution-alerts.ts'
import { exitEvents, exitNow, isHeldByKillSwitch } from './exits.ts'
import { cancelEvents, isProtectiveStop, isUnknown, PAPER, type WorkingOrder } from '../orders/orders.ts'
import type { ClosingPosition } from './positions.ts'

/** An exit that the venue has not filled in time, of a position that the venue still holds. */
export interface OverdueExit {
  readonly position: ClosingPosition
  readonly order: WorkingOrder
}

/** Exits that have been open at a venue for `execution.exit_timeout_seconds` and need an action or a report. */
export const overdueExits = (
  trading: Pick<TradingState, 'orders' | 'killSwitch' | 'positions' | 'book'>,
  rules: Pick<DecisionContext, 'now' | 'configuration'>,
): readonly OverdueExit[] =>
  openPositionsOf(trading).flatMap((position): readonly OverdueExit[] => {
    if (position.status !== 'closing') return []
    const order = trading.orders.open.get(position.exit.orderId)
    if (order === undefined || order.venue === PAPER || isUnknown(order) || order.status === 'submitting')
      return []
    const timeoutMs = rules.configuration.execution.exit_timeout_seconds * 1000
    if (!hasPassed(timeoutMs, order.submittedAt, rules.now)) return []
    const isActionDue = order.cancelReason === null && !isHeldByKillSwitch(trading, position)
    return isActionDue || isExitAlertDue(position, rules) ? [{ position, order }] : []
  })

/** Raises an alert for each overdue exit and cancels it at the venue, so that its rest is ordered again. */
export const endOverdueExits = (facts: TradingFacts, context: DecisionContext): Decision =>
  accept(...overdueExits(facts.trading, context).flatMap((overdue) => overdueEvents(facts, overdue, context)))

/** A stop that the venue triggered cannot be canceled by its name. The rest is ordered in addition to it. */
const overdueEvents = (
  facts: TradingFacts,
  { position, order }: OverdueExit,
  context: DecisionContext,
): readonly NewEvent[] => {
  const seconds = Math.round((Date.parse(context.now) - Date.parse(order.submittedAt)) / 1000)
  const filled = quantityNumber(order.filled)
  const reason = `${order.venue} has filled ${filled} of ${quantityNumber(order.quantity)} in ${seconds} s`
  const alert = exitFailedAlert(facts.trading, position, { order, reason }, context)
  if (isHeldByKillSwitch(facts.trading, position)) return alert
  if (!isProtectiveStop(order)) return [...alert, ...cancelEvents(order, 'exit_overdue')]
  const again = exitNow(facts, position, position.exit.reason, context)
  return again === null
    ? alert
    : [...alert, ...exitEvents(facts, { ...again, trigger: position.exit.trigger }, context)]
}
