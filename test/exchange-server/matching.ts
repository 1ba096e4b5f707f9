import { isOpen, traded, type Account, type Side, type VenueOrder, type VenueTrade } from './account.ts'
import { checkFilters, priceStepOf, quantityStepOf } from './contracts.ts'
import { product } from './decimals.ts'
import type { OrderTwist } from './faults.ts'
import { ExchangeRefusal } from './signed.ts'
import { marketPriceOf, exchangeNow, type ExchangeState } from './exchange-state.ts'

export interface OrderRequest {
  readonly clientOrderId: string
  readonly base: string
  readonly side: Side
  readonly type: 'LIMIT' | 'MARKET'
  readonly timeInForce: string
  readonly quantity: bigint
  readonly price: bigint | null
  readonly isReduceOnly: boolean
  /** Id of the stop that sends this order, at venues that keep it. */
  readonly orderId?: number
}

/** Checks, accepts and matches an order. Throws if the venue refuses it. */
export const placeOrder = (
  world: ExchangeState,
  request: OrderRequest,
  twist: OrderTwist | null,
): VenueOrder => {
  const { account } = world
  try {
    check(world, request)
  } catch (error) {
    account.attempts.push({ clientOrderId: request.clientOrderId, outcome: 'refused' })
    throw error
  }
  const order = newOrder(world, request)
  if (twist?.kind === 'lost') {
    account.attempts.push({ clientOrderId: request.clientOrderId, outcome: 'lost' })
    return order
  }
  order.hiddenLookups = twist?.kind === 'hidden' ? twist.lookups : 0
  account.attempts.push({ clientOrderId: request.clientOrderId, outcome: 'accepted' })
  account.orders.push(order)
  account.byClientOrderId.set(order.clientOrderId, order)
  account.byOrderId.set(order.orderId, order)
  match(world, order, twist)
  return order
}

export const cancelOrder = (world: ExchangeState, order: VenueOrder): void => {
  order.status = 'CANCELED'
  order.updatedMs = exchangeNow(world)
}

/** Fills the rest of a resting order. False if it no longer rests. */
export const fillOpenOrder = (world: ExchangeState, clientOrderId: string): boolean => {
  const order = world.account.byClientOrderId.get(clientOrderId)
  if (order === undefined) throw new Error(`no order ${clientOrderId}`)
  if (!isOpen(order)) return false
  fill(world, order, order.quantity - order.executed, 0)
  order.status = 'FILLED'
  return true
}

/** Liquidates a position at the current price. */
export const liquidate = (world: ExchangeState, base: string): void => {
  const { account } = world
  const held = account.holdings.get(base)?.quantity ?? 0n
  if (held === 0n) throw new Error(`no position in ${base}`)
  const order = newOrder(world, {
    clientOrderId: `autoclose-${FIRST_FORCED_ID + account.forced.length}`,
    base,
    side: held > 0n ? 'SELL' : 'BUY',
    type: 'MARKET',
    timeInForce: 'IOC',
    quantity: held > 0n ? held : -held,
    price: null,
    isReduceOnly: true,
  })
  const forced = { ...order, orderId: FIRST_FORCED_ID + account.forced.length }
  account.forced.push(forced)
  account.byOrderId.set(forced.orderId, forced)
  fill(world, forced, forced.quantity, 0)
  forced.status = 'FILLED'
}

const check = (world: ExchangeState, request: OrderRequest): void => {
  const { account } = world
  const { base, quantity, price, isReduceOnly, clientOrderId } = request
  if (!/^[.A-Z:/a-z0-9_-]{1,36}$/.test(clientOrderId))
    throw new ExchangeRefusal(-4015, 'Client order id length should be less than 36 chars')
  if (account.isHedged)
    throw new ExchangeRefusal(-4061, "Order's position side does not match user's setting.")
  const marketPrice = marketPriceOf(world, base)
  checkFilters(world.specs, base, { quantity, price, marketPrice, isReduceOnly })
  // The id is in use only while its order is open, as at the real venue.
  const known = account.byClientOrderId.get(clientOrderId)
  if (known !== undefined && isOpen(known)) throw new ExchangeRefusal(-4116, 'ClientOrderId is duplicated.')
  if (isReduceOnly && closableOf(account, request) === 0n)
    throw new ExchangeRefusal(-2022, 'ReduceOnly Order is rejected.')
  if (!isReduceOnly) checkMargin(world, request, marketPrice)
}

const checkMargin = (
  world: ExchangeState,
  { base, quantity, price }: OrderRequest,
  marketPrice: bigint,
): void => {
  const { account } = world
  let used = product(quantity, price ?? marketPrice) / leverageOf(account, base)
  for (const [held, { cost }] of account.holdings)
    used += (cost < 0n ? -cost : cost) / 100_000_000n / leverageOf(account, held)
  if (used > account.wallet) throw new ExchangeRefusal(-2019, 'Margin is insufficient.')
}

export const marginModeOf = ({ marginModes, marginMode }: Account, base: string): 'isolated' | 'cross' =>
  marginModes.get(base) ?? marginMode

