import {
  minus,
  NO_USD,
  notionalOf,
  sumOf as totalOf,
  type Quantity,
  type Usd,
} from '../../../core/shared/money.ts'
import type { BrokerFill, OrderReport } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { DOLLARS, memberOf, textMemberOf } from '../../ccxt.ts'
import { coinsOf, type Contract } from './contracts.ts'
import { priceOf, scaledOf, usdOf } from './decimals.ts'
import type { Exchange } from './exchange.ts'

/** An order as the exchange reports it, without its trades. */
export interface ReportedOrder {
  readonly clientOrderId: string
  readonly venueOrderId: string
  readonly status: OrderReport['status']
  readonly filled: Quantity
}

/** Null if the response cannot be read as this order. */
export const reportedOrderOf = (
  response: unknown,
  clientOrderId: string,
  contract: Pick<Contract, 'unitSize'>,
): ReportedOrder | null =>
  textMemberOf(response, 'clientOrderId') === clientOrderId
    ? orderWith(response, clientOrderId, contract)
    : null

/** Like `reportedOrderOf`, for an order that the venue sent for us under an id of its own. */
export const orderWith = (
  response: unknown,
  clientOrderId: string,
  contract: Pick<Contract, 'unitSize'>,
): ReportedOrder | null => {
  const venueOrderId = textMemberOf(response, 'id')
  const amount = coinsOf(textMemberOf(response, 'amount'), contract)
  const filled = coinsOf(textMemberOf(response, 'filled') ?? '0', contract)
  if (venueOrderId === null || amount === null || filled === null) return null
  const status = statusOf(textMemberOf(response, 'status'), filled, amount)
  return status === null ? null : { clientOrderId, venueOrderId, status, filled }
}

const statusOf = (reported: string | null, filled: bigint, amount: bigint): OrderReport['status'] | null => {
  switch (reported) {
    case 'open':
    case 'canceling':
      return filled > 0n ? 'partial' : 'open'
    case 'closed':
    case 'canceled':
    case 'expired':
      return filled >= amount ? 'filled' : 'canceled'
    case 'rejected':
      return 'rejected'
    default:
      return null
  }
}

export interface Reports {
  /**
   * An order with its trades, each once. Exchanges list an order before its trades, and trades before the order counts
   * them: waits a moment until they add up, then returns what is known.
   */
  withTrades(order: ReportedOrder, contract: Contract): Promise<OrderReport>
  /** The trades of an order that are known now, as fills. */
  fillsOf(venueOrderId: string, contract: Contract): Promise<readonly BrokerFill[]>
}

export const createReports = (exchange: Exchange, timer: Timer, signal: AbortSignal): Reports => {
  const { api, dialect, request } = exchange
  const feeOf = createFees(exchange, timer)

  const tradesOf = async (orderId: string, contract: Contract): Promise<readonly VenueTrade[]> => {
    const reply = await request(() => dialect.tradesOf(api, contract, orderId))
    return reply.status === 'done' ? tradesIn(reply.value, orderId, { contract, nowMs: timer.now() }) : []
  }

  const withFees = async (
    trades: readonly VenueTrade[],
    contract: Contract,
  ): Promise<readonly BrokerFill[]> => {
    const fills: BrokerFill[] = []
    for (const trade of trades) {
      const { fee, ...fill } = trade
      const feeUsd = await feeOf(trade, contract)
      // A fill is reported once its fee is known.
      if (feeUsd !== null) fills.push({ ...fill, feeUsd })
    }
    return fills
  }

  const refetch = async (order: ReportedOrder, contract: Contract): Promise<ReportedOrder> => {
    const { clientOrderId } = order
    const reply = await request(() => dialect.findOrder(api, contract, clientOrderId))
    return (reply.status === 'done' ? reportedOrderOf(reply.value, clientOrderId, contract) : null) ?? order
  }

  return {
    withTrades: async (reported, contract) => {
      let order = reported
      let trades: readonly VenueTrade[] = []
      for (const waitMs of WAITS_MS) {
        if (order.filled === 0n) return reportOf(order, [])
        await timer.wait(waitMs, signal)
        trades = await tradesOf(order.venueOrderId, contract)
        if (sumOf(trades) === order.filled || signal.aborted) break
        // The trades exceed the order's count: the order was filled further meanwhile.
        if (sumOf(trades) > order.filled) order = await refetch(order, contract)
      }
      return reportOf(order, await withFees(trades, contract))
    },
    fillsOf: async (venueOrderId, contract) => withFees(await tradesOf(venueOrderId, contract), contract),
  }
}

interface VenueTrade extends Omit<BrokerFill, 'feeUsd'> {
  /** The fee as the library returns it: `{ cost, currency }`. */
  readonly fee: unknown
}

/** Trades are usually listed within a fraction of a second. Later ones are looked up later. */
const WAITS_MS: readonly number[] = [0, 100, 300]

