import type { OrderId } from '../shared/brand.ts'

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
