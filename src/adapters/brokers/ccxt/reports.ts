import type { BrokerFill, OrderReport } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { Connection } from './connection.ts'
import type { Contract } from './contracts.ts'
import { unitsOf } from './decimals.ts'
import type { Fees } from './fees.ts'
import { reportedOrderOf, type ReportedOrder } from './orders.ts'
import { memberOf, textMemberOf } from './values.ts'

export interface Reports {
  /**
   * An order with its trades, each once. Venues tell an order before its trades, and trades before the order knows of
   * them: for a moment it is waited until they add up, then what is known is told.
   */
  withTrades(order: ReportedOrder, contract: Contract): Promise<OrderReport>
  /** The trades of an order that are known now. */
  fillsOf(venueOrderId: string, contract: Contract): Promise<readonly BrokerFill[]>
}

export interface ReportsDependencies {
  readonly connection: Connection
  readonly fees: Fees
  readonly timer: Timer
  readonly signal: AbortSignal
}

export const createReports = ({ connection, fees, timer, signal }: ReportsDependencies): Reports => {
  const { exchange, ask } = connection

  const tradesOf = async (orderId: string, contract: Contract): Promise<readonly Trade[]> => {
    const params = { orderId }
    const reply = await ask(() => exchange.fetchMyTrades(contract.market, undefined, TRADES_MAX, params))
    return reply.status === 'done' ? tradesIn(reply.value, orderId) : []
  }

  const withFees = async (trades: readonly Trade[], contract: Contract): Promise<readonly BrokerFill[]> => {
    const fills: BrokerFill[] = []
    for (const { fee, ...trade } of trades) {
      const feeUsd = await fees.of({ fee, contract, price: trade.price, quantity: trade.quantity })
      // What a trade cost belongs to it: it is told when both are known.
      if (feeUsd !== null) fills.push({ ...trade, feeUsd })
    }
    return fills
  }

  const again = async (order: ReportedOrder, { market }: Contract): Promise<ReportedOrder> => {
    const { clientOrderId } = order
    const reply = await ask(() => exchange.fetchOrder('', market, { clientOrderId }))
    return (reply.status === 'done' ? reportedOrderOf(reply.value, clientOrderId) : null) ?? order
  }

  return {
    withTrades: async (told, contract) => {
      let order = told
      let trades: readonly Trade[] = []
      for (const waitMs of WAITS_MS) {
        if (order.filled === 0n) return reportOf(order, [])
        await timer.wait(waitMs, signal)
        trades = await tradesOf(order.venueOrderId, contract)
        if (sumOf(trades) === order.filled || signal.aborted) break
        // More was traded than the order told: it went on meanwhile.
        if (sumOf(trades) > order.filled) order = await again(order, contract)
      }
      return reportOf(order, await withFees(trades, contract))
    },
    fillsOf: async (venueOrderId, contract) => withFees(await tradesOf(venueOrderId, contract), contract),
  }
}

interface Trade extends Omit<BrokerFill, 'feeUsd'> {
  readonly fee: unknown
}

/** As many as venues tell at once. */
const TRADES_MAX = 1000
/** Trades are usually told within a fraction of a second; what takes longer is looked up later. */
const WAITS_MS: readonly number[] = [0, 100, 300]

const reportOf = (order: ReportedOrder, fills: readonly BrokerFill[]): OrderReport => ({
  clientOrderId: order.clientOrderId,
  venueOrderId: order.venueOrderId,
  status: order.status,
  filledQuantity: larger(order.filled, sumOf(fills)),
  fills,
})

const sumOf = (trades: readonly { readonly quantity: bigint }[]): bigint =>
  trades.reduce((sum, { quantity }) => sum + quantity, 0n)

const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)

/** Without those that cannot be read: then they do not add up, and are asked for again. */
const tradesIn = (answer: unknown, venueOrderId: string): readonly Trade[] => {
  const byId = new Map<string, Trade>()
  for (const entry of Array.isArray(answer) ? answer : []) {
    if (textMemberOf(entry, 'order') !== venueOrderId) continue
    const trade = tradeIn(entry)
    if (trade !== null) byId.set(trade.venueTradeId, trade)
  }
  return [...byId.values()].toSorted((left, right) => left.atMs - right.atMs || inOrder(left, right))
}

const tradeIn = (entry: unknown): Trade | null => {
  const venueTradeId = textMemberOf(entry, 'id')
  const price = unitsOf(memberOf(entry, 'price'))
  const quantity = unitsOf(memberOf(entry, 'amount'))
  const atMs = Number(memberOf(entry, 'timestamp'))
  const isRead = venueTradeId !== null && price !== null && quantity !== null && Number.isFinite(atMs)
  if (!isRead || price <= 0n || quantity <= 0n) return null
  return { venueTradeId, price, quantity, atMs, fee: memberOf(entry, 'fee') }
}

/** Ids are numbers of growing length, or words. */
const inOrder = ({ venueTradeId: left }: Trade, { venueTradeId: right }: Trade): number =>
  left.length - right.length || (left < right ? -1 : 1)
