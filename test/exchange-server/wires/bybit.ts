import { createHmac } from 'node:crypto'
import { isOpen, type VenueOrder, type VenueStop, type VenueTrade } from '../account.ts'
import { equityOf, unrealizedOf } from '../account-routes.ts'
import { specOf, type ContractSpecs } from '../contracts.ts'
import { unitsOf } from '../decimals.ts'
import { exchangeNow, marketPriceOf, type ExchangeState } from '../exchange-state.ts'
import type { Fault } from '../faults.ts'
import { cancelOrder, leverageOf, placeOrder, setLeverage, setMarginMode } from '../matching.ts'
import { twistOf } from '../order-routes.ts'
import type { ExchangeRequest, ExchangeResponse, Wire } from '../requests.ts'
import { ExchangeRefusal } from '../signed.ts'
import { cancelStop, placeStop, stopOf } from '../stops.ts'
import {
  createHiding,
  digits,
  forcedTrades,
  hostAndPath,
  listed,
  refusalIn,
  traded,
  type Refusals,
} from './common.ts'

// Bybit V5, unified account. Every response is `{ retCode, retMsg, result, retExtInfo, time }` with HTTP 200.

const SPECS: ContractSpecs = {
  '*': {
    priceStep: '0.001',
    quantityStep: '0.01',
    quantityMax: '100000',
    marketQuantityMax: '20000',
    notionalMin: '5',
  },
  BTC: {
    priceStep: '0.10',
    quantityStep: '0.001',
    quantityMax: '1190',
    marketQuantityMax: '119',
    notionalMin: '5',
  },
  ETH: {
    priceStep: '0.01',
    quantityStep: '0.01',
    quantityMax: '7240',
    marketQuantityMax: '724',
    notionalMin: '5',
  },
}

const REFUSALS: Refusals = {
  [-1021]: ['10002', 'invalid request, please check your server timestamp or recv_window param.'],
  [-1022]: ['10004', 'error sign! origin_string[...]'],
  [-1100]: ['10001', 'params error'],
  [-1111]: ['10001', 'Qty invalid'],
  [-1121]: ['110074', 'This contract is not live'],
  [-2011]: ['110001', 'order not exists or too late to cancel'],
  [-2015]: ['10005', 'Permission denied, please check your API key permissions.'],
  [-2019]: ['110007', 'ab not enough for new order'],
  [-2021]: ['110093', 'expect Falling, but trigger_price >= current'],
  [-2022]: ['110017', 'current position is zero, cannot fix reduce-only order qty'],
  [-4001]: ['10001', 'Price invalid'],
  [-4003]: ['10001', 'Qty invalid'],
  [-4005]: ['10001', 'The number of contracts exceeds maximum limit allowed'],
  [-4014]: ['10001', 'Price invalid'],
  [-4015]: ['10001', 'OrderLinkedID too long'],
  [-4016]: ['110003', 'Order price exceeds the allowable range.'],
  [-4024]: ['110003', 'Order price exceeds the allowable range.'],
  [-4028]: ['110013', 'cannot set leverage due to risk limit'],
  [-4046]: ['110026', 'Cross/isolated margin mode is not modified'],
  [-4048]: ['110024', 'You have an existing position, so position mode cannot be switched'],
  [-4061]: ['10001', 'position idx not match position mode'],
  [-4116]: ['110072', 'OrderLinkedID is duplicate'],
  [-4164]: ['110094', 'Order does not meet minimum order value 5USDT'],
}

type Params = Readonly<Record<string, string | number | boolean>>
type Answer = (world: ExchangeState, params: Params, fault: Fault | null) => unknown

const PUBLIC: Readonly<Record<string, Answer>> = {
  '/v5/market/time': (world) => ({
    timeSecond: String(Math.floor(exchangeNow(world) / 1000)),
    timeNano: `${exchangeNow(world)}000000`,
  }),
  '/v5/market/instruments-info': ({ perpetuals, delisted }, { category, status }) => ({
    category,
    list:
      category === 'linear' && status !== 'PreLaunch'
        ? perpetuals.filter((base) => !delisted.has(base)).map(instrument)
        : [],
    nextPageCursor: '',
  }),
  '/v5/market/tickers': (world, { symbol }) => {
    const bases = typeof symbol === 'string' ? [symbol.replace(/USDT$/, '')] : world.perpetuals
    const list = bases.map((base) => {
      const lastPrice = digits(marketPriceOf(world, base))
      return { symbol: `${base}USDT`, lastPrice, markPrice: lastPrice, indexPrice: lastPrice }
    })
    return { category: 'linear', list }
  },
}

