import { createHash, createHmac } from 'node:crypto'
import { isOpen, type VenueOrder, type VenueStop, type VenueTrade } from '../account.ts'
import { equityOf } from '../account-routes.ts'
import { specOf, type ContractSpecs } from '../contracts.ts'
import { unitsOf } from '../decimals.ts'
import { exchangeNow, marketPriceOf, type ExchangeState } from '../exchange-state.ts'
import type { Fault } from '../faults.ts'
import { cancelOrder, placeOrder, setLeverage } from '../matching.ts'
import { isPublished, twistOf } from '../order-routes.ts'
import type { ExchangeRequest, ExchangeResponse, Wire } from '../requests.ts'
import { ExchangeRefusal } from '../signed.ts'
import { cancelStop, placeStop, stopOf } from '../stops.ts'
import {
  createHiding,
  digits,
  forcedTrades,
  hostAndPath,
  refusalIn,
  traded,
  type Refusals,
} from './common.ts'

// Kraken Futures V3. Parameters are in the query of every request, numbers are numbers, and a refused order is a success
// with the reason as its status.

const SPECS: ContractSpecs = {
  '*': {
    priceStep: '0.01',
    quantityStep: '0.1',
    quantityMax: '100000',
    marketQuantityMax: '20000',
    notionalMin: '0',
  },
  BTC: {
    priceStep: '1',
    quantityStep: '0.0001',
    quantityMax: '1000',
    marketQuantityMax: '120',
    notionalMin: '0',
  },
  ETH: {
    priceStep: '0.1',
    quantityStep: '0.001',
    quantityMax: '10000',
    marketQuantityMax: '2000',
    notionalMin: '0',
  },
}

/** Statuses of orders; `invalidArgument` and the like are errors of the request. */
const REFUSALS: Refusals = {
  [-1100]: ['invalidArgument', ''],
  [-1111]: ['invalidSize', ''],
  [-1121]: ['marketInactive', ''],
  [-2011]: ['notFound', ''],
  [-2015]: ['authenticationError', ''],
  [-2019]: ['insufficientAvailableFunds', ''],
  [-2021]: ['invalidPrice', ''],
  [-2022]: ['wouldNotReducePosition', ''],
  [-4001]: ['invalidPrice', ''],
  [-4003]: ['invalidSize', ''],
  [-4005]: ['maxPositionViolation', ''],
  [-4014]: ['invalidPrice', ''],
  [-4015]: ['clientOrderIdTooLong', ''],
  [-4016]: ['outsidePriceCollar', ''],
  [-4024]: ['outsidePriceCollar', ''],
  [-4028]: ['invalidArgument', ''],
  [-4061]: ['invalidArgument', ''],
  [-4116]: ['clientOrderIdAlreadyExist', ''],
}

type Answer = (world: ExchangeState, params: URLSearchParams, fault: Fault | null) => object

const PUBLIC: Readonly<Record<string, Answer>> = {
  '/derivatives/api/v3/instruments': ({ perpetuals, delisted }) => ({
    instruments: perpetuals.filter((base) => !delisted.has(base)).map(instrument),
  }),
}

const symbolOf = (base: string): string => `PF_${base === 'BTC' ? 'XBT' : base}USD`

const baseIn = (symbol: string | null): string =>
  (symbol ?? '').replace(/^PF_/, '').replace(/USD$/, '').replace(/^XBT$/, 'BTC')

const instrument = (base: string) => {
  const spec = specOf(SPECS, base)
  return {
    symbol: symbolOf(base),
    type: 'flexible_futures',
    tickSize: Number(spec.priceStep),
    contractSize: 1,
    tradeable: true,
    impactMidSize: 1,
    maxPositionSize: 1_000_000,
    openingDate: '2022-03-22T15:00:00.000Z',
    marginLevels: [{ contracts: 0, initialMargin: 0.02, maintenanceMargin: 0.01 }],
    fundingRateCoefficient: 8,
    maxRelativeFundingRate: 0.001,
    contractValueTradePrecision: (spec.quantityStep.split('.')[1] ?? '').length,
    postOnly: false,
    feeScheduleUid: 'eef90775-995b-4596-9257-0917f6134766',
    category: 'Layer 1',
    tags: [],
    pair: `${base === 'BTC' ? 'XBT' : base}:USD`,
  }
}

