import type { OrderReport } from '../../../ports/broker.ts'
import { unitsOf } from './decimals.ts'
import { textMemberOf } from './values.ts'

/** An order as the venue tells it, without its trades. */
export interface ReportedOrder {
  readonly clientOrderId: string
  readonly venueOrderId: string
  readonly status: OrderReport['status']
  readonly filled: bigint
}

/** Null for what cannot be read as this very order. */
export const reportedOrderOf = (answer: unknown, clientOrderId: string): ReportedOrder | null => {
  const venueOrderId = textMemberOf(answer, 'id')
  const amount = unitsOf(textMemberOf(answer, 'amount'))
  const filled = unitsOf(textMemberOf(answer, 'filled') ?? '0')
  const isOurs = textMemberOf(answer, 'clientOrderId') === clientOrderId
  if (!isOurs || venueOrderId === null || amount === null || filled === null) return null
  const status = statusOf(textMemberOf(answer, 'status'), filled, amount)
  return status === null ? null : { clientOrderId, venueOrderId, status, filled }
}

const statusOf = (told: string | null, filled: bigint, amount: bigint): OrderReport['status'] | null => {
  switch (told) {
    case 'open':
    case 'canceling':
      return filled > 0n ? 'partial' : 'open'
    case 'closed':
    case 'canceled':
    case 'expired':
      return filled >= amount ? 'filled' : 'canceled'
    case 'rejected':
      return 'rejected'
    default:
      return null
  }
}