const instrument = (base: string) => {
  const spec = specOf(SPECS, base)
  return {
    symbol: `${base}USDT`,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: base,
    quoteCoin: 'USDT',
    launchTime: '1584230400000',
    deliveryTime: '0',
    deliveryFeeRate: '',
    priceScale: '2',
    leverageFilter: { minLeverage: '1', maxLeverage: '100.00', leverageStep: '0.01' },
    priceFilter: { minPrice: spec.priceStep, maxPrice: '1999999.80', tickSize: spec.priceStep },
    lotSizeFilter: {
      maxOrderQty: spec.quantityMax,
      minOrderQty: spec.quantityStep,
      qtyStep: spec.quantityStep,
      postOnlyMaxOrderQty: spec.quantityMax,
      maxMktOrderQty: spec.marketQuantityMax,
      minNotionalValue: spec.notionalMin,
    },
    unifiedMarginTrade: true,
    fundingInterval: 480,
    settleCoin: 'USDT',
    copyTrading: 'both',
  }
}

const hiding = createHiding()

const PRIVATE: Readonly<Record<string, Answer>> = {
  'POST /v5/order/create': (world, params, fault) => {
    if (!world.account.mayTrade) throw new ExchangeRefusal(-2015, '')
    const base = baseOf(world, params)
    const side = params['side'] === 'Buy' ? 'BUY' : 'SELL'
    const clientOrderId = String(params['orderLinkId'] ?? '')
    const quantity = exact(params['qty'])
    if (params['triggerPrice'] !== undefined) {
      if (params['reduceOnly'] !== true || params['triggerBy'] !== 'MarkPrice' || !isTowards(side, params))
        throw new ExchangeRefusal(-1100, '')
      const triggerPrice = exact(params['triggerPrice'])
      return acknowledged(
        placeStop(world, { clientOrderId, base, side, quantity, triggerPrice }).stopId,
        clientOrderId,
      )
    }
    const isLimit = params['orderType'] === 'Limit'
    const order = placeOrder(
      world,
      {
        clientOrderId,
        base,
        side,
        type: isLimit ? 'LIMIT' : 'MARKET',
        timeInForce: isLimit ? String(params['timeInForce'] ?? 'GTC') : 'IOC',
        quantity,
        price: isLimit ? exact(params['price']) : null,
        isReduceOnly: params['reduceOnly'] === true,
      },
      twistOf(fault),
    )
    return acknowledged(order.orderId, clientOrderId)
  },
  'POST /v5/order/cancel': (world, params) => {
    const clientOrderId = String(params['orderLinkId'])
    const stop = stopOf(world, clientOrderId)
    if (stop !== null) return acknowledged(cancelStop(world, stop).stopId, clientOrderId)
    const order = world.account.byClientOrderId.get(clientOrderId)
    if (order === undefined || !isOpen(order)) throw new ExchangeRefusal(-2011, '')
    cancelOrder(world, order)
    return acknowledged(order.orderId, clientOrderId)
  },
  // Open orders, and those that ended a moment ago.
  'GET /v5/order/realtime': (world, params) => {
    if (params['orderFilter'] === 'StopOrder') {
      const resting = world.account.stops.filter(({ status }) => status === 'resting')
      return { category: 'linear', list: resting.map(publishStop), nextPageCursor: '' }
    }
    const isRecent = (endedMs: number): boolean => exchangeNow(world) - endedMs < RECENT_MS
    const stop = stopOf(world, String(params['orderLinkId']))
    if (stop !== null)
      return { list: stop.status === 'resting' || isRecent(stop.updatedMs) ? [publishStop(stop)] : [] }
    const order = world.account.byClientOrderId.get(String(params['orderLinkId']))
    const isListed =
      order !== undefined && !hiding.isHidden(order) && (isOpen(order) || isRecent(order.updatedMs))
    return { category: 'linear', list: isListed ? [publishOrder(order)] : [], nextPageCursor: '' }
  },
  'GET /v5/order/history': (world, params) => {
    const stop = stopOf(world, String(params['orderLinkId']))
    if (stop !== null) return { list: stop.status === 'resting' ? [] : [publishStop(stop)] }
    const order = world.account.byClientOrderId.get(String(params['orderLinkId']))
    const isListed = order !== undefined && !isOpen(order) && !hiding.wasHidden(order)
    return { category: 'linear', list: isListed ? [publishOrder(order)] : [], nextPageCursor: '' }
  },
  'GET /v5/execution/list': (world, params, fault) => {
    if (params['execType'] === 'BustTrade')
      return { list: forcedTrades(world).map(([order, trade]) => publishTrade(order, trade, 'BustTrade')) }
    const order = world.account.byOrderId.get(Number(params['orderId']))
    if (order === undefined) return { list: [], nextPageCursor: '' }
    const trades = order.trades.toReversed()
    const [from, limit] = [Number(params['cursor'] ?? 0), Math.min(100, Number(params['limit'] ?? 50))]
    return {
      list: listed(trades.slice(from, from + limit), (trade) => publishTrade(order, trade, 'Trade'), fault),
      nextPageCursor: from + limit < trades.length ? String(from + limit) : '',
    }
  },
  'GET /v5/position/list': (world, params) => {
    const { holdings, isHedged } = world.account
    const asked =
      params['symbol'] === undefined ? [...holdings.keys()] : [String(params['symbol']).replace(/USDT$/, '')]
    const list = asked
      .map((base) => position(world, base))
      .filter(({ size }) => params['symbol'] !== undefined || size !== '0')
    return {
      category: 'linear',
      // In hedge mode every market has two.
      list: isHedged
        ? list.flatMap((one) => [
            { ...one, positionIdx: 1 },
            { ...one, positionIdx: 2 },
          ])
        : list,
      nextPageCursor: '',
    }
  },
  'GET /v5/account/info': ({ account }) => ({
    unifiedMarginStatus: 6,
    marginMode: account.marginMode === 'isolated' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN',
    isMasterTrader: false,
    spotHedgingStatus: 'OFF',
    updatedTime: '1697078946000',
  }),
  'POST /v5/account/set-margin-mode': (world, { setMarginMode: mode }) => {
    const { account } = world
    if ([...account.holdings.values()].some(({ quantity }) => quantity !== 0n))
      throw new ExchangeRefusal(-4048, '')
    setMarginMode(world, 'BTC', mode === 'ISOLATED_MARGIN' ? 'isolated' : 'cross')
    // One mode for the whole account.
    if (!world.areMarginsStuck) account.marginMode = mode === 'ISOLATED_MARGIN' ? 'isolated' : 'cross'
    account.marginModes.clear()
    return { reasons: [] }
  },
  'POST /v5/position/set-leverage': (world, params) => {
    setLeverage(world, baseOf(world, params), Number(params['buyLeverage']))
    return {}
  },
  'GET /v5/account/wallet-balance': (world) => {
    const [equity, wallet] = [digits(equityOf(world)), digits(world.account.wallet)]
    return {
      list: [
        {
          totalEquity: equity,
          accountIMRate: '0',
          totalMarginBalance: equity,
          totalInitialMargin: '0',
          accountType: 'UNIFIED',
          totalAvailableBalance: equity,
          accountMMRate: '0',
          totalPerpUPL: '0',
          totalWalletBalance: wallet,
          accountLTV: '0',
          totalMaintenanceMargin: '0',
          coin: [
            {
              availableToBorrow: '',
              bonus: '0',
              accruedInterest: '0',
              availableToWithdraw: wallet,
              totalOrderIM: '0',
              equity,
              totalPositionMM: '0',
              usdValue: equity,
              unrealisedPnl: digits(equityOf(world) - world.account.wallet),
              collateralSwitch: true,
              borrowAmount: '0',
              totalPositionIM: '0',
              walletBalance: wallet,
              cumRealisedPnl: '0',
              locked: '0',
              marginCollateral: true,
              coin: 'USDT',
            },
          ],
        },
      ],
    }
  },
  'GET /v5/user/query-api': ({ account }) => ({
    id: '13770661',
    note: 'engine',
    apiKey: account.apiKey,
    readOnly: account.mayTrade ? 0 : 1,
    secret: '',
    permissions: {
      ContractTrade: account.mayTrade ? ['Order', 'Position'] : [],
      Spot: [],
      Wallet: account.mayWithdraw ? ['AccountTransfer', 'Withdraw'] : [],
      Options: [],
    },
    ips: ['*'],
    type: 1,
    unified: 0,
    uta: 1,
  }),
}

