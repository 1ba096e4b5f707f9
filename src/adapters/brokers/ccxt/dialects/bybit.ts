import { memberOf, textMemberOf } from '../../../ccxt.ts'
import {
  call,
  createOrder,
  dollarsIn,
  groupedBy,
  listIn,
  sideIn,
  stopReader,
  wholeList,
  type Dialect,
} from './dialect.ts'
import type { TradingApi } from '../api.ts'

const LIMITS: ReadonlySet<string> = new Set(['10006', '10018'])

/**
 * Bybit with a unified account. Orders are acknowledged with their ids only. A stop is an order with a trigger, and
 * keeps its ids when it is triggered.
 */
export const bybit: Dialect = {
  // The list of all markets has many pages. Accounts that are not unified are not supported.
  options: {
    fetchMarkets: { types: ['linear'] },
    defaultType: 'swap',
    enableUnifiedMargin: false,
    enableUnifiedAccount: true,
    unifiedMarginStatus: 6,
  },
  clientOrderId: /^[A-Za-z0-9_-]{1,36}$/,
  dollars: ['USDT'],
  errorIn: (body) => {
    const code = textMemberOf(body, 'retCode')
    if (code === null || code === '0') return null
    const error = { code, message: textMemberOf(body, 'retMsg') ?? '' }
    return LIMITS.has(code) ? { ...error, pauseMs: 5000 } : error
  },
  codes: {
    duplicate: new Set(['110072', '110030']),
    // Bybit returns a list without the order instead of a code: see findOrder.
    noSuchOrder: new Set(),
    nothingToCancel: new Set(['110001', '110008', '110010']),
    notTraded: new Set(['110074', '110023']),
    clock: new Set(['10002']),
    // Codes for a timeout and a system error.
    unclear: new Set(['10000', '10016', '10019', '-1']),
    limit: LIMITS,
    refusedAsServerError: new Set(),
  },
  time: (api) => api.fetchTime(),
  isHedged: async (api, market) => {
    const positions = await positionsIn(api, api.market(market).id)
    return positions.some((position) => textMemberOf(position, 'positionIdx') !== '0')
  },
  rights: async (api) => {
    const key = resultOf(await call(api, 'privateGetV5UserQueryApi'))
    const permissions = memberOf(key, 'permissions')
    return {
      mayTrade:
        textMemberOf(key, 'readOnly') !== '1' &&
        listIn(memberOf(permissions, 'ContractTrade')).includes('Order'),
      mayWithdraw: listIn(memberOf(permissions, 'Wallet')).includes('Withdraw'),
    }
  },
  // The library's total leaves out unrealized profit.
  equityIn: (balance) => dollarsIn(coinsIn(balance), 'coin', 'equity'),
  balanceIn: (balance) => dollarsIn(coinsIn(balance), 'coin', 'walletBalance'),
  margin: async (api, { marketId }) => {
    const account = resultOf(await call(api, 'privateGetV5AccountInfo'))
    const mode = textMemberOf(account, 'marginMode') ?? ''
    const [position] = await positionsIn(api, marketId)
    const leverage = Number(textMemberOf(position, 'leverage'))
    return { mode: MARGIN_MODES[mode] ?? mode, leverage: leverage > 0 ? leverage : null }
  },
  setMargin: async (api, { market }, wanted, found) => {
    if (found.mode !== wanted.mode)
      await call(api, 'privatePostV5AccountSetMarginMode', {
        setMarginMode: wanted.mode === 'isolated' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN',
      })
    if (found.leverage !== wanted.leverage) await api.setLeverage(wanted.leverage, market)
  },
  createOrder,
  findOrder: async (api, { market, marketId }, clientOrderId) => {
    const found = await entryOf(api, marketId, clientOrderId)
    return found === null ? null : api.parseOrder(found, api.market(market))
  },
  cancelOrder: (api, { marketId }, clientOrderId) => cancel(api, marketId, clientOrderId),
  tradesOf: async (api, { market, marketId }, orderId) =>
    api.parseTrades(await executionsOf(api, { symbol: marketId, orderId }), api.market(market)),
  liquidations: async (api, sinceMs) =>
    ordersOf(api, await executionsOf(api, { execType: 'BustTrade', startTime: sinceMs })),
  stops: {
    place: (api, { market }, { clientOrderId, side, amount, triggerPrice }) =>
      api.createOrder(market, 'market', side, amount, undefined, {
        clientOrderId,
        triggerPrice,
        triggerDirection: side === 'sell' ? 'descending' : 'ascending',
        triggerBy: 'MarkPrice',
        reduceOnly: true,
      }),
    find: async (api, { market, marketId }, clientOrderId) => {
      const entry = await entryOf(api, marketId, clientOrderId)
      if (entry === null) return null
      const found = stopIn(entry)
      if (found === null) throw new Error('the exchange returned no stop order')
      const isSent = found.status === 'triggered'
      return { ...found, order: isSent ? api.parseOrder(entry, api.market(market)) : null }
    },
    cancel: (api, { marketId }, { clientOrderId }) => cancel(api, marketId, clientOrderId),
    open: async (api) => {
      const query = { settleCoin: 'USDT', orderFilter: 'StopOrder', limit: 50 }
      return (await listOf(api, 'privateGetV5OrderRealtime', query)).map(stopIn)
    },
  },
}

