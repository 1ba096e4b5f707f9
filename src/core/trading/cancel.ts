import type { NewEvent } from '../events/catalogue.ts'
import { unitsNumber } from '../shared/money.ts'
import { PAPER } from './venue-destination.ts'
import type { Order, Orders } from './orders.ts'

/** Entries under way, given up; exits are never. */
export const cancelEntries = (orders: Orders, reason: string): readonly NewEvent[] =>
  [...orders.open.values()]
    .filter(({ isExit }) => !isExit)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .flatMap((order) => givenUp(order, reason))

/** On paper that is the end of it; a venue has to be asked, and only once. */
export const givenUp = (order: Order, reason: string, by: string | null = null): readonly NewEvent[] => {
  if (order.venue === PAPER) return [canceledEvent(order, reason)]
  if (order.cancelReason !== null) return []
  const { id, symbol } = order
  return [
    {
      type: 'execution.cancel_requested.v1',
      source: 'oms',
      payload: { order_id: id, symbol, reason, requested_by: by },
    },
  ]
}

export const canceledEvent = ({ id, positionId, intentId, filled }: Order, reason: string): NewEvent => ({
  type: 'execution.order_canceled.v1',
  source: 'oms',
  payload: {
    order_id: id,
    position_id: positionId,
    intent_id: intentId,
    reason,
    filled_size: unitsNumber(filled),
  },
})