const RECENT_MS = 60_000

const acknowledged = (orderId: number, orderLinkId: string) => ({ orderId: String(orderId), orderLinkId })

const baseOf = (world: ExchangeState, params: Params): string =>
  traded(world, String(params['symbol']).replace(/USDT$/, ''))

const exact = (value: string | number | boolean | undefined): bigint => {
  const units = typeof value === 'string' ? unitsOf(value) : null
  if (units === null) throw new ExchangeRefusal(-1100, '')
  return units
}

/** A stop that sells is triggered from above, one that buys from below. */
const isTowards = (side: 'BUY' | 'SELL', params: Params): boolean =>
  params['triggerDirection'] === (side === 'BUY' ? 1 : 2)

const ORDER_STATUS: Readonly<Record<VenueOrder['status'], string>> = {
  NEW: 'New',
  PARTIALLY_FILLED: 'PartiallyFilled',
  FILLED: 'Filled',
  CANCELED: 'Cancelled',
  EXPIRED: 'Cancelled',
}

const statusOf = ({ status, executed }: VenueOrder): string =>
  executed > 0n && (status === 'CANCELED' || status === 'EXPIRED')
    ? 'PartiallyFilledCanceled'
    : ORDER_STATUS[status]

const publishOrder = (order: VenueOrder) => ({
  symbol: `${order.base}USDT`,
  orderType: order.type === 'LIMIT' ? 'Limit' : 'Market',
  orderLinkId: order.clientOrderId,
  orderId: String(order.orderId),
  cancelType: 'UNKNOWN',
  avgPrice: order.executed === 0n ? '' : digits(order.cost / order.executed),
  stopOrderType: '',
  lastPriceOnCreated: '',
  orderStatus: statusOf(order),
  createType: 'CreateByUser',
  takeProfit: '',
  cumExecValue: digits(order.cost / 100_000_000n),
  tpslMode: '',
  smpType: 'None',
  triggerDirection: 0,
  isLeverage: '',
  rejectReason: 'EC_NoError',
  price: digits(order.price ?? 0n),
  orderIv: '',
  createdTime: String(order.atMs),
  tpTriggerBy: '',
  positionIdx: 0,
  timeInForce: order.timeInForce,
  leavesValue: '0',
  updatedTime: String(order.updatedMs),
  side: order.side === 'BUY' ? 'Buy' : 'Sell',
  smpGroup: 0,
  triggerPrice: '',
  cumExecFee: '0',
  leavesQty: isOpen(order) ? digits(order.quantity - order.executed) : '0',
  slTriggerBy: '',
  closeOnTrigger: false,
  placeType: '',
  cumExecQty: digits(order.executed),
  reduceOnly: order.isReduceOnly,
  qty: digits(order.quantity),
  stopLoss: '',
  marketUnit: '',
  smpOrderId: '',
  triggerBy: '',
})

