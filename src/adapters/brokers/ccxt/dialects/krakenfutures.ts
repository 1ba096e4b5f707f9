import { plus, type Usd } from '../../../../core/shared/money.ts'
import { SUPPORTED_VENUES } from '../../../../core/shared/venues.ts'
import { memberOf, textMemberOf, type VenueError } from '../../../ccxt.ts'
import { quantityOf, decimalText, usdOf } from '../decimals.ts'
import {
  call,
  groupedBy,
  listIn,
  sideIn,
  sumOfDollars,
  wholeList,
  type Dialect,
  type FoundStop,
  type ListedStop,
} from './dialect.ts'
import type { TradingApi } from '../api.ts'

/**
 * Kraken Futures, multi-collateral contracts. Requests carry no time; orders carry the time by which they must be
 * processed. The status of an order is available while it is open and for five more seconds. Afterwards the history of
 * order events has it. A refused order is reported as a success, with the reason as its status.
 */
export const krakenfutures: Dialect = {
  options: {},
  // The library sends a GET request; the venue documents POST.
  api: { private: { post: { 'orders/status': { cost: 1 } } } },
  clientOrderId: /^[A-Za-z0-9_-]{1,100}$/,
  dollars: ['USD'],
  errorIn: (body) => {
    const error = statedError(body)
    return error?.code === 'apiLimitExceeded' ? { ...error, pauseMs: 10_000 } : error
  },
  codes: {
    duplicate: new Set(['clientOrderIdAlreadyExist']),
    // The venue returns a history without the order instead of a code: see findOrder.
    noSuchOrder: new Set(),
    nothingToCancel: new Set(['notFound', 'filled']),
    notTraded: new Set(['marketSuspended', 'marketInactive', 'marketUnavailable', 'contractNotFound']),
    // The order arrived after its deadline: nothing was done.
    clock: new Set(['wouldProcessAfterSpecifiedTime']),
    unclear: new Set(['Server Error', 'unknownError', 'Unavailable', 'unavailable']),
    limit: new Set(['apiLimitExceeded']),
    // The venue answers 500 to an order without enough margin.
    refusedAsServerError: new Set(['INSUFFICIENT_MARGIN']),
  },
  time: async (api) => {
    const response = await call(api, 'publicGetTickersSymbol', { symbol: 'PF_XBTUSD' })
    return Date.parse(textMemberOf(response, 'serverTime') ?? '')
  },
  // There is always one position per market.
  isHedged: () => Promise.resolve(false),
  rights: () => Promise.resolve(null),
  equityIn: (balance) => {
    const held = heldIn(balance)
    const unrealized = usdOf(textMemberOf(flexIn(balance), 'totalUnrealized') ?? '0', 'down')
    return held === null || unrealized === null ? null : plus(held, unrealized)
  },
  balanceIn: (balance) => heldIn(balance),
  // A market without a preference of its own uses cross margin.
  margin: async (api, { marketId }) => {
    const listed = await call(api, 'privateGetLeveragepreferences')
    const found = wholeList(memberOf(listed, 'leveragePreferences')).find(
      (entry) => textMemberOf(entry, 'symbol') === marketId,
    )
    if (found === undefined) return { mode: 'cross', leverage: null }
    return { mode: 'isolated', leverage: Number(textMemberOf(found, 'maxLeverage')) }
  },
  setMargin: (api, { marketId }, { leverage }) =>
    call(api, 'privatePutLeveragepreferences', { symbol: marketId, maxLeverage: leverage }),
  createOrder: async (api, { marketId }, { order, amount, price }) => {
    const response = await call(api, 'privatePostSendorder', {
      // The library knows immediate-or-cancel in lower case only, and sends an order that rests otherwise.
      orderType: order.kind === 'market' ? 'mkt' : 'ioc',
      symbol: marketId,
      side: order.side,
      size: amount,
      ...(price === undefined ? {} : { limitPrice: price }),
      cliOrdId: order.clientOrderId,
      ...(order.reduceOnly ? { reduceOnly: true } : {}),
      processBefore: deadlineOf(api),
    })
    const status = memberOf(response, 'sendStatus')
    const id = textMemberOf(status, 'order_id')
    // Not a refusal: the order ended without a fill, as any immediate order may.
    if (textMemberOf(status, 'status') === WOULD_NOT_EXECUTE)
      return {
        id: id ?? order.clientOrderId,
        clientOrderId: order.clientOrderId,
        status: 'canceled',
        amount,
        filled: '0',
      }
    demand(response)
    return { id, clientOrderId: order.clientOrderId }
  },
  findOrder: async (api, { marketId }, clientOrderId) =>
    (await orderNow(api, clientOrderId)) ?? (await orderInHistory(api, marketId, clientOrderId)),
  cancelOrder: (api, _, clientOrderId) => cancel(api, clientOrderId),
  tradesOf: async (api, _, orderId) => {
    const found: unknown[] = []
    let before: string | null = null
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const fills = await fillsBefore(api, before)
      found.push(...fills.filter((fill) => textMemberOf(fill, 'order_id') === orderId))
      const oldest = fills.at(-1)
      const isPastIt = found.length > 0 && textMemberOf(oldest, 'order_id') !== orderId
      before = textMemberOf(oldest, 'fillTime')
      if (fills.length < FILLS_PER_PAGE || isPastIt || before === null) break
    }
    return found.map((fill) => ({
      id: textMemberOf(fill, 'fill_id'),
      order: orderId,
      price: memberOf(fill, 'price'),
      amount: memberOf(fill, 'size'),
      timestamp: Date.parse(textMemberOf(fill, 'fillTime') ?? ''),
      // Fills come without their fee. The taker fee is assumed.
      fee: undefined,
    }))
  },
  liquidations: async (api, sinceMs) => {
    const fills = (await fillsBefore(api, null)).filter(
      (fill) =>
        textMemberOf(fill, 'fillType') === 'liquidation' &&
        Date.parse(textMemberOf(fill, 'fillTime') ?? '') >= sinceMs,
    )
    return groupedBy(fills, 'order_id').map(([venueOrderId, parts]) => ({
      venueOrderId,
      market: api.safeSymbol((textMemberOf(parts[0], 'symbol') ?? '').toUpperCase()),
      side: sideIn(memberOf(parts[0], 'side')) ?? 'sell',
      amount: sumOfSizes(parts),
    }))
  },
  stops: {
    place: async (api, { marketId }, { clientOrderId, side, amount, triggerPrice }) => {
      const response = await call(api, 'privatePostSendorder', {
        orderType: 'stp',
        symbol: marketId,
        side,
        size: amount,
        stopPrice: triggerPrice,
        triggerSignal: 'mark',
        cliOrdId: clientOrderId,
        reduceOnly: true,
        processBefore: deadlineOf(api),
      })
      demand(response)
    },
    find: findStop,
    cancel: (api, _, { clientOrderId }) => cancel(api, clientOrderId),
    open: async (api) =>
      wholeList(memberOf(await call(api, 'privateGetOpenorders'), 'openOrders'))
        .filter((entry) => textMemberOf(entry, 'orderType') === 'stop')
        .map((entry): ListedStop | null => {
          const [venueOrderId, marketId] = [textMemberOf(entry, 'order_id'), textMemberOf(entry, 'symbol')]
          const side = sideIn(memberOf(entry, 'side'))
          if (venueOrderId === null || marketId === null || side === null) return null
          return {
            clientOrderId: textMemberOf(entry, 'cliOrdId') ?? '',
            venueOrderId,
            marketId: marketId.toUpperCase(),
            side,
            status: 'resting',
            amount: memberOf(entry, 'unfilledSize'),
            triggerPrice: memberOf(entry, 'stopPrice'),
          }
        }),
  },
}

