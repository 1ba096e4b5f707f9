import type { CancelAnswer, LookupAnswer } from '../../../ports/broker.ts'
import { reportedOrderOf } from './orders.ts'
import { NO_SUCH_ORDER, UNKNOWN_TO_CANCEL } from './verdict.ts'
import type { Venue } from './venue.ts'

interface NamedOrder {
  readonly clientOrderId: string
  readonly symbol: string
}

/** Asks the venue for an order by the name we gave it. */
export const lookupOrder = async (
  venue: Venue,
  { clientOrderId, symbol }: NamedOrder,
): Promise<LookupAnswer> => {
  if (!venue.findsByClientOrderId) return { status: 'impossible' }
  const contract = await venue.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const { exchange, ask } = venue.connection
  const reply = await ask(() => exchange.fetchOrder('', contract.value.market, { clientOrderId }))
  if (reply.status !== 'done')
    return reply.status === 'refused' && reply.code === NO_SUCH_ORDER
      ? { status: 'not_found' }
      : unclear(reply.reason)
  const told = reportedOrderOf(reply.value, clientOrderId)
  if (told === null) return unclear('the answer cannot be read')
  return { status: 'found', report: await venue.reports.withTrades(told, contract.value) }
}

/** Ends what is left of an open order. */
export const cancelOrder = async (
  venue: Venue,
  { clientOrderId, symbol }: NamedOrder,
): Promise<CancelAnswer> => {
  const contract = await venue.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const { exchange, ask } = venue.connection
  const reply = await ask(() => exchange.cancelOrder('', contract.value.market, { clientOrderId }))
  if (reply.status !== 'done')
    return reply.status === 'refused' && reply.code === UNKNOWN_TO_CANCEL
      ? { status: 'not_open' }
      : unclear(reply.reason)
  const told = reportedOrderOf(reply.value, clientOrderId)
  if (told === null) return unclear('the answer cannot be read')
  return { status: 'canceled', report: await venue.reports.withTrades(told, contract.value) }
}

const unclear = (reason: string): { readonly status: 'unclear'; readonly reason: string } => ({
  status: 'unclear',
  reason,
})