const publishStop = (stop: VenueStop) => ({
  ...(stop.order === null
    ? {
        symbol: `${stop.base}USDT`,
        orderType: 'Market',
        orderLinkId: stop.clientOrderId,
        orderId: String(stop.stopId),
        orderStatus: {
          resting: 'Untriggered',
          canceled: 'Deactivated',
          triggered: 'Triggered',
          rejected: 'Rejected',
        }[stop.status],
        avgPrice: '',
        cumExecValue: '0',
        cumExecQty: '0',
        leavesQty: digits(stop.quantity),
        qty: digits(stop.quantity),
        price: '0',
        side: stop.side === 'BUY' ? 'Buy' : 'Sell',
        timeInForce: 'IOC',
        createdTime: String(stop.atMs),
        updatedTime: String(stop.updatedMs),
        positionIdx: 0,
        rejectReason: 'EC_NoError',
        reduceOnly: true,
        tpslMode: 'UNKNOWN',
      }
    : publishOrder(stop.order)),
  stopOrderType: 'Stop',
  triggerPrice: digits(stop.triggerPrice),
  triggerDirection: stop.side === 'BUY' ? 1 : 2,
  triggerBy: 'MarkPrice',
})

const publishTrade = (order: VenueOrder, trade: VenueTrade, execType: string) => ({
  symbol: `${trade.base}USDT`,
  orderType: order.type === 'LIMIT' ? 'Limit' : 'Market',
  underlyingPrice: '',
  orderLinkId: execType === 'Trade' ? trade.clientOrderId : '',
  side: trade.side === 'BUY' ? 'Buy' : 'Sell',
  indexPrice: '',
  orderId: String(trade.orderId),
  stopOrderType: 'UNKNOWN',
  leavesQty: '0',
  execTime: String(trade.atMs),
  feeCurrency: trade.commissionAsset === 'USDT' ? '' : trade.commissionAsset,
  isMaker: false,
  execFee: digits(trade.commission),
  feeRate: '0.0005',
  execId: String(trade.tradeId),
  tradeIv: '',
  blockTradeId: '',
  markPrice: digits(trade.price),
  execPrice: digits(trade.price),
  markIv: '',
  orderQty: digits(order.quantity),
  orderPrice: digits(order.price ?? 0n),
  execValue: digits((trade.price * trade.quantity) / 100_000_000n),
  execType,
  execQty: digits(trade.quantity),
  closedSize: '0',
  seq: 4688002127,
})