/** Sets the margin mode. As at the real venues, it cannot change while there is a position or an open order. */
export const setMarginMode = (
  { account, areMarginsStuck }: ExchangeState,
  base: string,
  mode: 'isolated' | 'cross',
): void => {
  if (areMarginsStuck) return
  if (marginModeOf(account, base) === mode) throw new ExchangeRefusal(-4046, 'No need to change margin type.')
  if ((account.holdings.get(base)?.quantity ?? 0n) !== 0n)
    throw new ExchangeRefusal(-4048, 'Margin type cannot be changed if there exists position.')
  account.marginModes.set(base, mode)
}

export const setLeverage = (world: ExchangeState, base: string, leverage: number): void => {
  if (!Number.isInteger(leverage) || leverage < 1 || leverage > 125)
    throw new ExchangeRefusal(-4028, `Leverage ${leverage} is not valid.`)
  if (!world.areMarginsStuck) world.account.leverages.set(base, leverage)
}

export const leverageOf = ({ leverages }: Account, base: string): bigint => BigInt(leverages.get(base) ?? 20)

const closableOf = ({ holdings }: Account, { base, side }: OrderRequest): bigint => {
  const held = holdings.get(base)?.quantity ?? 0n
  if (side === 'SELL') return held > 0n ? held : 0n
  return held < 0n ? -held : 0n
}

const newOrder = (world: ExchangeState, request: OrderRequest): VenueOrder => ({
  ...request,
  orderId: request.orderId ?? FIRST_ORDER_ID + world.account.attempts.length,
  atMs: exchangeNow(world),
  status: 'NEW',
  executed: 0n,
  cost: 0n,
  updatedMs: exchangeNow(world),
  hiddenLookups: 0,
  trades: [],
})

const match = (world: ExchangeState, order: VenueOrder, twist: OrderTwist | null): void => {
  const { account } = world
  const marketPrice = marketPriceOf(world, order.base)
  const isCrossing =
    order.price === null || (order.side === 'BUY' ? marketPrice <= order.price : marketPrice >= order.price)
  const isPatient = order.type === 'LIMIT' && order.timeInForce !== 'IOC'
  if (!isCrossing) {
    if (!isPatient) order.status = 'EXPIRED'
    return
  }
  const step = quantityStepOf(world.specs, order.base)
  const share = twist?.kind === 'partial' ? twist.share : 1
  const request = (order.quantity * BigInt(Math.round(share * 1000))) / 1000n
  const allowed = order.isReduceOnly ? closableOf(account, order) : request
  const wanted = request < allowed ? request : allowed
  fill(world, order, wanted - (wanted % step), twist?.kind === 'late_trades' ? twist.queries : 0)
  if (order.executed === order.quantity) order.status = 'FILLED'
  else if (twist?.kind === 'partial' && twist.rest === 'open')
    order.status = order.executed > 0n ? 'PARTIALLY_FILLED' : 'NEW'
  else order.status = 'EXPIRED'
}

/** Fills in one to three trades, each a step worse, as far as the limit allows. */
const fill = (world: ExchangeState, order: VenueOrder, quantity: bigint, hiddenQueries: number): void => {
  const step = quantityStepOf(world.specs, order.base)
  const pieces = BigInt(1 + (order.orderId % 3))
  const piece = quantity / pieces - ((quantity / pieces) % step)
  let left = quantity
  for (let index = 0n; left > 0n; index += 1n) {
    const isLast = index === pieces - 1n || piece === 0n
    const part = isLast ? left : piece
    trade(world, order, priceOfPiece(world, order, index), part, hiddenQueries)
    left -= part
  }
}

const priceOfPiece = (world: ExchangeState, { base, side, price }: VenueOrder, index: bigint): bigint => {
  const worse =
    marketPriceOf(world, base) + (side === 'BUY' ? 1n : -1n) * index * priceStepOf(world.specs, base)
  if (price === null) return worse
  if (side === 'BUY') return worse < price ? worse : price
  return worse > price ? worse : price
}

const trade = (
  world: ExchangeState,
  order: VenueOrder,
  price: bigint,
  quantity: bigint,
  hiddenQueries: number,
): void => {
  const { account } = world
  const { holding, realized } = traded(account.holdings.get(order.base), order.side, price, quantity)
  account.holdings.set(order.base, holding)
  const feeUsd = (product(price, quantity) * FEE_BASIS_POINTS) / 10_000n
  const commission =
    account.feeAsset === 'USDT' ? feeUsd : (feeUsd * 100_000_000n) / marketPriceOf(world, account.feeAsset)
  account.wallet += realized - (account.feeAsset === 'USDT' ? feeUsd : 0n)
  order.executed += quantity
  order.cost += price * quantity
  order.updatedMs = exchangeNow(world)
  const reported: VenueTrade = {
    tradeId: FIRST_TRADE_ID + account.trades.length,
    orderId: order.orderId,
    clientOrderId: order.clientOrderId,
    base: order.base,
    side: order.side,
    price,
    quantity,
    commission,
    commissionAsset: account.feeAsset,
    realized,
    atMs: exchangeNow(world),
    hiddenQueries,
  }
  account.trades.push(reported)
  order.trades.push(reported)
}

/** Taker fee: five hundredths of a percent. */
const FEE_BASIS_POINTS = 5n
const FIRST_ORDER_ID = 8_389_765_000_000
const FIRST_FORCED_ID = 9_000_000_000_000
const FIRST_TRADE_ID = 5_120_300_000
