import { createHmac } from 'node:crypto'
import { isOpen, type VenueOrder, type VenueStop, type VenueTrade } from '../account.ts'
import { equityOf, unrealizedOf } from '../account-routes.ts'
import { specOf, type ContractSpecs } from '../contracts.ts'
import { unitsOf } from '../decimals.ts'
import { exchangeNow, marketPriceOf, type ExchangeState } from '../exchange-state.ts'
import type { Fault } from '../faults.ts'
import { cancelOrder, leverageOf, placeOrder, setLeverage } from '../matching.ts'
import { twistOf } from '../order-routes.ts'
import type { ExchangeRequest, ExchangeResponse, Wire } from '../requests.ts'
import { ExchangeRefusal } from '../signed.ts'
import { cancelStop, placeStop, stopOf } from '../stops.ts'
import { createHiding, digits, hostAndPath, listed, refusalIn, traded, type Refusals } from './common.ts'

// OKX V5. Every response is `{ code, msg, data }`. The error of an order is in `sCode` and `sMsg` of its entry.

/** Coins in one contract, in hundred-millionths. */
const CONTRACTS: Readonly<Record<string, bigint>> = { BTC: 1_000_000n, ETH: 10_000_000n }
const contractOf = (base: string): bigint => CONTRACTS[base] ?? 1_000_000n

const SPECS: ContractSpecs = {
  '*': {
    priceStep: '0.01',
    quantityStep: '0.01',
    quantityMax: '100000',
    marketQuantityMax: '20000',
    notionalMin: '0',
  },
  BTC: {
    priceStep: '0.1',
    quantityStep: '0.0001',
    quantityMax: '1000',
    marketQuantityMax: '120',
    notionalMin: '0',
  },
  ETH: {
    priceStep: '0.01',
    quantityStep: '0.001',
    quantityMax: '10000',
    marketQuantityMax: '2000',
    notionalMin: '0',
  },
}

const REFUSALS: Refusals = {
  [-1100]: ['51000', 'Parameter error'],
  [-1111]: ['51121', 'Order quantity must be a multiple of the lot size.'],
  [-1121]: ['51001', 'Instrument ID does not exist'],
  [-2011]: ['51400', 'Cancellation failed as the order has been filled, canceled or does not exist.'],
  [-2013]: ['51603', 'Order does not exist'],
  [-2015]: ['50120', "This API key doesn't have permission to use this function"],
  [-2019]: ['51008', 'Order failed. Insufficient USDT margin in account'],
  [-2021]: ['51280', 'SL trigger price must be less than the last price'],
  [-2022]: [
    '51169',
    "Order failed because you don't have any positions in this direction to reduce or close.",
  ],
  [-4001]: ['51000', 'Parameter px error'],
  [-4003]: ['51020', 'Your order should meet or exceed the minimum order amount.'],
  [-4005]: ['51202', 'Market order amount exceeds the maximum amount.'],
  [-4014]: ['51000', 'Parameter px error'],
  [-4015]: ['51000', 'Parameter clOrdId error'],
  [-4016]: ['51006', 'Order price is not within the price limit'],
  [-4024]: ['51006', 'Order price is not within the price limit'],
  [-4028]: ['59102', 'Leverage exceeds the maximum limit. Please lower the leverage.'],
  [-4061]: ['51000', 'Parameter posSide error'],
  [-4116]: ['51016', 'Client order ID already exists.'],
  [-4164]: ['51020', 'Your order should meet or exceed the minimum order amount.'],
}

type Params = Readonly<Record<string, string | boolean | undefined>>
/** The entries of the response. */
type Answer = (world: ExchangeState, params: Params, fault: Fault | null) => readonly unknown[]

const PUBLIC: Readonly<Record<string, Answer>> = {
  '/api/v5/public/time': (world) => [{ ts: String(exchangeNow(world)) }],
  '/api/v5/public/instruments': ({ perpetuals, delisted }, { instType }) =>
    instType === 'SWAP' ? perpetuals.filter((base) => !delisted.has(base)).map(instrument) : [],
  '/api/v5/market/ticker': (world, { instId }) => [ticker(world, baseIn(instId))],
  '/api/v5/market/tickers': (world, { instType }) =>
    instType === 'SWAP' ? world.perpetuals.map((base) => ticker(world, base)) : [],
}