const position = (world: ExchangeState, base: string) => {
  const holding = world.account.holdings.get(base) ?? { quantity: 0n, cost: 0n }
  const { quantity, cost } = holding
  const size = quantity < 0n ? -quantity : quantity
  const price = marketPriceOf(world, base)
  return {
    positionIdx: 0,
    riskId: 1,
    riskLimitValue: '2000000',
    symbol: `${base}USDT`,
    side: quantity === 0n ? '' : quantity > 0n ? 'Buy' : 'Sell',
    size: digits(size),
    avgPrice: quantity === 0n ? '0' : digits(cost / quantity),
    positionValue: quantity === 0n ? '' : digits((size * price) / 100_000_000n),
    tradeMode: 0,
    autoAddMargin: 0,
    positionStatus: 'Normal',
    leverage: String(leverageOf(world.account, base)),
    markPrice: digits(price),
    liqPrice: '',
    bustPrice: '',
    positionIM: '0',
    positionMM: '0',
    positionBalance: '0',
    takeProfit: '',
    stopLoss: '',
    trailingStop: '0',
    unrealisedPnl: digits(unrealizedOf(world, base, holding)),
    cumRealisedPnl: '0',
    adlRankIndicator: 0,
    createdTime: '1676538056258',
    updatedTime: String(exchangeNow(world)),
    seq: 5723621632,
  }
}

/** The secret signs time, key, window, and the query or body as it came. */
const authenticate = (world: ExchangeState, { headers, query, body }: ExchangeRequest): void => {
  const [key, timestamp, window, sign] = ['api-key', 'timestamp', 'recv-window', 'sign'].map(
    (name) => headers[`x-bapi-${name}`] ?? '',
  ) as [string, string, string, string]
  if (key !== world.account.apiKey) throw new InvalidKey()
  const signed = `${timestamp}${key}${window}${query}${body}`
  if (sign !== createHmac('sha256', world.account.secret).update(signed).digest('hex'))
    throw new ExchangeRefusal(-1022, '')
  const nowMs = exchangeNow(world)
  if (Number(timestamp) < nowMs - Number(window) || Number(timestamp) >= nowMs + 1000)
    throw new ExchangeRefusal(-1021, '')
}

class InvalidKey extends Error {}

const respond = (world: ExchangeState, request: ExchangeRequest, fault: Fault | null): ExchangeResponse => {
  const [, path] = hostAndPath(request.path)
  const success = (result: unknown): ExchangeResponse => ({
    status: 200,
    body: { retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: exchangeNow(world) },
  })
  const failure = (code: string, message: string): ExchangeResponse => ({
    status: 200,
    body: errorBody(code, message),
  })
  try {
    const query = Object.fromEntries(new URLSearchParams(request.query))
    const open = PUBLIC[path]
    if (open !== undefined) return success(open(world, query, fault))
    const answer = PRIVATE[`${request.method} ${path}`]
    if (answer === undefined) return { status: 404, body: {} }
    authenticate(world, request)
    const params = request.method === 'GET' ? query : (JSON.parse(request.body) as Params)
    return success(answer(world, params, fault))
  } catch (error) {
    if (error instanceof InvalidKey) return failure('10003', 'API key is invalid.')
    return failure(...refusalIn(REFUSALS, error))
  }
}

const errorBody = (code: string, message: string) => ({
  retCode: Number(code),
  retMsg: message,
  result: {},
  retExtInfo: {},
  time: 0,
})

export const BYBIT_WIRE: Wire = {
  specs: SPECS,
  prepare: (world) => {
    world.ordersKeepStopIds = true
  },
  respond,
  errorBody,
  unknownCode: '10016',
}