const hiding = createHiding()

const PRIVATE: Readonly<Record<string, Answer>> = {
  'POST /derivatives/api/v3/sendorder': (world, params, fault) => {
    if (!world.account.mayTrade) throw new RequestError('authenticationError')
    const clientOrderId = params.get('cliOrdId') ?? ''
    return { sendStatus: sendStatus(clientOrderId, () => sent(world, params, clientOrderId, fault)) }
  },
  'POST /derivatives/api/v3/cancelorder': (world, params) => {
    const clientOrderId = params.get('cliOrdId')
    const receivedTime = iso(exchangeNow(world))
    const stop = stopOf(world, clientOrderId)
    const order = world.account.byClientOrderId.get(clientOrderId ?? '')
    const refused = (status: string) => ({ cancelStatus: { status, receivedTime, orderEvents: [] } })
    if (stop !== null && stop.order === null) {
      if (stop.status !== 'resting') return refused('notFound')
      cancelStop(world, stop)
      return {
        cancelStatus: {
          status: 'cancelled',
          order_id: uuid(stop.stopId),
          cliOrdId: clientOrderId,
          receivedTime,
          orderEvents: [],
        },
      }
    }
    if (order === undefined) return refused('notFound')
    if (!isOpen(order)) return refused(order.status === 'FILLED' ? 'filled' : 'notFound')
    cancelOrder(world, order)
    return {
      cancelStatus: {
        status: 'cancelled',
        order_id: uuid(order.orderId),
        cliOrdId: clientOrderId,
        receivedTime,
        orderEvents: [{ type: 'CANCEL', uid: uuid(order.orderId), order: cachedOrder(order) }],
      },
    }
  },
  // Open orders, and those that ended in the last five seconds.
  'POST /derivatives/api/v3/orders/status': (world, params) => {
    const isRecent = (endedMs: number): boolean => exchangeNow(world) - endedMs <= 5000
    const orders = params.getAll('cliOrdIds').flatMap((id): readonly object[] => {
      const order = world.account.byClientOrderId.get(id)
      if (order !== undefined) {
        if (hiding.isHidden(order) || (!isOpen(order) && !isRecent(order.updatedMs))) return []
        return [
          { order: cachedOrder(order), status: ORDER_STATUS[order.status], updateReason: null, error: null },
        ]
      }
      const stop = stopOf(world, id)
      if (stop === null || (stop.status !== 'resting' && !isRecent(stop.updatedMs))) return []
      return [{ order: cachedStop(stop), status: STOP_STATUS[stop.status], updateReason: null, error: null }]
    })
    return { orders }
  },
  'GET /derivatives/api/v3/openorders': ({ account }) => ({
    openOrders: [
      ...account.orders.filter(isOpen).map((order) => ({
        order_id: uuid(order.orderId),
        cliOrdId: order.clientOrderId,
        symbol: symbolOf(order.base),
        side: order.side.toLowerCase(),
        orderType: 'lmt',
        limitPrice: number(order.price ?? 0n),
        unfilledSize: number(order.quantity - order.executed),
        filledSize: number(order.executed),
        receivedTime: iso(order.atMs),
        status: order.executed > 0n ? 'partiallyFilled' : 'untouched',
        reduceOnly: order.isReduceOnly,
        lastUpdateTime: iso(order.updatedMs),
      })),
      ...account.stops
        .filter(({ status }) => status === 'resting')
        .map((stop) => ({
          order_id: uuid(stop.stopId),
          cliOrdId: stop.clientOrderId,
          symbol: symbolOf(stop.base),
          side: stop.side.toLowerCase(),
          orderType: 'stop',
          stopPrice: number(stop.triggerPrice),
          unfilledSize: number(stop.quantity),
          filledSize: 0,
          receivedTime: iso(stop.atMs),
          status: 'untouched',
          triggerSignal: 'mark',
          reduceOnly: true,
          lastUpdateTime: iso(stop.updatedMs),
        })),
    ],
  }),
  // The newest hundred, newest first.
  'GET /derivatives/api/v3/fills': (world, params, fault) => {
    const before = Date.parse(params.get('lastFillTime') ?? '') || Number.POSITIVE_INFINITY
    const forced = new Set(forcedTrades(world).map(([, trade]) => trade))
    const fills = world.account.trades
      .filter((trade) => trade.atMs < before && isPublished(trade))
      .map((trade) => publishFill(trade, forced.has(trade)))
      .toReversed()
      .slice(0, 100)
    if (fault?.kind === 'repeated') return { fills: [...fills, ...fills] }
    return { fills: fault?.kind === 'shuffled' ? fills.toReversed() : fills }
  },
  'GET /derivatives/api/v3/accounts': (world) => {
    const { wallet } = world.account
    const unrealized = equityOf(world) - wallet
    return {
      accounts: {
        cash: { type: 'cashAccount', balances: { usd: '0.0', xbt: '0.0' } },
        flex: {
          type: 'multiCollateralMarginAccount',
          currencies: {
            USD: {
              quantity: number(wallet),
              value: number(wallet),
              collateral: number(wallet),
              available: number(wallet),
            },
            XBT: { quantity: 0.5, value: 30_000, collateral: 29_000, available: 0.5 },
          },
          initialMargin: 0,
          initialMarginWithOrders: 0,
          maintenanceMargin: 0,
          balanceValue: number(wallet),
          portfolioValue: number(wallet + unrealized),
          collateralValue: number(wallet),
          pnl: number(unrealized),
          unrealizedFunding: 0,
          totalUnrealized: number(unrealized),
          totalUnrealizedAsMargin: number(unrealized),
          availableMargin: number(wallet),
          marginEquity: number(wallet + unrealized),
        },
      },
    }
  },
  'GET /derivatives/api/v3/openpositions': ({ account }) => ({
    openPositions: [...account.holdings].flatMap(([base, { quantity, cost }]) =>
      quantity === 0n
        ? []
        : [
            {
              side: quantity > 0n ? 'long' : 'short',
              symbol: symbolOf(base),
              price: number(cost / quantity),
              fillTime: '2026-02-20T12:00:00.000Z',
              size: number(quantity < 0n ? -quantity : quantity),
              unrealizedFunding: 0,
              pnlCurrency: 'USD',
              ...(account.leverages.has(base) ? { maxFixedLeverage: account.leverages.get(base) } : {}),
            },
          ],
    ),
  }),
  'GET /derivatives/api/v3/leveragepreferences': ({ account }) => ({
    leveragePreferences: [...account.leverages].map(([base, maxLeverage]) => ({
      symbol: symbolOf(base),
      maxLeverage,
    })),
  }),
  'PUT /derivatives/api/v3/leveragepreferences': (world, params) => {
    const base = traded(world, baseIn(params.get('symbol')))
    setLeverage(world, base, Number(params.get('maxLeverage')))
    if (!world.areMarginsStuck) world.account.marginModes.set(base, 'isolated')
    return {}
  },
  'GET /api/history/v2/orders': (world, params) => {
    const base = baseIn(params.get('tradeable'))
    const orders = world.account.orders.filter((order) => order.base === base && !hiding.wasHidden(order))
    return { accountUid: ACCOUNT, len: orders.length, elements: orders.toReversed().flatMap(orderEvents) }
  },
  'GET /api/history/v2/triggers': ({ account }, params) => {
    const base = baseIn(params.get('tradeable'))
    const elements = account.stops
      .filter((stop) => stop.base === base)
      .toReversed()
      .flatMap(stopEvents)
    return { accountUid: ACCOUNT, len: elements.length, elements }
  },
}

