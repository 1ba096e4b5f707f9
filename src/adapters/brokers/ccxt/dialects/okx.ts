import { DOLLARS, memberOf, textMemberOf } from '../../../ccxt.ts'
import { SUPPORTED_VENUES } from '../../../../core/shared/venues.ts'
import { minus } from '../../../../core/shared/money.ts'
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
} from './dialect.ts'
import type { TradingApi } from '../api.ts'

const TOO_MANY_REQUESTS = '50011'

/**
 * OKX. Quantities are in contracts. Orders are acknowledged with their ids only, and each names its margin mode. Stops
 * are algo orders: the order that a trigger sends has an id of its own.
 */
export const okx: Dialect = {
  options: { fetchMarkets: { types: ['swap'] }, defaultType: 'swap', createOrder: 'privatePostTradeOrder' },
  clientOrderId: /^[A-Za-z0-9]{1,32}$/,
  dollars: DOLLARS,
  // The error of an order is nested one level deeper.
  errorIn: (body) => {
    const code = textMemberOf(body, 'code')
    if (code === null || code === '0') return null
    const [first] = listIn(memberOf(body, 'data'))
    const inner = textMemberOf(first, 'sCode')
    if (inner !== null && inner !== '0') return { code: inner, message: textMemberOf(first, 'sMsg') ?? '' }
    const error = { code, message: textMemberOf(body, 'msg') ?? '' }
    return code === TOO_MANY_REQUESTS ? { ...error, pauseMs: 5000 } : error
  },
  codes: {
    duplicate: new Set(['51016', '51065']),
    noSuchOrder: new Set(['51603']),
    nothingToCancel: new Set(['51400', '51401', '51402', '51503', '51603']),
    notTraded: new Set(['51001', '51027', '51028', '51087']),
    clock: new Set(['50102', '50112']),
    // Codes for maintenance, endpoint timeout, busy, system error, order timed out.
    unclear: new Set(['50001', '50004', '50013', '50026', '51149']),
    limit: new Set([TOO_MANY_REQUESTS]),
    refusedAsServerError: new Set(),
  },
  // OKX timestamps are valid for half a minute. The deadline keeps an order from arriving after a lookup has not found
  // it.
  prepare: (api) => {
    const sign = api.sign.bind(api)
    api.sign = (path, kind, method, params, headers, body) => {
      const signed = sign(path, kind, method, params, headers, body)
      if (method !== 'POST' || path !== 'trade/order') return signed
      const expTime = String(api.nonce() + SUPPORTED_VENUES.okx.acceptanceWindowMs)
      return { ...signed, headers: { ...signed.headers, expTime } }
    }
  },
  time: (api) => api.fetchTime(),
  isHedged: async (api) => textMemberOf(await accountConfig(api), 'posMode') === 'long_short_mode',
  rights: async (api) => {
    const permissions = textMemberOf(await accountConfig(api), 'perm')?.split(',')
    if (permissions === undefined) return null
    return { mayTrade: permissions.includes('trade'), mayWithdraw: permissions.includes('withdraw') }
  },
  equityIn: dollarTotal,
  balanceIn: (balance) => {
    const [account] = listIn(memberOf(memberOf(balance, 'info'), 'data'))
    const coins = listIn(memberOf(account, 'details'))
    const [equity, unrealized] = [dollarsIn(coins, 'ccy', 'eq'), dollarsIn(coins, 'ccy', 'upl')]
    // The cash balance may leave out the margin of isolated positions.
    return equity === null || unrealized === null ? null : minus(equity, unrealized)
  },
  margin: async (api, { marketId }, { mode }) => {
    const listed = await call(api, 'privateGetAccountLeverageInfo', { instId: marketId, mgnMode: mode })
    const [found] = wholeList(memberOf(listed, 'data'))
    const leverage = Number(textMemberOf(found, 'lever'))
    return { mode: textMemberOf(found, 'mgnMode') ?? '', leverage: leverage > 0 ? leverage : null }
  },
  setMargin: (api, { marketId }, { mode, leverage }) =>
    call(api, 'privatePostAccountSetLeverage', {
      instId: marketId,
      lever: String(leverage),
      mgnMode: mode,
    }),
  createOrder: (api, contract, order) => createOrder(api, contract, order, { marginMode: order.marginMode }),
  findOrder: (api, { market }, clientOrderId) => api.fetchOrder('', market, { clientOrderId }),
  cancelOrder: (api, { market }, clientOrderId) => api.cancelOrder('', market, { clientOrderId }),
  // Fills of the last three days. They appear without the delay of the longer history that the library reads.
  tradesOf: async (api, { market, marketId: instId }, ordId) => {
    const found: unknown[] = []
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const after = textMemberOf(found.at(-1), 'billId')
      const listed = await call(api, 'privateGetTradeFills', {
        instType: 'SWAP',
        instId,
        ordId,
        limit: TRADES_MAX,
        // Requests the fills before this one.
        ...(after === null ? {} : { after }),
      })
      const fills = wholeList(memberOf(listed, 'data'))
      found.push(...fills)
      if (fills.length < TRADES_MAX) break
    }
    return api.parseTrades(found, api.market(market))
  },
  liquidations: async (api, sinceMs) => {
    const found = []
    for (const category of ['full_liquidation', 'partial_liquidation']) {
      const listed = await call(api, 'privateGetTradeOrdersHistory', {
        instType: 'SWAP',
        category,
        begin: sinceMs,
      })
      found.push(...wholeList(memberOf(listed, 'data')))
    }
    return found.map((entry) => ({
      venueOrderId: textMemberOf(entry, 'ordId') ?? '',
      market: api.safeSymbol(textMemberOf(entry, 'instId') ?? '', undefined, '-'),
      side: sideIn(memberOf(entry, 'side')) ?? 'sell',
      amount: memberOf(entry, 'accFillSz'),
    }))
  },
  stops: {
    place: (api, { marketId }, { clientOrderId, side, amount, triggerPrice, marginMode }) =>
      call(api, 'privatePostTradeOrderAlgo', {
        instId: marketId,
        tdMode: marginMode,
        side,
        ordType: 'conditional',
        sz: amount,
        slTriggerPx: triggerPrice,
        slTriggerPxType: 'mark',
        // -1 means a market order.
        slOrdPx: '-1',
        reduceOnly: true,
        algoClOrdId: clientOrderId,
      }),
    find: async (api, { market }, clientOrderId) => {
      const listed = await call(api, 'privateGetTradeOrderAlgo', { algoClOrdId: clientOrderId })
      const [entry] = wholeList(memberOf(listed, 'data'))
      if (entry === undefined) return null
      const found = stopIn(entry)
      if (found === null) throw new Error('the exchange returned no algo order')
      const [listedId] = listIn(memberOf(entry, 'ordIdList'))
      const sentOrderId = typeof listedId === 'string' ? listedId : textMemberOf(entry, 'ordId')
      return { ...found, order: sentOrderId === null ? null : await api.fetchOrder(sentOrderId, market, {}) }
    },
    cancel: (api, { marketId }, { venueOrderId }) =>
      call(api, 'privatePostTradeCancelAlgos', [{ instId: marketId, algoId: venueOrderId }]),
    open: async (api) => {
      const listed = await call(api, 'privateGetTradeOrdersAlgoPending', {
        ordType: 'conditional',
        instType: 'SWAP',
        limit: TRADES_MAX,
      })
      return wholeList(memberOf(listed, 'data')).map(stopIn)
    },
  },
}

/** The venue's page size. */
const TRADES_MAX = 100
const PAGES_MAX = 50

const accountConfig = async (api: TradingApi): Promise<unknown> =>
  wholeList(memberOf(await call(api, 'privateGetAccountConfig'), 'data'))[0]

const stopIn = stopReader(
  {
    clientOrderId: 'algoClOrdId',
    venueOrderId: 'algoId',
    marketId: 'instId',
    status: 'state',
    amount: 'sz',
    triggerPrice: 'slTriggerPx',
  },
  {
    live: 'resting',
    pause: 'resting',
    partially_effective: 'triggered',
    effective: 'triggered',
    canceled: 'canceled',
    order_failed: 'rejected',
    partially_failed: 'triggered',
  },
)
