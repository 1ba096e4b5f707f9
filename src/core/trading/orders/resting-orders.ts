import type { Timestamp, CanonicalSymbol } from '../../shared/brand.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import {
  averagePrice,
  costOf,
  lesser,
  minus,
  plus,
  quantityFrom,
  type Price,
  type Quantity,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { PAPER, byId, canceledEvent, intentOf, quantityOpen, type OpenOrder } from './orders.ts'
import { openedEvent } from './entries.ts'
import type { TradingFacts } from '../evolve.ts'
import { closedEvents } from '../positions/exits.ts'
import { filledEvent, levelsOf, paperFill, type Fill } from './fills.ts'
import { isOpen, updateOf } from '../positions/positions.ts'

export interface TradedBar {
  readonly symbol: CanonicalSymbol
  readonly close: Price
  readonly volume: number
  readonly closeTs: Timestamp
}

/** Fills waiting paper orders with their share of the volume of a bar. */
export const fillResting = (facts: TradingFacts, bar: TradedBar, context: DecisionContext): Decision => {
  const { open } = facts.trading.orders
  if (open.size === 0) return accept()
  return accept(
    ...[...open.values()]
      .filter(
        (order) =>
          order.venue === PAPER &&
          canonicalSymbol(order.symbol) === bar.symbol &&
          order.submittedAt < bar.closeTs,
      )
      .toSorted(byId)
      .flatMap((order) => fillEvents(facts, order, bar, context)),
  )
}

const fillEvents = (
  facts: TradingFacts,
  order: OpenOrder,
  bar: TradedBar,
  context: DecisionContext,
): readonly NewEvent[] => {
  const { execution } = context.configuration
  const { purpose } = order
  if (purpose.kind === 'entry' && purpose.validUntil !== null && purpose.validUntil < context.now) {
    return [canceledEvent(order, 'expired')]
  }
  const available = quantityFrom(bar.volume * execution.paper_max_volume_share)
  const quantity = lesser(available, quantityOpen(order))
  if (quantity <= 0n) return []
  const fill = paperFill(order.side, quantity, bar.close, execution)
  const remaining = minus(quantityOpen(order), quantity)
  return [
    filledEvent({ ...order, intentId: intentOf(order) }, fill, { fillNo: order.fills + 1, remaining }),
    ...(purpose.kind === 'exit'
      ? exitProgress(facts, order, fill, remaining)
      : entryProgress(facts, order, fill, { remaining, mid: bar.close, context })),
  ]
}

const exitProgress = (
  { trading: { positions } }: TradingFacts,
  { positionId }: OpenOrder,
  fill: Fill,
  remaining: Quantity,
): readonly NewEvent[] => {
  const position = positions.get(positionId)
  if (position?.status !== 'closing' || remaining > 0n) return []
  const { reason, trigger } = position.exit
  return closedEvents(position, fill, { reason, trigger })
}

/** The first fill opens a position. Each further one moves its average price, stop and target. */
export const entryProgress = (
  { trading: { intents, positions } }: TradingFacts,
  order: OpenOrder,
  fill: Fill,
  {
    remaining,
    mid,
    context,
  }: { readonly remaining: Quantity; readonly mid: Price; readonly context: DecisionContext },
): readonly NewEvent[] => {
  const intentId = intentOf(order)
  const known = intentId === null ? undefined : intents.get(intentId)
  if (known === undefined) return []
  const rules = context.configuration
  const position = positions.get(order.positionId)
  if (position === undefined) return [openedEvent(known, order, fill, { mid, remaining, rules })]
  if (!isOpen(position)) return []
  const quantity = plus(position.holding.quantity, fill.quantity)
  const notional = plus(position.holding.notional, fill.notional)
  const price = averagePrice(plus(position.holding.costBasis, costOf(fill.price, fill.quantity)), quantity)
  const levels = levelsOf(known.intent, { price, quantity, notional }, rules.execution)
  return [
    updateOf(
      { ...position, holding: { ...position.holding, quantity, ...levels } },
      { status: position.status, reason: 'filled' },
    ),
  ]
}