const ACCOUNT = 'f92fc7de-2fce-4265-b806-4f3c1efb37ee'

/** An error of the whole request. */
class RequestError extends Error {}

const iso = (ms: number): string => new Date(ms).toISOString()

const number = (units: bigint): number => Number(digits(units))

const uuid = (id: number): string => `00000000-0000-4000-8000-${id.toString(16).padStart(12, '0')}`

const exact = (text: string | null): bigint => {
  const units = unitsOf(text)
  if (units === null) throw new RequestError('invalidArgument')
  return units
}

const sent = (
  world: ExchangeState,
  params: URLSearchParams,
  clientOrderId: string,
  fault: Fault | null,
): { readonly order_id: string; readonly status: string; readonly orderEvents: readonly object[] } => {
  const deadline = params.get('processBefore')
  if (deadline !== null && exchangeNow(world) > Date.parse(deadline))
    return { order_id: '', status: 'wouldProcessAfterSpecifiedTime', orderEvents: [] }
  const base = traded(world, baseIn(params.get('symbol')))
  const side = params.get('side') === 'buy' ? 'BUY' : 'SELL'
  const quantity = exact(params.get('size'))
  const isReduceOnly = params.get('reduceOnly') === 'true'
  const orderType = params.get('orderType') ?? ''
  if (orderType === 'stp') {
    if (!isReduceOnly || params.get('triggerSignal') !== 'mark') throw new RequestError('invalidArgument')
    const triggerPrice = exact(params.get('stopPrice'))
    const stop = placeStop(world, { clientOrderId, base, side, quantity, triggerPrice })
    return {
      order_id: uuid(stop.stopId),
      status: 'placed',
      orderEvents: [{ type: 'PLACE', orderTrigger: { uid: uuid(stop.stopId), clientId: clientOrderId } }],
    }
  }
  if (!['mkt', 'ioc', 'lmt'].includes(orderType)) throw new RequestError('invalidArgument')
  // An id is taken for good.
  if (world.account.byClientOrderId.has(clientOrderId)) throw new ExchangeRefusal(-4116, '')
  const order = placeOrder(
    world,
    {
      clientOrderId,
      base,
      side,
      type: orderType === 'mkt' ? 'MARKET' : 'LIMIT',
      timeInForce: orderType === 'lmt' ? 'GTC' : 'IOC',
      quantity,
      price: orderType === 'mkt' ? null : exact(params.get('limitPrice')),
      isReduceOnly,
    },
    twistOf(fault),
  )
  const isUnfilled = order.executed === 0n && order.status === 'EXPIRED'
  return {
    order_id: uuid(order.orderId),
    status: isUnfilled ? 'iocWouldNotExecute' : 'placed',
    orderEvents: isUnfilled
      ? [
          {
            type: 'REJECT',
            uid: uuid(order.orderId),
            reason: 'IOC_WOULD_NOT_EXECUTE',
            order: cachedOrder(order),
          },
        ]
      : order.trades.map((trade) => ({
          type: 'EXECUTION',
          executionId: String(trade.tradeId),
          price: number(trade.price),
          amount: number(trade.quantity),
          orderPriorEdit: null,
          orderPriorExecution: { ...cachedOrder(order), filled: 0 },
          takerReducedQuantity: null,
        })),
  }
}

