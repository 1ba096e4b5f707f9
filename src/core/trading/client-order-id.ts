import { orderId, type OrderId, type PositionId } from '../shared/brand.ts'
import type { Quantity } from '../shared/money.ts'

/**
 * The name under which a venue will know the order: the token of the leader in six digits, then those of the order.
 * 32 hexadecimal digits are what every venue accepts.
 */
export const newClientOrderId = (id: OrderId, leaderToken: number): string => {
  const digits = id.replaceAll('-', '')
  // Without a leader, as in a backtest, there is nothing to tell apart.
  if (leaderToken === 0) return digits
  return (
    leaderToken.toString(16).padStart(TOKEN_DIGITS, '0').slice(-TOKEN_DIGITS) + digits.slice(TOKEN_DIGITS)
  )
}

const TOKEN_DIGITS = 6

/** The fill of what was sold at the venue by hand, by the position and what it held before. */
export const releaseOrderId = (positionId: PositionId, before: Quantity): OrderId =>
  orderId(`${RELEASE_PREFIX}${positionId}-${before}`)

export const isRelease = (id: OrderId): boolean => id.startsWith(RELEASE_PREFIX)

const RELEASE_PREFIX = 'released-'