const flexIn = (balance: unknown): unknown =>
  memberOf(memberOf(memberOf(balance, 'info'), 'accounts'), 'flex')

const heldIn = (balance: unknown): Usd | null => {
  const currencies = memberOf(flexIn(balance), 'currencies')
  return sumOfDollars((dollar) => memberOf(memberOf(currencies, dollar), 'quantity'))
}

const WOULD_NOT_EXECUTE = 'iocWouldNotExecute'
const FILLS_PER_PAGE = 100
const PAGES_MAX = 5
const EVENTS_MAX = 1000

const deadlineOf = (api: TradingApi): string => {
  const offsetMs = Number(api.options['timeDifference'] ?? 0)
  return new Date(
    api.milliseconds() - offsetMs + SUPPORTED_VENUES.krakenfutures.acceptanceWindowMs,
  ).toISOString()
}

const statedError = (body: unknown): VenueError | null => {
  const [first] = listIn(memberOf(body, 'errors'))
  const stated = textMemberOf(body, 'error') ?? textMemberOf(first, 'message')
  if (stated !== null) return { code: stated, message: stated }
  if (textMemberOf(body, 'result') === 'error')
    return { code: 'unknownError', message: 'no reason is stated' }
  for (const [member, success] of OUTCOMES) {
    const status = textMemberOf(memberOf(body, member), 'status')
    if (status !== null && status !== success) return { code: status, message: status }
  }
  return null
}

