import type { NewEvent } from '../events/catalogue.ts'
import { unitsNumber } from '../vocabulary/money.ts'
import type { Order, Orders } from './orders.ts'

/** Entries under way on paper, given up; exits are never. */
export const cancelEntries = (orders: Orders, reason: string): readonly NewEvent[] =>
  [...orders.open.values()]
    .filter(({ isExit, venue }) => !isExit && venue === 'paper')
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map((order) => canceledEvent(order, reason))

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