const MARGIN_MODES: Readonly<Record<string, string>> = {
  ISOLATED_MARGIN: 'isolated',
  REGULAR_MARGIN: 'cross',
  PORTFOLIO_MARGIN: 'portfolio',
}
/** The venue's page size. */
const TRADES_MAX = 100
const PAGES_MAX = 50

const coinsIn = (balance: unknown): readonly unknown[] => {
  const [account] = listIn(memberOf(memberOf(memberOf(balance, 'info'), 'result'), 'list'))
  return listIn(memberOf(account, 'coin'))
}

const resultOf = (response: unknown): unknown => memberOf(response, 'result')

const listOf = async (api: TradingApi, endpoint: string, query: object): Promise<readonly unknown[]> =>
  wholeList(memberOf(resultOf(await call(api, endpoint, { category: 'linear', ...query })), 'list'))

const positionsIn = (api: TradingApi, marketId: string): Promise<readonly unknown[]> =>
  listOf(api, 'privateGetV5PositionList', { symbol: marketId })

const cancel = (api: TradingApi, marketId: string, clientOrderId: string): Promise<unknown> =>
  call(api, 'privatePostV5OrderCancel', {
    category: 'linear',
    symbol: marketId,
    orderLinkId: clientOrderId,
  })

/** Looks up open and recent orders first, then the history with the older ones. */
const entryOf = async (api: TradingApi, marketId: string, clientOrderId: string): Promise<unknown> => {
  const key = { symbol: marketId, orderLinkId: clientOrderId }
  for (const endpoint of ['privateGetV5OrderRealtime', 'privateGetV5OrderHistory']) {
    const [found] = await listOf(api, endpoint, key)
    if (found !== undefined) return found
  }
  return null
}

/** Reads all executions: the trades of an order must add up, however many there are. */
const executionsOf = async (api: TradingApi, query: object): Promise<readonly unknown[]> => {
  const found: unknown[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const result = resultOf(
      await call(api, 'privateGetV5ExecutionList', {
        category: 'linear',
        ...query,
        limit: TRADES_MAX,
        ...(cursor === null ? {} : { cursor }),
      }),
    )
    const list = wholeList(memberOf(result, 'list'))
    found.push(...list)
    cursor = textMemberOf(result, 'nextPageCursor')
    if (cursor === null || list.length < TRADES_MAX) break
  }
  return found
}

/** Executions by their order. */
const ordersOf = (api: TradingApi, executions: readonly unknown[]) =>
  groupedBy(executions, 'orderId').map(([venueOrderId, parts]) => ({
    venueOrderId,
    market: api.safeSymbol(textMemberOf(parts[0], 'symbol') ?? '', undefined, undefined, 'contract'),
    side: sideIn(memberOf(parts[0], 'side')) ?? 'sell',
    amount: memberOf(parts[0], 'orderQty'),
  }))

const stopIn = stopReader(
  {
    clientOrderId: 'orderLinkId',
    venueOrderId: 'orderId',
    marketId: 'symbol',
    status: 'orderStatus',
    amount: 'qty',
    triggerPrice: 'triggerPrice',
  },
  {
    Untriggered: 'resting',
    Triggered: 'triggered',
    New: 'triggered',
    PartiallyFilled: 'triggered',
    Filled: 'triggered',
    PartiallyFilledCanceled: 'triggered',
    // Canceled after the trigger. A stop that is canceled before it is Deactivated.
    Cancelled: 'triggered',
    Deactivated: 'canceled',
    Rejected: 'rejected',
  },
)
