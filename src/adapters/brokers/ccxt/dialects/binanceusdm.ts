import { DOLLARS, memberOf, textMemberOf } from '../../../ccxt.ts'
import {
  call,
  createOrder,
  dollarsIn,
  dollarTotal,
  listIn,
  sideIn,
  stopReader,
  wholeList,
  type Dialect,
  type ListedStop,
} from './dialect.ts'

/** Binance USDⓈ-M futures. Conditional orders are algo orders there, with ids and endpoints of their own. */
export const binanceusdm: Dialect = {
  options: {},
  clientOrderId: /^[.A-Z:/a-z0-9_-]{1,36}$/,
  dollars: DOLLARS,
  // Successes may have a code too, above zero.
  errorIn: (body) => {
    const code = textMemberOf(body, 'code')
    return code?.startsWith('-') === true ? { code, message: textMemberOf(body, 'msg') ?? '' } : null
  },
  codes: {
    duplicate: new Set(['-4116']),
    noSuchOrder: new Set(['-2013']),
    nothingToCancel: new Set(['-2011']),
    notTraded: new Set(['-1121', '-4108', '-4140', '-4141']),
    clock: new Set(['-1021', '-5028']),
    // Unknown error, disconnected, unexpected response, timeout.
    unclear: new Set(['-1000', '-1001', '-1006', '-1007']),
    // Overloaded: documented as a certain failure although it comes with 503.
    limit: new Set(['-1008']),
    refusedAsServerError: new Set(),
  },
  time: (api) => api.fetchTime(),
  isHedged: async (api, market) => memberOf(await api.fetchPositionMode(market), 'hedged') === true,
  rights: async (api) => {
    // Practice accounts have no list of permissions.
    if (memberOf(api.urls.api, 'sapi') === undefined) return null
    const listed = await call(api, 'sapiGetAccountApiRestrictions')
    return {
      mayTrade: memberOf(listed, 'enableFutures') === true,
      mayWithdraw: memberOf(listed, 'enableWithdrawals') === true,
    }
  },
  equityIn: dollarTotal,
  balanceIn: (balance) => {
    const assets = listIn(memberOf(memberOf(balance, 'info'), 'assets'))
    // The library leaves out assets that were never updated, too: what they say is not valid.
    const valid = assets.filter((asset) => textMemberOf(asset, 'updateTime') !== '0')
    return dollarsIn(valid, 'asset', 'walletBalance')
  },
  margin: async (api, { marketId }) => {
    const listed = await call(api, 'fapiPrivateGetSymbolConfig', { symbol: marketId })
    const found = listIn(listed).find((entry) => textMemberOf(entry, 'symbol') === marketId)
    const type = textMemberOf(found, 'marginType')
    if (type === null) throw new Error('the exchange reports no margin mode')
    return {
      mode: type === 'CROSSED' ? 'cross' : type.toLowerCase(),
      leverage: Number(textMemberOf(found, 'leverage')),
    }
  },
  setMargin: async (api, { market, marketId }, wanted, found) => {
    if (found.mode !== wanted.mode)
      await call(api, 'fapiPrivatePostMarginType', {
        symbol: marketId,
        marginType: wanted.mode === 'cross' ? 'CROSSED' : 'ISOLATED',
      })
    if (found.leverage !== wanted.leverage) await api.setLeverage(wanted.leverage, market)
  },
  createOrder,
  findOrder: (api, { market }, clientOrderId) => api.fetchOrder('', market, { clientOrderId }),
  cancelOrder: (api, { market }, clientOrderId) => api.cancelOrder('', market, { clientOrderId }),
  tradesOf: (api, { market }, orderId) => api.fetchMyTrades(market, undefined, TRADES_MAX, { orderId }),
  // Without a kind: liquidations, and positions that the venue deleveraged.
  liquidations: async (api, sinceMs) =>
    wholeList(
      await call(api, 'fapiPrivateGetForceOrders', { startTime: sinceMs, limit: LIQUIDATIONS_MAX }),
    ).map((entry) => ({
      venueOrderId: textMemberOf(entry, 'orderId') ?? '',
      market: api.safeSymbol(textMemberOf(entry, 'symbol') ?? '', undefined, undefined, 'swap'),
      side: sideIn(memberOf(entry, 'side')) ?? 'sell',
      amount: memberOf(entry, 'executedQty'),
    })),
  stops: {
    // Not by the library's order call, which asks the list of markets whether it may.
    place: (api, { marketId }, { clientOrderId, side, amount, triggerPrice }) =>
      call(api, 'fapiPrivatePostAlgoOrder', {
        algoType: 'CONDITIONAL',
        type: 'STOP_MARKET',
        symbol: marketId,
        side: side.toUpperCase(),
        quantity: amount,
        triggerPrice,
        workingType: 'MARK_PRICE',
        reduceOnly: 'true',
        clientAlgoId: clientOrderId,
      }),
    find: async (api, { market }, clientOrderId) => {
      const entry = await call(api, 'fapiPrivateGetAlgoOrder', { clientAlgoId: clientOrderId })
      const found = stopIn(entry)
      if (found === null) throw new Error('the exchange returned no algo order')
      const sentOrderId = textMemberOf(entry, 'actualOrderId')
      return { ...found, order: sentOrderId === null ? null : await api.fetchOrder(sentOrderId, market, {}) }
    },
    cancel: (api, _, { clientOrderId }) =>
      call(api, 'fapiPrivateDeleteAlgoOrder', { clientAlgoId: clientOrderId }),
    open: async (api) => wholeList(await call(api, 'fapiPrivateGetOpenAlgoOrders')).map(stopIn),
  },
}

const TRADES_MAX = 1000
const LIQUIDATIONS_MAX = 100

/** Every algo order has one. */
const stopIn = (entry: unknown): ListedStop | null =>
  textMemberOf(entry, 'clientAlgoId') === null ? null : readStop(entry)

const readStop = stopReader(
  {
    clientOrderId: 'clientAlgoId',
    venueOrderId: 'algoId',
    marketId: 'symbol',
    status: 'algoStatus',
    amount: 'quantity',
    triggerPrice: 'triggerPrice',
  },
  {
    NEW: 'resting',
    TRIGGERING: 'triggered',
    TRIGGERED: 'triggered',
    FINISHED: 'triggered',
    CANCELED: 'canceled',
    EXPIRED: 'canceled',
    REJECTED: 'rejected',
  },
)