const ticker = (world: ExchangeState, base: string) => ({
  instType: 'SWAP',
  instId: `${base}-USDT-SWAP`,
  last: digits(marketPriceOf(world, base)),
  ts: String(exchangeNow(world)),
})

const instrument = (base: string) => {
  const spec = specOf(SPECS, base)
  const inContracts = (coins: string): string =>
    digits(((unitsOf(coins) ?? 0n) * 100_000_000n) / contractOf(base))
  return {
    alias: '',
    auctionEndTime: '',
    baseCcy: '',
    category: '1',
    contTdSwTime: '1573557408000',
    ctMult: '1',
    ctType: 'linear',
    ctVal: digits(contractOf(base)),
    ctValCcy: base,
    expTime: '',
    futureSettlement: false,
    instFamily: `${base}-USDT`,
    instId: `${base}-USDT-SWAP`,
    instType: 'SWAP',
    lever: '100',
    listTime: '1573557408000',
    lotSz: inContracts(spec.quantityStep),
    maxLmtSz: inContracts(spec.quantityMax),
    maxMktSz: inContracts(spec.marketQuantityMax),
    minSz: inContracts(spec.quantityStep),
    optType: '',
    quoteCcy: '',
    ruleType: 'normal',
    settleCcy: 'USDT',
    state: 'live',
    stk: '',
    tickSz: spec.priceStep,
    uly: `${base}-USDT`,
  }
}

const hiding = createHiding()

