import type { CanonicalSymbol } from '../../shared/brand.ts'
import {
  minus,
  signed,
  sumOf,
  type Direction,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { openPositionsOf } from '../positions/book.ts'
import type { TradingFacts } from '../evolve.ts'
import { isAtRest } from '../orders/orders.ts'
import { quantityLeft, type OpenPosition } from '../positions/positions.ts'

/** Quantity that the venue reports in one symbol. */
export interface VenueHolding {
  readonly symbol: string
  readonly direction: Direction
  readonly quantity: Quantity
  readonly entryPrice: Price
  readonly leverage: number
}

/** A position that the venue closed by force. */
export interface VenueLiquidation {
  readonly venueTradeId: string
  readonly symbol: string
  readonly direction: Direction
  readonly quantity: Quantity
  readonly price: Price
  readonly feeUsd: Usd
  readonly atMs: number
}

export interface AccountSweep {
  readonly venue: string
  /** Balance without unrealized profit; absent if the venue does not report it. */
  readonly balance?: Usd | undefined
  readonly positions: readonly VenueHolding[]
  readonly liquidations: readonly VenueLiquidation[]
  /** Symbols without pending orders of ours during the request to the venue. */
  readonly quietSymbols: readonly CanonicalSymbol[]
}

/** Symbols in which venue and log differ, as keys that stay equal while the difference does. */
export const differingSymbols = (facts: TradingFacts, sweep: AccountSweep): readonly string[] =>
  differencesOf(facts, sweep).map(({ symbol, ours, theirs }) => `${symbol}|${ours}|${theirs}`)

/** Whether the venue holds less than the log in a symbol, so that it may have closed a position by force. */
export const holdsLess = (facts: TradingFacts, sweep: AccountSweep): boolean =>
  differencesOf(facts, sweep).some((difference) => isLess(difference))

/** Quantity in a symbol that a comparison recorded as missing at the venue. */
export interface MissingPart {
  /** Signed: positive for longs. */
  readonly quantity: Quantity
  readonly mark: Price
}

/** Every difference as a recorded missing part; null if there is a difference of another kind. */
export const missingParts = (facts: TradingFacts, sweep: AccountSweep): readonly MissingPart[] | null => {
  const { missing } = facts.trading.venue
  const parts = differencesOf(facts, sweep).map(({ symbol, ours, theirs, held }): MissingPart | null => {
    const isRecorded = missing.some((one) => one.symbol === symbol && one.held === theirs)
    const isTurned = theirs !== 0n && ours > 0n !== theirs > 0n
    const [position] = held
    if (!isRecorded || isTurned || position === undefined) return null
    return { quantity: minus(ours, theirs), mark: position.mark.price }
  })
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? [])
}

export interface Difference {
  readonly symbol: CanonicalSymbol
  /** Signed: positive for longs. */
  readonly ours: Quantity
  readonly theirs: Quantity
  readonly held: readonly OpenPosition[]
  readonly reported: readonly VenueHolding[]
}

/** Differences between the holdings at the venue and in the log, by symbol. */
export const differencesOf = (facts: TradingFacts, sweep: AccountSweep): readonly Difference[] => {
  const held = openPositionsOf(facts.trading).filter(({ terms }) => terms.platform === sweep.venue)
  const busy = new Set(
    [...facts.trading.orders.open.values()]
      .filter((order) => order.venue === sweep.venue && !isAtRest(order))
      .map(({ symbol }) => canonicalSymbol(symbol)),
  )
  return sweep.quietSymbols
    .filter((symbol) => !busy.has(symbol))
    .map((symbol): Difference => {
      const of = held.filter(({ terms }) => terms.asset === symbol)
      const reported = sweep.positions.filter((position) => canonicalSymbol(position.symbol) === symbol)
      return {
        symbol,
        held: of,
        reported,
        ours: sumOf(of.map((position) => signed(position.terms.direction, quantityLeft(position)))),
        theirs: sumOf(reported.map(({ direction, quantity }) => signed(direction, quantity))),
      }
    })
    .filter(({ symbol, ours, theirs }) => ours !== theirs || isOutdated(facts, symbol, theirs))
}

/**
 * Whether the quantity at the venue has changed since it was recorded as missing. An operator releases what the venue
 * no longer holds at that time.
 */
const isOutdated = ({ trading }: TradingFacts, symbol: CanonicalSymbol, theirs: Quantity): boolean => {
  const known = trading.venue.missing.find((one) => one.symbol === symbol)
  return known !== undefined && known.held !== theirs
}

/** Whether the venue holds less than the log. */
export const isLess = ({ ours, theirs }: Difference): boolean =>
  ours > 0n ? theirs < ours : theirs > ours && ours < 0n
