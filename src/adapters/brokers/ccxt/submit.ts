import { notionalOf } from '../../../core/shared/money.ts'
import type { BrokerOrder, SubmitAnswer } from '../../../ports/broker.ts'
import type { Contract } from './contracts.ts'
import { textOf } from './decimals.ts'
import { lookupOrder } from './lookup.ts'
import { reportedOrderOf } from './orders.ts'
import { cutQuantity, safeLimit } from './quantise.ts'
import { DUPLICATE, NOT_TRADED_CODES } from './verdict.ts'
import type { Venue } from './venue.ts'

/** Sends an order once, and says what is known of it. */
export const submitOrder = async (venue: Venue, order: BrokerOrder): Promise<SubmitAnswer> => {
  const contract = await venue.contractOf(order.symbol)
  if (contract.status !== 'done') return rejected(contract.reason)
  const { market, isActive } = contract.value
  if (!isActive) return rejected(`${market} is not traded any more`)
  const planned = planOf(order, contract.value)
  if (typeof planned === 'string') return rejected(planned)
  if (!order.reduceOnly) {
    const set = await venue.setLeverage(market, order.leverage)
    if (set.status !== 'done') return rejected(`not sent, since the leverage could not be set: ${set.reason}`)
  }
  const { exchange, ask } = venue.connection
  const reply = await ask(() =>
    exchange.createOrder(
      market,
      order.kind === 'market' ? 'market' : 'limit',
      order.side,
      planned.amount,
      planned.price,
      {
        clientOrderId: order.clientOrderId,
        ...(order.kind === 'market' ? {} : { timeInForce: 'IOC' }),
        ...(order.reduceOnly ? { reduceOnly: true } : {}),
      },
    ),
  )
  if (reply.status === 'done') return answerOf(venue, order, contract.value, reply.value)
  if (reply.code === DUPLICATE) return alreadyThere(venue, order)
  if (reply.code !== null && NOT_TRADED_CODES.has(reply.code)) venue.forget(order.symbol)
  return { status: reply.status === 'refused' ? 'rejected' : 'unclear', reason: reply.reason }
}

interface Planned {
  readonly amount: string
  readonly price: string | undefined
}

/** What goes over the wire, or why nothing does. */
const planOf = (order: BrokerOrder, { quantityStep, priceStep, steps }: Contract): Planned | string => {
  if (!CLIENT_ORDER_ID.test(order.clientOrderId)) return 'not sent: venues do not take such a client order id'
  const quantity = cutQuantity(order.quantity, quantityStep)
  if (quantity <= 0n || quantity < (steps.quantityMin ?? 0n))
    return `not sent: the venue takes no less than ${textOf(steps.quantityMin ?? quantityStep)}`
  if (order.kind === 'market') return { amount: textOf(quantity), price: undefined }
  if (order.limitPrice === null) return 'not sent: a limit order needs a price'
  const price = safeLimit(order.limitPrice, priceStep, order.side)
  if (price <= 0n) return 'not sent: the price is below the smallest step of the venue'
  const isTooSmall = steps.notionalMin !== null && notionalOf(price, quantity) < steps.notionalMin
  // What makes a position smaller is taken at any size.
  if (isTooSmall && !order.reduceOnly) return 'not sent: worth less than the venue takes'
  return { amount: textOf(quantity), price: textOf(price) }
}

/** What Binance takes; others take more. */
const CLIENT_ORDER_ID = /^[.A-Z:/a-z0-9_-]{1,36}$/

const answerOf = async (
  venue: Venue,
  { clientOrderId }: BrokerOrder,
  contract: Contract,
  answer: unknown,
): Promise<SubmitAnswer> => {
  const told = reportedOrderOf(answer, clientOrderId)
  if (told === null) return { status: 'unclear', reason: 'the answer cannot be read' }
  if (told.status === 'rejected') return rejected('the venue took the order and rejected it')
  return { status: 'accepted', report: await venue.reports.withTrades(told, contract) }
}

/** The id is taken by an order that is open: it is the same order, sent before. */
const alreadyThere = async (venue: Venue, order: BrokerOrder): Promise<SubmitAnswer> => {
  const found = await lookupOrder(venue, order)
  if (found.status === 'found') return { status: 'accepted', report: found.report }
  return { status: 'unclear', reason: 'the venue has an open order of this name' }
}

const rejected = (reason: string): SubmitAnswer => ({ status: 'rejected', reason })