const PRIVATE: Readonly<Record<string, Answer>> = {
  'POST /api/v5/trade/order': (world, params, fault) => {
    if (!world.account.mayTrade) throw new ExchangeRefusal(-2015, '')
    const clientOrderId = String(params['clOrdId'] ?? '')
    if (!/^[A-Za-z0-9]{1,32}$/.test(clientOrderId)) throw new ExchangeRefusal(-4015, '')
    const base = traded(world, baseIn(params['instId']))
    const ordType = String(params['ordType'])
    if (!['market', 'limit', 'ioc'].includes(ordType)) throw new ExchangeRefusal(-1100, '')
    const tdMode = modeIn(params['tdMode'])
    const order = placeOrder(
      world,
      {
        clientOrderId,
        base,
        side: params['side'] === 'buy' ? 'BUY' : 'SELL',
        type: ordType === 'market' ? 'MARKET' : 'LIMIT',
        timeInForce: ordType === 'limit' ? 'GTC' : 'IOC',
        quantity: coinsIn(params['sz'], base),
        price: ordType === 'market' ? null : exact(params['px']),
        isReduceOnly: params['reduceOnly'] === true,
      },
      twistOf(fault),
    )
    // Every order names its margin mode.
    world.account.marginModes.set(base, tdMode)
    return [
      {
        clOrdId: clientOrderId,
        ordId: String(order.orderId),
        tag: '',
        ts: String(order.atMs),
        sCode: '0',
        sMsg: '',
      },
    ]
  },
  'GET /api/v5/trade/order': (world, params) => {
    const { byClientOrderId, byOrderId } = world.account
    const order =
      params['clOrdId'] === undefined
        ? byOrderId.get(Number(params['ordId']))
        : byClientOrderId.get(String(params['clOrdId']))
    if (order === undefined || hiding.isHidden(order)) throw new ExchangeRefusal(-2013, '')
    return [publishOrder(order)]
  },
  'POST /api/v5/trade/cancel-order': (world, params) => {
    const order = world.account.byClientOrderId.get(String(params['clOrdId']))
    if (order === undefined || !isOpen(order)) throw new ExchangeRefusal(-2011, '')
    cancelOrder(world, order)
    return [{ clOrdId: order.clientOrderId, ordId: String(order.orderId), ts: '0', sCode: '0', sMsg: '' }]
  },
  'GET /api/v5/trade/fills': (world, params, fault) => {
    const order = world.account.byOrderId.get(Number(params['ordId']))
    const after = Number(params['after'] ?? Number.POSITIVE_INFINITY)
    const older = (order?.trades ?? []).filter((trade) => billIdOf(trade) < after).toReversed()
    return listed(older.slice(0, Math.min(100, Number(params['limit'] ?? 100))), publishTrade, fault)
  },
  'GET /api/v5/trade/orders-history': ({ account }, { category }) =>
    category === 'full_liquidation' ? account.forced.map(publishOrder) : [],
  'POST /api/v5/trade/order-algo': (world, params) => {
    const clientOrderId = String(params['algoClOrdId'] ?? '')
    if (!/^[A-Za-z0-9]{1,32}$/.test(clientOrderId)) throw new ExchangeRefusal(-4015, '')
    const base = traded(world, baseIn(params['instId']))
    const isProtective =
      params['ordType'] === 'conditional' &&
      params['slOrdPx'] === '-1' &&
      params['slTriggerPxType'] === 'mark' &&
      params['reduceOnly'] === true
    if (!isProtective) throw new ExchangeRefusal(-1100, '')
    modeIn(params['tdMode'])
    const stop = placeStop(world, {
      clientOrderId,
      base,
      side: params['side'] === 'buy' ? 'BUY' : 'SELL',
      quantity: coinsIn(params['sz'], base),
      triggerPrice: exact(params['slTriggerPx']),
    })
    return [
      { algoId: String(stop.stopId), clOrdId: '', algoClOrdId: clientOrderId, sCode: '0', sMsg: '', tag: '' },
    ]
  },
  'GET /api/v5/trade/order-algo': (world, params) => {
    const stop = stopOf(world, String(params['algoClOrdId']))
    if (stop === null) throw new ExchangeRefusal(-2013, '')
    return [publishStop(stop)]
  },
  'POST /api/v5/trade/cancel-algos': (world, params) => {
    const { algoId } = (params as unknown as readonly Params[])[0] ?? {}
    const stop = world.account.stops.find(({ stopId }) => String(stopId) === algoId) ?? null
    return [{ algoId: String(cancelStop(world, stop).stopId), sCode: '0', sMsg: '' }]
  },
  'GET /api/v5/trade/orders-algo-pending': ({ account }, { ordType }) => {
    if (ordType !== 'conditional') throw new ExchangeRefusal(-1100, '')
    return account.stops.filter(({ status }) => status === 'resting').map(publishStop)
  },
  'GET /api/v5/account/balance': (world) => {
    const equity = digits(equityOf(world))
    return [
      {
        adjEq: '',
        details: [
          {
            availBal: digits(world.account.wallet),
            availEq: equity,
            cashBal: digits(world.account.wallet),
            ccy: 'USDT',
            disEq: equity,
            eq: equity,
            eqUsd: equity,
            fixedBal: '0',
            frozenBal: '0',
            isoEq: '0',
            ordFrozen: '0',
            uTime: String(exchangeNow(world)),
            upl: digits(equityOf(world) - world.account.wallet),
          },
        ],
        isoEq: '0',
        totalEq: equity,
        uTime: String(exchangeNow(world)),
      },
    ]
  },
  'GET /api/v5/account/positions': (world) =>
    [...world.account.holdings.keys()].flatMap((base) => position(world, base) ?? []),
  'GET /api/v5/account/config': ({ account }) => [
    {
      acctLv: '2',
      autoLoan: false,
      ctIsoMode: 'automatic',
      greeksType: 'PA',
      ip: '',
      kycLv: '3',
      label: 'engine',
      level: 'Lv1',
      levelTmp: '',
      mainUid: '44705892343619584',
      perm: [
        'read_only',
        ...(account.mayTrade ? ['trade'] : []),
        ...(account.mayWithdraw ? ['withdraw'] : []),
      ].join(','),
      posMode: account.isHedged ? 'long_short_mode' : 'net_mode',
      roleType: '0',
      uid: '44705892343619584',
    },
  ],
  'GET /api/v5/account/leverage-info': (world, { instId, mgnMode }) => [
    { ccy: '', instId, mgnMode, posSide: 'net', lever: String(leverageOf(world.account, baseIn(instId))) },
  ],
  'POST /api/v5/account/set-leverage': (world, { instId, mgnMode, lever }) => {
    setLeverage(world, traded(world, baseIn(instId)), Number(lever))
    return [{ instId, mgnMode, lever, posSide: 'net' }]
  },
}

const baseIn = (instId: unknown): string => String(instId).replace(/-USDT-SWAP$/, '')

const modeIn = (tdMode: unknown): 'isolated' | 'cross' => {
  if (tdMode !== 'isolated' && tdMode !== 'cross') throw new ExchangeRefusal(-1100, '')
  return tdMode
}