/** A refused order is a success with a status. */
const sendStatus = (cliOrdId: string, send: () => object): object => {
  try {
    return { cliOrdId, receivedTime: '2026-02-20T12:00:00.000Z', ...send() }
  } catch (error) {
    if (error instanceof RequestError) throw error
    const [status] = refusalIn(REFUSALS, error)
    return { cliOrdId, status, receivedTime: '2026-02-20T12:00:00.000Z', orderEvents: [] }
  }
}

const ORDER_STATUS: Readonly<Record<VenueOrder['status'], string>> = {
  NEW: 'ENTERED_BOOK',
  PARTIALLY_FILLED: 'ENTERED_BOOK',
  FILLED: 'FULLY_EXECUTED',
  CANCELED: 'CANCELLED',
  EXPIRED: 'CANCELLED',
}

const STOP_STATUS: Readonly<Record<VenueStop['status'], string>> = {
  resting: 'TRIGGER_PLACED',
  triggered: 'TRIGGER_PLACED',
  canceled: 'CANCELLED',
  rejected: 'TRIGGER_ACTIVATION_FAILURE',
}

const cachedOrder = (order: VenueOrder) => ({
  type: 'ORDER',
  orderId: uuid(order.orderId),
  cliOrdId: order.clientOrderId,
  symbol: symbolOf(order.base),
  side: order.side.toLowerCase(),
  quantity: number(order.quantity),
  filled: number(order.executed),
  limitPrice: number(order.price ?? 0n),
  reduceOnly: order.isReduceOnly,
  timestamp: iso(order.atMs),
  lastUpdateTimestamp: iso(order.updatedMs),
})