const reportOf = (order: ReportedOrder, fills: readonly BrokerFill[]): OrderReport => {
  const { clientOrderId, venueOrderId, status, filled } = order
  const sum = sumOf(fills)
  return { clientOrderId, venueOrderId, status, filledQuantity: filled > sum ? filled : sum, fills }
}

export const sumOf = (trades: readonly { readonly quantity: Quantity }[]): Quantity =>
  totalOf(trades.map(({ quantity }) => quantity))

/** Skips trades that cannot be read. The rest then do not add up, and are requested again. */
const tradesIn = (response: unknown, venueOrderId: string, reading: Reading): readonly VenueTrade[] => {
  const byId = new Map<string, VenueTrade>()
  for (const entry of Array.isArray(response) ? response : []) {
    if (textMemberOf(entry, 'order') !== venueOrderId) continue
    const trade = tradeIn(entry, reading)
    if (trade !== null) byId.set(trade.venueTradeId, trade)
  }
  return [...byId.values()].toSorted((left, right) => left.atMs - right.atMs || byTradeId(left, right))
}

interface Reading {
  readonly contract: Pick<Contract, 'unitSize'>
  readonly nowMs: number
}

/** Some coins trade at prices finer than our unit. These prices are rounded, because a fill must never stay unknown. */
export const tradeIn = (entry: unknown, { contract, nowMs }: Reading): VenueTrade | null => {
  const venueTradeId = textMemberOf(entry, 'id')
  const price = priceOf(memberOf(entry, 'price'), 'nearest')
  const quantity = coinsOf(memberOf(entry, 'amount'), contract)
  const atMs = pastMs(memberOf(entry, 'timestamp'), nowMs)
  if (venueTradeId === null || price === null || quantity === null) return null
  if (price <= 0n || quantity <= 0n) return null
  return { venueTradeId, price, quantity, atMs, fee: memberOf(entry, 'fee') }
}

/** A time that is missing, impossible or has not come yet is replaced by now, for the same reason. */
const pastMs = (value: unknown, nowMs: number): number => {
  const atMs = typeof value === 'number' ? Math.trunc(value) : Number.NaN
  return atMs > 0 && atMs <= nowMs ? atMs : nowMs
}

/** Ids are numbers of growing length, or text. */
const byTradeId = ({ venueTradeId: left }: VenueTrade, { venueTradeId: right }: VenueTrade): number =>
  left.length - right.length || (left < right ? -1 : 1)

type FeeOf = (trade: VenueTrade, contract: Contract) => Promise<Usd | null>

/**
 * Fees in dollar coins are taken as reported. Fees in another coin are converted at the current price of its perpetual;
 * null while that is unknown. Without a reported fee, or a market for its coin, the taker fee is assumed; also for a fee
 * that cannot be read, or that exceeds the whole trade. Rounded up: never understated.
 */
const createFees = ({ api, request, contracts }: Exchange, timer: Timer): FeeOf => {
  const prices = new Map<string, { readonly price: bigint; readonly atMs: number }>()

  const coinPriceOf = async (market: string): Promise<bigint | null> => {
    const known = prices.get(market)
    if (known !== undefined && timer.now() - known.atMs < PRICE_AGE_MS_MAX) return known.price
    const reply = await request(() => api.fetchTicker(market))
    const price = reply.status === 'done' ? priceOf(memberOf(reply.value, 'last'), 'up') : null
    if (price === null || price <= 0n) return null
    prices.set(market, { price, atMs: timer.now() })
    return price
  }

  return async ({ fee, price, quantity }, { takerMillionths }) => {
    const currency = textMemberOf(fee, 'currency')
    const cost = memberOf(fee, 'cost')
    const estimate = dividedUp(notionalOf(price, quantity) * takerMillionths, 1_000_000n)
    if (currency === null || cost === undefined) return estimate
    const inReason = (charged: Usd | null): Usd | null => {
      if (charged === null) return null
      const amount = charged < 0n ? minus(NO_USD, charged) : charged
      return amount > notionalOf(price, quantity) ? estimate : charged
    }
    if (DOLLARS.includes(currency)) return inReason(usdOf(cost, 'up')) ?? estimate
    const coins = scaledOf(cost, 12, 'up')
    const contract = contracts().get(currency)
    if (coins === null || contract === undefined) return estimate
    const coinPrice = await coinPriceOf(contract.market)
    // Coins are in 1e-12, the price in 1e-8, dollars in 1e-6.
    return coinPrice === null ? null : inReason(dividedUp(coins * coinPrice, 100_000_000_000_000n))
  }
}

const PRICE_AGE_MS_MAX = 60_000

const dividedUp = (dividend: bigint, divisor: bigint): Usd =>
  (dividend <= 0n ? dividend / divisor : (dividend + divisor - 1n) / divisor) as Usd