const exact = (value: unknown): bigint => {
  const units = typeof value === 'string' ? unitsOf(value) : null
  if (units === null) throw new ExchangeRefusal(-1100, '')
  return units
}

const coinsIn = (contracts: unknown, base: string): bigint =>
  (exact(contracts) * contractOf(base)) / 100_000_000n

const contractsOf = (coins: bigint, base: string): string => digits((coins * 100_000_000n) / contractOf(base))

const ORDER_STATUS: Readonly<Record<VenueOrder['status'], string>> = {
  NEW: 'live',
  PARTIALLY_FILLED: 'partially_filled',
  FILLED: 'filled',
  CANCELED: 'canceled',
  EXPIRED: 'canceled',
}

const publishOrder = (order: VenueOrder) => ({
  accFillSz: contractsOf(order.executed, order.base),
  algoClOrdId: '',
  algoId: '',
  attachAlgoOrds: [],
  avgPx: order.executed === 0n ? '' : digits(order.cost / order.executed),
  cTime: String(order.atMs),
  cancelSource: '',
  category: 'normal',
  ccy: '',
  clOrdId: order.clientOrderId,
  fee: '0',
  feeCcy: 'USDT',
  fillPx: '',
  fillSz: '0',
  fillTime: '',
  instId: `${order.base}-USDT-SWAP`,
  instType: 'SWAP',
  lever: '3',
  ordId: String(order.orderId),
  ordType: order.type === 'MARKET' ? 'market' : order.timeInForce === 'IOC' ? 'ioc' : 'limit',
  pnl: '0',
  posSide: 'net',
  px: order.price === null ? '' : digits(order.price),
  rebate: '0',
  rebateCcy: 'USDT',
  reduceOnly: String(order.isReduceOnly),
  side: order.side.toLowerCase(),
  source: '',
  state: ORDER_STATUS[order.status],
  sz: contractsOf(order.quantity, order.base),
  tag: '',
  tdMode: 'isolated',
  tgtCcy: '',
  tradeId: '',
  uTime: String(order.updatedMs),
})

const billIdOf = ({ tradeId }: VenueTrade): number => tradeId + 1

const publishTrade = (trade: VenueTrade) => ({
  instType: 'SWAP',
  instId: `${trade.base}-USDT-SWAP`,
  tradeId: String(trade.tradeId),
  ordId: String(trade.orderId),
  clOrdId: trade.clientOrderId,
  billId: String(billIdOf(trade)),
  tag: '',
  fillPx: digits(trade.price),
  fillSz: contractsOf(trade.quantity, trade.base),
  fillIdxPx: '',
  fillPnl: '0',
  side: trade.side.toLowerCase(),
  posSide: 'net',
  execType: 'T',
  feeCcy: trade.commissionAsset,
  // A fee that was paid is negative.
  fee: digits(-trade.commission),
  ts: String(trade.atMs),
  fillTime: String(trade.atMs),
})

const publishStop = (stop: VenueStop) => ({
  actualPx: '',
  actualSide: stop.order === null ? '' : 'sl',
  actualSz: stop.order === null ? '0' : contractsOf(stop.order.executed, stop.base),
  algoClOrdId: stop.clientOrderId,
  algoId: String(stop.stopId),
  cTime: String(stop.atMs),
  ccy: '',
  clOrdId: '',
  closeFraction: '',
  failCode: '0',
  instId: `${stop.base}-USDT-SWAP`,
  instType: 'SWAP',
  last: '',
  lever: '3',
  ordId: stop.order === null ? '' : String(stop.order.orderId),
  ordIdList: stop.order === null ? [] : [String(stop.order.orderId)],
  ordPx: '',
  ordType: 'conditional',
  posSide: 'net',
  reduceOnly: 'true',
  side: stop.side.toLowerCase(),
  slOrdPx: '-1',
  slTriggerPx: digits(stop.triggerPrice),
  slTriggerPxType: 'mark',
  state: { resting: 'live', triggered: 'effective', canceled: 'canceled', rejected: 'order_failed' }[
    stop.status
  ],
  sz: contractsOf(stop.quantity, stop.base),
  tdMode: 'isolated',
  tpOrdPx: '',
  tpTriggerPx: '',
  triggerPx: '',
  triggerTime: stop.order === null ? '' : String(stop.updatedMs),
  uTime: String(stop.updatedMs),
})