const OUTCOMES = [
  ['sendStatus', 'placed'],
  ['cancelStatus', 'cancelled'],
] as const

/** The library treats some refusals as successes. */
const demand = (response: unknown): void => {
  const error = statedError(response)
  if (error !== null) throw new Error(error.message)
}

const cancel = async (api: TradingApi, clientOrderId: string): Promise<void> =>
  demand(await call(api, 'privatePostCancelorder', { cliOrdId: clientOrderId }))

const fillsBefore = async (api: TradingApi, lastFillTime: string | null): Promise<readonly unknown[]> =>
  wholeList(
    memberOf(await call(api, 'privateGetFills', lastFillTime === null ? {} : { lastFillTime }), 'fills'),
  )

const sumOfSizes = (parts: readonly unknown[]): string =>
  decimalText(parts.reduce<bigint>((sum, part) => sum + (quantityOf(memberOf(part, 'size')) ?? 0n), 0n))

/** Quantity of the whole order: the remaining part plus the filled part. */
const wholeOf = (order: unknown): string | null => {
  const [left, filled] = [quantityOf(memberOf(order, 'quantity')), quantityOf(memberOf(order, 'filled'))]
  return left === null || filled === null ? null : decimalText(left + filled)
}

const statusNow = async (api: TradingApi, clientOrderId: string): Promise<unknown> => {
  const response = await call(api, 'privatePostOrdersStatus', { cliOrdIds: clientOrderId })
  return wholeList(memberOf(response, 'orders')).find(
    (entry) => textMemberOf(memberOf(entry, 'order'), 'cliOrdId') === clientOrderId,
  )
}

const orderNow = async (api: TradingApi, clientOrderId: string): Promise<unknown> => {
  const entry = await statusNow(api, clientOrderId)
  return entry === undefined ? null : orderIn(entry)
}

const orderIn = (entry: unknown): unknown => {
  const order = memberOf(entry, 'order')
  const status = ORDER_STATUS[textMemberOf(entry, 'status') ?? '']
  // The venue does not document whether `quantity` includes the filled part. A whole order has nothing left either way.
  const amount = status === 'closed' ? memberOf(order, 'filled') : wholeOf(order)
  return {
    id: textMemberOf(order, 'orderId'),
    clientOrderId: textMemberOf(order, 'cliOrdId'),
    status,
    amount,
    filled: memberOf(order, 'filled'),
  }
}

const ORDER_STATUS: Readonly<Record<string, string>> = {
  ENTERED_BOOK: 'open',
  FULLY_EXECUTED: 'closed',
  CANCELLED: 'canceled',
  REJECTED: 'rejected',
}