const cachedStop = (stop: VenueStop) => ({
  type: 'TRIGGER_ORDER',
  orderId: uuid(stop.stopId),
  cliOrdId: stop.clientOrderId,
  symbol: symbolOf(stop.base),
  side: stop.side.toLowerCase(),
  quantity: number(stop.quantity),
  limitPrice: null,
  reduceOnly: true,
  priceTriggerOptions: {
    triggerPrice: number(stop.triggerPrice),
    triggerSide: stop.side === 'SELL' ? 'TRIGGER_BELOW' : 'TRIGGER_ABOVE',
    triggerSignal: 'MARK_PRICE',
  },
  timestamp: iso(stop.atMs),
  lastUpdateTimestamp: iso(stop.updatedMs),
})

/** In the history, a quantity is what is left. */
const historyOrder = (order: VenueOrder) => ({
  uid: uuid(order.orderId),
  accountUid: ACCOUNT,
  tradeable: symbolOf(order.base),
  direction: order.side === 'BUY' ? 'Buy' : 'Sell',
  quantity: digits(order.quantity - order.executed),
  filled: digits(order.executed),
  timestamp: String(order.atMs),
  limitPrice: digits(order.price ?? 0n),
  orderType: order.timeInForce === 'IOC' ? 'IoC' : 'Limit',
  clientId: order.clientOrderId,
  reduceOnly: order.isReduceOnly,
  lastUpdateTimestamp: String(order.updatedMs),
})

/** Newest first. */
const orderEvents = (order: VenueOrder): readonly object[] => {
  const element = (event: object) => ({ uid: uuid(order.orderId + 1), timestamp: order.updatedMs, event })
  const history = historyOrder(order)
  if (order.executed === 0n && order.status === 'EXPIRED')
    return [
      element({
        OrderRejected: { order: history, reason: 'ioc_order_failed_because_it_would_not_be_executed' },
      }),
    ]
  const placed = element({
    OrderPlaced: { order: history, reason: 'new_user_order', reducedQuantity: '', algoId: '' },
  })
  if (order.status === 'CANCELED')
    return [element({ OrderCancelled: { order: history, reason: 'cancelled_by_user' } }), placed]
  return [placed]
}

