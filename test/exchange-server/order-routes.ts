import { isOpen, type VenueOrder, type VenueTrade } from './account.ts'
import { textOf, unitsOf } from './decimals.ts'
import type { Fault } from './faults.ts'
import { cancelOrder, placeOrder } from './matching.ts'
import { ExchangeRefusal } from './signed.ts'
import type { ExchangeState } from './exchange-state.ts'

/** One thing that only the customer can ask the venue for. */
export interface SignedRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Host, as the venue names it, and path. */
  readonly path: string
  readonly answer: (world: ExchangeState, query: URLSearchParams, fault: Fault | null) => unknown
}

const FUTURES = 'fapi.binance.com/fapi/v1'

export const ORDER_ROUTES: readonly SignedRoute[] = [
  {
    method: 'POST',
    path: `${FUTURES}/order`,
    answer: (world, query, fault) => {
      if (!world.account.mayTrade)
        throw new ExchangeRefusal(-2015, 'Invalid API-key, IP, or permissions for action.', 401)
      return publishOrder(placeOrder(world, requestOf(world, query), twistOf(fault)))
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/order`,
    answer: (world, query) => {
      const order = orderOf(world, query)
      if (order === null || order.hiddenLookups > 0) {
        if (order !== null) order.hiddenLookups -= 1
        throw new ExchangeRefusal(-2013, 'Order does not exist.')
      }
      return publishOrder(order)
    },
  },
  {
    method: 'DELETE',
    path: `${FUTURES}/order`,
    answer: (world, query) => {
      const order = orderOf(world, query)
      if (order === null || !isOpen(order)) throw new ExchangeRefusal(-2011, 'Unknown order sent.')
      cancelOrder(world, order)
      return publishOrder(order)
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/openOrders`,
    answer: ({ account }, query) => {
      const symbol = query.get('symbol')
      return account.orders
        .filter((order) => isOpen(order) && (symbol === null || symbol === `${order.base}USDT`))
        .map(publishOrder)
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/forceOrders`,
    // Without `autoCloseType` the venue lists both kinds; positions here are closed by liquidation alone.
    answer: ({ account }, query) =>
      query.get('autoCloseType') === 'ADL'
        ? []
        : account.forced
            .filter(({ atMs }) => atMs >= Number(query.get('startTime') ?? 0))
            .slice(-Number(query.get('limit') ?? 50))
            .map(publishOrder),
  },
  {
    method: 'GET',
    path: `${FUTURES}/userTrades`,
    answer: (world, query, fault) => {
      const reported = tradesOf(world, query).filter(isPublished).map(publishTrade)
      if (fault?.kind === 'repeated') return [...reported, ...reported]
      return fault?.kind === 'shuffled' ? reported.reverse() : reported
    },
  },
]

/** The perpetual that is request about. What is gone from the list may still be request about, but not traded. */
export const perpetualOf = ({ perpetuals }: ExchangeState, query: URLSearchParams): string => {
  const base = query.get('symbol')?.replace(/USDT$/, '') ?? ''
  if (!perpetuals.includes(base)) throw new ExchangeRefusal(-1121, 'Invalid symbol.')
  return base
}

const requestOf = (world: ExchangeState, query: URLSearchParams) => {
  const base = perpetualOf(world, query)
  if (world.delisted.has(base)) throw new ExchangeRefusal(-1121, 'Invalid symbol.')
  const side = oneOf(query, 'side', ['BUY', 'SELL'])
  const type = oneOf(query, 'type', ['LIMIT', 'MARKET'])
  const timeInForce = type === 'LIMIT' ? oneOf(query, 'timeInForce', ['GTC', 'IOC']) : 'GTC'
  return {
    clientOrderId: query.get('newClientOrderId') ?? `venue-${world.account.attempts.length}`,
    base,
    side,
    type,
    timeInForce,
    quantity: decimalOf(query, 'quantity'),
    price: type === 'LIMIT' ? decimalOf(query, 'price') : null,
    isReduceOnly: query.get('reduceOnly') === 'true',
  } as const
}

export const oneOf = <T extends string>(query: URLSearchParams, name: string, known: readonly T[]): T => {
  const found = known.find((value) => value === query.get(name))
  if (found === undefined) throw new ExchangeRefusal(-1102, `Mandatory parameter '${name}' was not sent.`)
  return found
}

export const decimalOf = (query: URLSearchParams, name: string): bigint => {
  const text = query.get(name)
  if (text === null) throw new ExchangeRefusal(-1102, `Mandatory parameter '${name}' was not sent.`)
  const units = unitsOf(text)
  if (units === null) throw new ExchangeRefusal(-1100, `Illegal characters found in parameter '${name}'.`)
  return units
}

export const twistOf = (fault: Fault | null) => {
  switch (fault?.kind) {
    case 'lost':
    case 'hidden':
    case 'partial':
    case 'late_trades':
      return fault
    default:
      return null
  }
}

const orderOf = (world: ExchangeState, query: URLSearchParams): VenueOrder | null => {
  const base = perpetualOf(world, query)
  const { byClientOrderId, byOrderId } = world.account
  const clientOrderId = query.get('origClientOrderId')
  const found =
    clientOrderId === null ? byOrderId.get(Number(query.get('orderId'))) : byClientOrderId.get(clientOrderId)
  return found?.base === base ? found : null
}

const tradesOf = (world: ExchangeState, query: URLSearchParams): readonly VenueTrade[] => {
  const base = perpetualOf(world, query)
  const orderId = query.get('orderId')
  const { account } = world
  const all = orderId === null ? account.trades : (account.byOrderId.get(Number(orderId))?.trades ?? [])
  return all.filter((trade) => trade.base === base).slice(-Number(query.get('limit') ?? 500))
}

export const isPublished = (trade: VenueTrade): boolean => {
  if (trade.hiddenQueries === 0) return true
  trade.hiddenQueries -= 1
  return false
}

const publishOrder = (order: VenueOrder) => ({
  orderId: order.orderId,
  symbol: `${order.base}USDT`,
  status: order.status,
  clientOrderId: order.clientOrderId,
  price: textOf(order.price ?? 0n),
  avgPrice: textOf(order.executed === 0n ? 0n : order.cost / order.executed),
  origQty: textOf(order.quantity),
  executedQty: textOf(order.executed),
  cumQty: textOf(order.executed),
  cumQuote: textOf(order.cost / 100_000_000n),
  timeInForce: order.timeInForce,
  type: order.type,
  reduceOnly: order.isReduceOnly,
  closePosition: false,
  side: order.side,
  positionSide: 'BOTH',
  stopPrice: '0.00',
  workingType: 'CONTRACT_PRICE',
  priceProtect: false,
  origType: order.type,
  priceMatch: 'NONE',
  selfTradePreventionMode: 'NONE',
  goodTillDate: 0,
  time: order.atMs,
  updateTime: order.updatedMs,
})

const publishTrade = (trade: VenueTrade) => ({
  symbol: `${trade.base}USDT`,
  id: trade.tradeId,
  orderId: trade.orderId,
  side: trade.side,
  price: textOf(trade.price),
  qty: textOf(trade.quantity),
  realizedPnl: textOf(trade.realized),
  quoteQty: textOf((trade.price * trade.quantity) / 100_000_000n),
  commission: textOf(trade.commission),
  commissionAsset: trade.commissionAsset,
  time: trade.atMs,
  positionSide: 'BOTH',
  maker: false,
  buyer: trade.side === 'BUY',
})
