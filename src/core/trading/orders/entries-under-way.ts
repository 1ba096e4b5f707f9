import type { CanonicalSymbol } from '../../shared/brand.ts'
import {
  greater,
  marginOf,
  NO_USD,
  notionalOf,
  plus,
  shareOf,
  type Direction,
  type Usd,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { positionsOf } from '../positions/book.ts'
import { planningCosts, type Destination } from '../venue/destination.ts'
import type { TradingState } from '../evolve.ts'
import { perUsdOf } from './fills.ts'
import { intentOf, isEntry, quantityOpen, type OpenOrder } from './orders.ts'
import type { EntryRules, Reserved } from '../risk/sizing.ts'

const NOTHING: Reserved = { lossAtStop: NO_USD, exposure: NO_USD, margin: NO_USD, cost: NO_USD }

/**
 * Risk that pending entries may still add. A venue fills later, so several simultaneous entries must keep the limits as
 * if each were filled before the next.
 */
export const reservedBy = (
  { orders, intents }: Pick<TradingState, 'orders' | 'intents'>,
  destination: Destination,
  { execution }: Pick<EntryRules, 'execution'>,
): Reserved => {
  if (orders.open.size === 0) return NOTHING
  const costs = planningCosts(destination, execution)
  return [...orders.open.values()].filter(isEntry).reduce((sum, order): Reserved => {
    const id = intentOf(order)
    const intent = id === null ? undefined : intents.get(id)?.intent
    const notional = notionalAtWorst(order)
    // Without a known stop or leverage, the whole notional counts.
    const perUsd =
      intent === undefined
        ? { lossAtStop: 1, cost: 0, exposure: 1 }
        : perUsdOf(intent, order.referencePrice, costs)
    return {
      lossAtStop: plus(sum.lossAtStop, shareOf(notional, perUsd.lossAtStop)),
      exposure: plus(sum.exposure, shareOf(notional, perUsd.exposure)),
      margin: plus(sum.margin, marginOf(notional, intent?.leverage ?? 1)),
      cost: plus(sum.cost, shareOf(notional, perUsd.cost)),
    }
  }, NOTHING)
}

const notionalAtWorst = (order: OpenOrder): Usd => {
  const { purpose, referencePrice } = order
  const limit = purpose.kind === 'entry' ? purpose.limitPrice : null
  return notionalOf(limit === null ? referencePrice : greater(limit, referencePrice), quantityOpen(order))
}

/** Number of pending entries in the symbol without a position. Entries with a first fill count as positions. */
export const entriesUnderWay = ({ orders }: Pick<TradingState, 'orders'>, symbol: CanonicalSymbol): number =>
  orders.open.count(
    (order) => isEntry(order) && order.filled === 0n && canonicalSymbol(order.symbol) === symbol,
  )

/** Whether a position or pending entry in the symbol has the other direction. */
export const isHeldAgainst = (
  trading: TradingState,
  symbol: CanonicalSymbol,
  direction: Direction,
): boolean => {
  const side = direction === 'long' ? 'sell' : 'buy'
  return (
    positionsOf(trading, symbol).some(({ terms }) => terms.direction !== direction) ||
    trading.orders.open.some(
      (order) => isEntry(order) && order.side === side && canonicalSymbol(order.symbol) === symbol,
    )
  )
}