const stopEvents = (stop: VenueStop): readonly object[] => {
  const element = (kind: string) => ({
    uid: uuid(stop.stopId + 1),
    timestamp: stop.updatedMs,
    event: {
      [kind]: {
        order: {
          uid: uuid(stop.stopId),
          accountUid: ACCOUNT,
          clientId: stop.clientOrderId,
          tradeable: symbolOf(stop.base),
          direction: stop.side === 'BUY' ? 'Buy' : 'Sell',
          quantity: digits(stop.quantity),
          limitPrice: '',
          triggerPrice: digits(stop.triggerPrice),
          triggerSide: stop.side === 'SELL' ? 'trigger_below' : 'trigger_above',
          triggerSignal: 'mark_price',
          reduceOnly: true,
          timestamp: String(stop.atMs),
          lastUpdateTimestamp: String(stop.updatedMs),
        },
        reason: '',
      },
    },
  })
  const placed = element('OrderTriggerPlaced')
  if (stop.status === 'canceled') return [element('OrderTriggerCancelled'), placed]
  if (stop.status === 'triggered') return [element('OrderTriggerActivated'), placed]
  return [placed]
}

const publishFill = (trade: VenueTrade, isForced: boolean) => ({
  fill_id: String(trade.tradeId),
  symbol: symbolOf(trade.base),
  side: trade.side.toLowerCase(),
  order_id: uuid(trade.orderId),
  cliOrdId: isForced ? null : trade.clientOrderId,
  size: number(trade.quantity),
  price: number(trade.price),
  fillTime: iso(trade.atMs),
  fillType: isForced ? 'liquidation' : 'taker',
})

/** The secret, which is base64, signs the hash of the parameters and the path behind `/derivatives`. */
const isAuthentic = (
  { account }: ExchangeState,
  { headers, query }: ExchangeRequest,
  path: string,
): boolean => {
  const hash = createHash('sha256')
    .update(`${query}${path.replace(/^\/derivatives/, '')}`)
    .digest()
  const signature = createHmac('sha512', Buffer.from(account.secret, 'base64')).update(hash).digest('base64')
  return headers['apikey'] === account.apiKey && headers['authent'] === signature
}

const respond = (world: ExchangeState, request: ExchangeRequest, fault: Fault | null): ExchangeResponse => {
  const [, path] = hostAndPath(request.path)
  const serverTime = iso(exchangeNow(world))
  const success = (body: object): ExchangeResponse => ({
    status: 200,
    body: { result: 'success', ...body, serverTime },
  })
  const failure = (error: string): ExchangeResponse => ({
    status: 200,
    body: { ...errorBody(error), serverTime },
  })
  const params = new URLSearchParams(request.query)
  try {
    const ticker = /^\/derivatives\/api\/v3\/tickers\/(\w+)$/.exec(path)?.[1]
    if (ticker !== undefined) return success({ ticker: tickerOf(world, baseIn(ticker)) })
    if (path === '/derivatives/api/v3/tickers')
      return success({ tickers: world.perpetuals.map((base) => tickerOf(world, base)) })
    const open = PUBLIC[path]
    if (open !== undefined) return success(open(world, params, fault))
    const answer = PRIVATE[`${request.method} ${path}`]
    if (answer === undefined)
      return { status: 404, body: { status: 'NOT_FOUND', result: 'error', errors: [] } }
    if (!isAuthentic(world, request, path)) return failure('authenticationError')
    return success(answer(world, params, fault))
  } catch (error) {
    if (error instanceof RequestError) return failure(error.message)
    const [code] = refusalIn(REFUSALS, error)
    return failure(code)
  }
}

const errorBody = (error: string) =>
  error === 'insufficientAvailableFunds'
    ? { result: 'success', sendStatus: { status: error, orderEvents: [] } }
    : { result: 'error', error }

export const KRAKEN_FUTURES_WIRE: Wire = {
  specs: SPECS,
  prepare: (world) => {
    world.ordersKeepStopIds = true
    // Fees are paid in dollars, and are in no response.
    world.account.leverages.clear()
  },
  respond,
  errorBody,
  unknownCode: 'unknownError',
}

const tickerOf = (world: ExchangeState, base: string) => {
  const price = number(marketPriceOf(world, base))
  return { symbol: symbolOf(base), last: price, markPrice: price, bid: price, ask: price }
}
