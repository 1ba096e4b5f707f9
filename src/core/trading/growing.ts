import { averagePrice, type Price, type Quantity, type Usd } from '../shared/money.ts'
import type { LastFill } from './closing.ts'
import type { Position } from './positions.ts'

/** A position with one more fill of its entry, and all its fills as if they were one. */
export const withFill = (
  position: Position,
  fill: LastFill,
): {
  readonly position: Position
  readonly average: { readonly price: Price; readonly quantity: Quantity; readonly notional: Usd }
} => {
  const quantity = position.holding.quantity + fill.quantity
  const notional = position.holding.notional + fill.notional
  const costBasis = position.holding.costBasis + fill.price * fill.quantity
  return {
    position: { ...position, holding: { ...position.holding, quantity, notional, costBasis } },
    average: { price: averagePrice(costBasis, quantity), quantity, notional },
  }
}
