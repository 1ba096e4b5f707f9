import type { Price, Quantity } from '../../../core/shared/money.ts'

/** Never more than was meant. */
export const cutQuantity = (quantity: Quantity, step: Quantity): Quantity => quantity - (quantity % step)

/** A buyer never pays more than was meant, a seller never takes less. */
export const safeLimit = (price: Price, step: Price, side: 'buy' | 'sell'): Price => {
  const rest = price % step
  if (rest === 0n) return price
  return side === 'buy' ? price - rest : price - rest + step
}
