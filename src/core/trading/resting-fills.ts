import type { NewEvent } from '../events/catalogue.ts'
import { closedEvents } from './exits.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { canceledEvent } from './cancel.ts'
import { openedEvent } from './entry.ts'
import type { Order } from './orders.ts'
import { filledEvent, levelsOf, paperFill, type Fill } from './paper.ts'
import { withFill } from './growing.ts'
import { updateOf } from './monitor.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { unitsFrom, type Quantity } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { TradingFacts } from './evolve.ts'

export interface TradedBar {
  readonly symbol: string
  readonly close: number
  readonly volume: number
  readonly closeTs: string
}

/** Paper orders that wait for volume take their share of a bar. */
export const fillResting = (facts: TradingFacts, bar: TradedBar, context: DecisionContext): Decision => {
  if (facts.trading.orders.open.size === 0) return accept()
  const symbol = canonicalSymbol(bar.symbol)
  return accept(
    ...[...facts.trading.orders.open.values()]
      .filter(
        (order) =>
          order.venue === 'paper' &&
          canonicalSymbol(order.symbol) === symbol &&
          order.submittedAt < bar.closeTs,
      )
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .flatMap((order) => fillEvents(facts, order, bar, context)),
  )
}

const fillEvents = (
  facts: TradingFacts,
  order: Order,
  bar: TradedBar,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { execution } = context.configuration
  const isLate = order.validUntil !== null && order.validUntil < context.now
  if (!order.isExit && isLate) return [canceledEvent(order, 'expired')]
  const available = unitsFrom(bar.volume * execution.paper_max_volume_share)
  const wanted = order.quantity - order.filled
  const quantity = available < wanted ? available : wanted
  if (quantity <= 0n) return []
  const fill = paperFill(order.side, quantity, unitsFrom(bar.close), execution)
  const remaining = wanted - quantity
  return [
    filledEvent(order, fill, { fillNo: order.fills + 1, remaining }),
    ...(order.isExit
      ? exitProgress(facts, order, fill, remaining)
      : entryProgress(facts, order, fill, { remaining, mid: bar.close, context })),
  ]
}

const exitProgress = (
  { trading: { positions } }: TradingFacts,
  { positionId }: Order,
  fill: Fill,
  remaining: Quantity,
): readonly NewEvent[] => {
  const position = positions.get(positionId)
  const exit = position?.holding.exit
  if (position === undefined || exit === null || exit === undefined || remaining > 0n) return []
  return closedEvents(position, fill, { reason: exit.reason, trigger: exit.trigger })
}

/** The first fill opens; each further one moves the average, and stop and target with it. */
export const entryProgress = (
  { trading: { intents }, trading: { positions } }: TradingFacts,
  order: Order,
  fill: Fill,
  {
    remaining,
    mid,
    context,
  }: { readonly remaining: Quantity; readonly mid: number; readonly context: DecisionContext },
): readonly NewEvent[] => {
  const known = intents.get(order.intentId ?? '')
  if (known === undefined) return []
  const rules = context.configuration
  const position = positions.get(order.positionId)
  if (position === undefined) {
    return [openedEvent(known, order, fill, { mid: unitsFrom(mid), remaining, rules })]
  }
  const grown = withFill(position, fill)
  const levels = levelsOf(known.intent, grown.average, rules.execution)
  return [
    updateOf(
      { ...grown.position, holding: { ...grown.position.holding, ...levels } },
      { status: position.status, reason: 'filled' },
    ),
  ]
}
