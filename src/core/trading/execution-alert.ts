import type { NewEvent, PayloadOf } from '../events/catalogue.ts'

/** Something about an order or a position at a venue that an operator has to look at. */
export const executionAlert = ({
  cause,
  message,
  symbol,
  orderId,
  positionId,
  repeat,
}: {
  readonly cause: PayloadOf<'alert.execution'>['cause']
  readonly message: string
  readonly symbol: string
  readonly orderId: string | null
  readonly positionId: string | null
  readonly repeat: number
}): NewEvent => ({
  type: 'alert.execution',
  source: 'alerts',
  payload: {
    urgency: 'immediate',
    message,
    cause,
    symbol,
    order_id: orderId,
    position_id: positionId,
    repeat,
  },
})
