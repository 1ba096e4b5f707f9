import { notionalOf, type Usd } from '../../../core/shared/money.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { Connection } from './connection.ts'
import type { Contract, Contracts } from './contracts.ts'
import { scaledOf, unitsOf } from './decimals.ts'
import { DOLLARS, memberOf, textMemberOf } from './values.ts'

/** What a trade cost, in dollars. */
export interface Fees {
  /** Null when it cannot be known now. */
  of(trade: FeeTrade): Promise<Usd | null>
}

export interface FeeTrade {
  /** As the library tells it: `{ cost, currency }`. */
  readonly fee: unknown
  readonly contract: Contract
  readonly price: bigint
  readonly quantity: bigint
}

/**
 * Fees in a coin of the dollar are taken as told. Fees in another coin are worth what its perpetual trades at now. Where
 * the venue tells no fee, or trades no such coin, it is what a taker pays. Always rounded up: never understated.
 */
export const createFees = (parts: FeesDependencies): Fees => {
  const { connection, contracts, timer } = parts
  const prices = new Map<string, { readonly price: bigint; readonly atMs: number }>()

  const priceOf = async (market: string): Promise<bigint | null> => {
    const known = prices.get(market)
    if (known !== undefined && timer.now() - known.atMs < FRESH_MS) return known.price
    const reply = await connection.ask(() => connection.exchange.fetchTicker(market))
    const price = reply.status === 'done' ? unitsOf(memberOf(reply.value, 'last'), 'up') : null
    if (price === null || price <= 0n) return null
    prices.set(market, { price, atMs: timer.now() })
    return price
  }

  return {
    of: async ({ fee, contract, price, quantity }) => {
      const currency = textMemberOf(fee, 'currency')
      const cost = memberOf(fee, 'cost')
      const estimate = upTo(notionalOf(price, quantity) * contract.takerMillionths, 1_000_000n)
      if (currency === null || cost === undefined) return estimate
      if (DOLLARS.includes(currency)) return scaledOf(cost, 6, 'up')
      const coins = scaledOf(cost, 12, 'up')
      const market = contracts().get(currency)
      if (coins === null || market === undefined) return estimate
      const coinPrice = await priceOf(market.market)
      // Coins are in 1e-12, the price in 1e-8, dollars in 1e-6.
      return coinPrice === null ? null : upTo(coins * coinPrice, 100_000_000_000_000n)
    },
  }
}

export interface FeesDependencies {
  readonly connection: Connection
  readonly contracts: () => Contracts
  readonly timer: Timer
}

const FRESH_MS = 60_000

const upTo = (dividend: bigint, divisor: bigint): bigint =>
  dividend <= 0n ? dividend / divisor : (dividend + divisor - 1n) / divisor
