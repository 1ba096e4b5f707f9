import type { VenueOrder, VenueTrade } from '../account.ts'
import type { ExchangeState } from '../exchange-state.ts'
import type { Fault } from '../faults.ts'
import { isPublished } from '../order-routes.ts'
import { ExchangeRefusal } from '../signed.ts'

// Helpers that the wires of all venues share. The state refuses with the codes of Binance. Each wire maps them to its
// own.

/** A venue's own code and message for each code of Binance. */
export type Refusals = Readonly<Record<number, readonly [string, string]>>

export const refusalIn = (refusals: Refusals, error: unknown): readonly [string, string] => {
  if (!(error instanceof ExchangeRefusal)) throw error
  const own = refusals[error.code]
  if (own === undefined) throw new Error(`the wire has no words for ${error.code} ${error.message}`)
  return own
}

/** A path without its host, and the host. */
export const hostAndPath = (path: string): readonly [string, string] => {
  const slash = path.indexOf('/')
  return [path.slice(0, slash), path.slice(slash)]
}

/** Plain digits without trailing zeros, as most venues write numbers. */
export const digits = (units: bigint): string => {
  const size = units < 0n ? -units : units
  const decimals = (size % 100_000_000n).toString().padStart(8, '0').replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / 100_000_000n}${decimals === '' ? '' : `.${decimals}`}`
}

/** Hides an order from a number of lookups, whatever endpoint they use. */
export const createHiding = () => {
  const hidden = new WeakSet<VenueOrder>()
  return {
    /** Counts one lookup. */
    isHidden: (order: VenueOrder): boolean => {
      if (order.hiddenLookups === 0) {
        hidden.delete(order)
        return false
      }
      order.hiddenLookups -= 1
      hidden.add(order)
      return true
    },
    /** True if the last counted lookup did not find the order. */
    wasHidden: (order: VenueOrder): boolean => hidden.has(order),
  }
}

/** Trades that the venue lists now, including the effects of faults. */
export const listed = <T>(
  trades: readonly VenueTrade[],
  publish: (trade: VenueTrade) => T,
  fault: Fault | null,
): readonly T[] => {
  const published = trades.filter(isPublished).map(publish)
  if (fault?.kind === 'repeated') return [...published, ...published]
  return fault?.kind === 'shuffled' ? published.reverse() : published
}

/** Trades by which the venue liquidated positions, with their orders. */
export const forcedTrades = ({ account }: ExchangeState): readonly (readonly [VenueOrder, VenueTrade])[] =>
  account.forced.flatMap((order) => order.trades.map((trade) => [order, trade] as const))

/** The perpetual if it is traded now. Throws otherwise. */
export const traded = (world: ExchangeState, base: string): string => {
  if (!world.perpetuals.includes(base) || world.delisted.has(base))
    throw new ExchangeRefusal(-1121, 'Invalid symbol.')
  return base
}
