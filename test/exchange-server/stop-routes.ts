import type { VenueStop } from './account.ts'
import { textOf } from './decimals.ts'
import { decimalOf, oneOf, perpetualOf, type SignedRoute } from './order-routes.ts'
import { ExchangeRefusal } from './signed.ts'
import { cancelStop, placeStop, stopOf } from './stops.ts'

const FUTURES = 'fapi.binance.com/fapi/v1'

/** Conditional orders, which Binance keeps apart from all others. */
export const STOP_ROUTES: readonly SignedRoute[] = [
  {
    method: 'POST',
    path: `${FUTURES}/algoOrder`,
    answer: (world, query) => {
      oneOf(query, 'algoType', ['CONDITIONAL'])
      oneOf(query, 'type', ['STOP_MARKET'])
      oneOf(query, 'reduceOnly', ['true'])
      return publishStop(
        placeStop(world, {
          clientOrderId: query.get('clientAlgoId') ?? '',
          base: perpetualOf(world, query),
          side: oneOf(query, 'side', ['BUY', 'SELL']),
          quantity: decimalOf(query, 'quantity'),
          triggerPrice: decimalOf(query, 'triggerPrice'),
        }),
      )
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/algoOrder`,
    answer: (world, query) => {
      const stop = stopOf(world, query.get('clientAlgoId'))
      if (stop === null) throw new ExchangeRefusal(-2013, 'Order does not exist.')
      return publishStop(stop)
    },
  },
  {
    method: 'DELETE',
    path: `${FUTURES}/algoOrder`,
    answer: (world, query) => {
      const { stopId, clientOrderId } = cancelStop(world, stopOf(world, query.get('clientAlgoId')))
      return { algoId: stopId, clientAlgoId: clientOrderId, code: '200', msg: 'success' }
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/openAlgoOrders`,
    answer: ({ account }) => account.stops.filter(({ status }) => status === 'resting').map(publishStop),
  },
]

const publishStop = (stop: VenueStop) => ({
  algoId: stop.stopId,
  clientAlgoId: stop.clientOrderId,
  algoType: 'CONDITIONAL',
  orderType: 'STOP_MARKET',
  symbol: `${stop.base}USDT`,
  side: stop.side,
  positionSide: 'BOTH',
  timeInForce: 'GTC',
  quantity: textOf(stop.quantity),
  algoStatus: STATUS[stop.status],
  actualOrderId: stop.order === null ? '' : String(stop.order.orderId),
  actualPrice: '0.00000',
  triggerPrice: textOf(stop.triggerPrice),
  price: '0.00000',
  icebergQuantity: null,
  tpTriggerPrice: '0.000',
  tpPrice: '0.000',
  slTriggerPrice: '0.000',
  slPrice: '0.000',
  tpOrderType: '',
  selfTradePreventionMode: 'EXPIRE_MAKER',
  workingType: 'MARK_PRICE',
  priceMatch: 'NONE',
  closePosition: false,
  priceProtect: false,
  reduceOnly: true,
  createTime: stop.atMs,
  updateTime: stop.updatedMs,
  triggerTime: 0,
  goodTillDate: 0,
})

const STATUS = {
  resting: 'NEW',
  triggered: 'FINISHED',
  canceled: 'CANCELED',
  rejected: 'REJECTED',
} as const