const position = (world: ExchangeState, base: string) => {
  const holding = world.account.holdings.get(base)
  if (holding === undefined || holding.quantity === 0n) return null
  const price = marketPriceOf(world, base)
  const size = holding.quantity < 0n ? -holding.quantity : holding.quantity
  const notional = (size * price) / 100_000_000n
  return {
    adl: '1',
    availPos: '',
    avgPx: digits(holding.cost / holding.quantity),
    cTime: '1676538056258',
    ccy: 'USDT',
    instId: `${base}-USDT-SWAP`,
    instType: 'SWAP',
    lever: String(leverageOf(world.account, base)),
    liqPx: '',
    margin: digits(notional / leverageOf(world.account, base)),
    markPx: digits(price),
    mgnMode: world.account.marginModes.get(base) ?? 'cross',
    mmr: digits(notional / 250n),
    notionalUsd: digits(notional),
    pos: `${holding.quantity < 0n ? '-' : ''}${contractsOf(size, base)}`,
    posCcy: '',
    posId: '307173036051017730',
    posSide: 'net',
    uTime: String(exchangeNow(world)),
    upl: digits(unrealizedOf(world, base, holding)),
    uplRatio: '0',
  }
}

/** The secret signs time, method, path with query, and body. The key also has a passphrase. */
const authenticate = (
  world: ExchangeState,
  request: ExchangeRequest,
  path: string,
): ExchangeResponse | null => {
  const { headers, method, query, body } = request
  const { apiKey, secret, passphrase } = world.account
  const refused = (code: string, msg: string): ExchangeResponse => ({
    status: 401,
    body: { code, msg, data: [] },
  })
  if (headers['ok-access-key'] !== apiKey) return refused('50111', 'Invalid OK-ACCESS-KEY.')
  if (headers['ok-access-passphrase'] !== passphrase)
    return refused('50105', 'Request header OK-ACCESS-PASSPHRASE incorrect.')
  const timestamp = headers['ok-access-timestamp'] ?? ''
  const signed = `${timestamp}${method}${path}${query === '' ? '' : `?${query}`}${body}`
  if (headers['ok-access-sign'] !== createHmac('sha256', secret).update(signed).digest('base64'))
    return refused('50113', 'Invalid Sign')
  if (!(Math.abs(Date.parse(timestamp) - exchangeNow(world)) < 30_000))
    return refused('50102', 'Timestamp request expired')
  return null
}

const respond = (world: ExchangeState, request: ExchangeRequest, fault: Fault | null): ExchangeResponse => {
  const [, path] = hostAndPath(request.path)
  const success = (data: readonly unknown[]): ExchangeResponse => ({
    status: 200,
    body: { code: '0', msg: '', data },
  })
  try {
    const query = Object.fromEntries(new URLSearchParams(request.query))
    const open = PUBLIC[path]
    if (open !== undefined) return success(open(world, query, fault))
    const answer = PRIVATE[`${request.method} ${path}`]
    if (answer === undefined) return { status: 404, body: { code: '404', msg: 'Not Found', data: [] } }
    const refused = authenticate(world, request, path)
    if (refused !== null) return refused
    const { exptime } = request.headers
    if (exptime !== undefined && exchangeNow(world) > Number(exptime))
      return { status: 200, body: errorBody('51149', 'Order timed out. Please try again later.') }
    const params = request.method === 'GET' ? query : (JSON.parse(request.body) as Params)
    return success(answer(world, params, fault))
  } catch (error) {
    const [code, message] = refusalIn(REFUSALS, error)
    if (request.method === 'POST' && path.includes('/trade/'))
      return { status: 200, body: errorBody(code, message) }
    return { status: 200, body: { code, msg: message, data: [] } }
  }
}

/** Errors of the whole request have five digits and start with 50. Errors of an order are one level deeper. */
const errorBody = (code: string, message: string) =>
  code.startsWith('50')
    ? { code, msg: message, data: [] }
    : {
        code: '1',
        msg: 'All operations failed',
        data: [{ clOrdId: '', ordId: '', sCode: code, sMsg: message, tag: '' }],
      }

export const OKX_WIRE: Wire = { specs: SPECS, respond, errorBody, unknownCode: '50026' }