/** Order events, newest first. */
const eventsOf = async (
  api: TradingApi,
  endpoint: 'historyGetOrders' | 'historyGetTriggers',
  marketId: string,
  clientOrderId: string,
): Promise<readonly (readonly [string, unknown])[]> => {
  const response = await call(api, endpoint, { tradeable: marketId, sort: 'desc', count: EVENTS_MAX })
  return wholeList(memberOf(response, 'elements')).flatMap((element) => {
    const event = memberOf(element, 'event')
    const [kind, value] = Object.entries(typeof event === 'object' && event !== null ? event : {})[0] ?? []
    const order = memberOf(value, 'order') ?? memberOf(value, 'newOrder') ?? memberOf(value, 'orderTrigger')
    const isOurs = textMemberOf(order, 'clientId') === clientOrderId
    return kind !== undefined && isOurs ? [[kind, order] as const] : []
  })
}

const orderInHistory = async (api: TradingApi, marketId: string, clientOrderId: string): Promise<unknown> => {
  const [newest] = await eventsOf(api, 'historyGetOrders', marketId, clientOrderId)
  if (newest === undefined) return null
  const [kind, order] = newest
  return {
    id: textMemberOf(order, 'uid'),
    clientOrderId,
    status: historyStatus(kind, order),
    amount: wholeOf(order),
    filled: memberOf(order, 'filled'),
  }
}

const historyStatus = (kind: string, order: unknown): string => {
  if (kind === 'OrderRejected') return 'rejected'
  if (kind === 'OrderCancelled') return 'canceled'
  // The part of an immediate order that was not filled at once is canceled.
  return quantityOf(memberOf(order, 'quantity')) === 0n || textMemberOf(order, 'orderType') === 'IoC'
    ? 'closed'
    : 'open'
}

async function findStop(
  api: TradingApi,
  { marketId }: { readonly marketId: string },
  clientOrderId: string,
): Promise<FoundStop | null> {
  const entry = await statusNow(api, clientOrderId)
  const [stop] = await eventsOf(api, 'historyGetTriggers', marketId, clientOrderId)
  const trigger = memberOf(entry, 'order') ?? stop?.[1]
  if (trigger === undefined) return null
  const sent = entry === undefined ? await orderInHistory(api, marketId, clientOrderId) : sentOrder(entry)
  const side = sideIn(memberOf(trigger, 'side') ?? memberOf(trigger, 'direction'))
  const venueOrderId = textMemberOf(trigger, 'orderId') ?? textMemberOf(trigger, 'uid')
  if (side === null || venueOrderId === null) throw new Error('the exchange returned no stop order')
  return {
    clientOrderId,
    venueOrderId,
    marketId,
    side,
    status: sent === null ? stopStatus(textMemberOf(entry, 'status') ?? stop?.[0] ?? '') : 'triggered',
    amount: memberOf(stop?.[1] ?? trigger, 'quantity'),
    triggerPrice:
      memberOf(memberOf(trigger, 'priceTriggerOptions'), 'triggerPrice') ??
      memberOf(stop?.[1], 'triggerPrice'),
    order: sent,
  }
}

/** The order that the trigger sent has the ids of the stop. */
const sentOrder = (entry: unknown): unknown =>
  textMemberOf(memberOf(entry, 'order'), 'type') === 'ORDER' ? orderIn(entry) : null

const stopStatus = (reported: string): FoundStop['status'] => {
  const status = STOP_STATUS[reported]
  if (status === undefined) throw new Error(`the exchange reports a stop as ${reported}`)
  return status
}

const STOP_STATUS: Readonly<Record<string, FoundStop['status']>> = {
  TRIGGER_PLACED: 'resting',
  TRIGGER_ACTIVATION_FAILURE: 'rejected',
  CANCELLED: 'canceled',
  REJECTED: 'rejected',
  OrderTriggerPlaced: 'resting',
  OrderTriggerCancelled: 'canceled',
  OrderTriggerActivated: 'triggered',
  OrderTriggerUpdated: 'resting',
}
