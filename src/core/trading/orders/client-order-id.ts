import { orderId, type OrderId, type PositionId } from '../../shared/brand.ts'
import type { Quantity } from '../../shared/money.ts'

/**
 * Client order id at a venue: the token of the leader in six digits, then digits of the order id. Every venue accepts
 * 32 hexadecimal digits.
 */
export const newClientOrderId = (id: OrderId, leaderToken: number): string => {
  const digits = id.replaceAll('-', '')
  // Without a leader, as in a backtest, no token is needed.
  if (leaderToken === 0) return digits
  return (
    leaderToken.toString(16).padStart(TOKEN_DIGITS, '0').slice(-TOKEN_DIGITS) + digits.slice(TOKEN_DIGITS)
  )
}

const TOKEN_DIGITS = 6

/** Order id of a manual sale at the venue, from the position and its quantity before. */
export const releaseOrderId = (positionId: PositionId, before: Quantity): OrderId =>
  orderId(`${RELEASE_PREFIX}${positionId}-${before}`)

export const isRelease = (id: OrderId): boolean => id.startsWith(RELEASE_PREFIX)

const RELEASE_PREFIX = 'released-'
