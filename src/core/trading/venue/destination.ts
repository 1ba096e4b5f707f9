import type { CanonicalSymbol } from '../../shared/brand.ts'
import { PAPER } from '../orders/orders.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import {
  floored,
  movedPrice,
  NO_QUANTITY,
  notionalOf,
  plus,
  slippedPrice,
  type Price,
  type Quantity,
} from '../../shared/money.ts'
import { openPositionsOf } from '../positions/book.ts'
import type { TradingFacts } from '../evolve.ts'
import type { PaperCosts } from '../orders/fills.ts'
import { markReader } from '../../signals/prices.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { openElsewhere } from './unrouted.ts'
import { feedBlockerOf, priceBlockerOf, type PriceBlocker } from './live-prices.ts'
import { type Blocker, blockersOf, type Steps } from './venue.ts'

/** Limit of pending orders at venues. Further orders are not sent. */
const VENUE_ORDERS_MAX = 500

/** Destination of an entry in the symbol at this time. */
export const destinationOf = (
  facts: TradingFacts,
  symbol: CanonicalSymbol,
  context: DecisionContext,
): Destination => {
  const { mode, venue: name } = context.configuration.execution
  if (mode === 'paper') return { kind: 'paper', name: PAPER, isAvailable: !holdsElsewhere(facts, PAPER) }
  const steps = facts.trading.venue.steps.get(symbol) ?? null
  const blockers = blockersIn(facts, symbol, context)
  return {
    kind: 'venue',
    name,
    steps,
    isPaperPeriodOver: !blockers.includes('paper_period'),
    isAvailable:
      steps !== null &&
      blockers.every((blocker) => blocker === 'paper_period') &&
      !holdsElsewhere(facts, name) &&
      facts.trading.orders.open.size < VENUE_ORDERS_MAX,
  }
}

type LiveContext = Pick<DecisionContext, 'now' | 'configuration' | 'prices'>

/** Reasons that keep entries in the symbol from the configured venue; empty if entries are sent. */
const blockersIn = (
  facts: TradingFacts,
  symbol: CanonicalSymbol,
  context: LiveContext,
): readonly Blocker[] => [...venueBlockers(facts, context), ...pricesIn(facts, context)(symbol)]

/** Reasons that keep entries in all symbols from the venue; empty if at least one symbol has none. */
export const liveBlockers = (facts: TradingFacts, context: LiveContext): readonly Blocker[] => {
  const bySymbol = [...symbolBlockers(facts, context).values()]
  const prices = bySymbol.some((blockers) => blockers.length === 0) ? [] : bySymbol.flat()
  return [...venueBlockers(facts, context), ...new Set(prices)]
}

/** Price blockers by symbol of the universe. */
export const symbolBlockers = (
  facts: TradingFacts,
  context: LiveContext,
): ReadonlyMap<CanonicalSymbol, readonly PriceBlocker[]> => {
  const { execution, universe } = context.configuration
  if (execution.venue === '') return new Map()
  const blockersOfSymbol = pricesIn(facts, context)
  return new Map(universe.symbols.map(canonicalSymbol).map((symbol) => [symbol, blockersOfSymbol(symbol)]))
}

/** Blockers that apply to all symbols. */
const venueBlockers = (facts: TradingFacts, { now, configuration }: LiveContext): readonly Blocker[] => {
  const { execution, market } = configuration
  const feed = execution.venue === '' ? null : feedBlockerOf(market, execution.venue)
  const blockers = blockersOf(facts.trading.venue, {
    now,
    venue: execution.venue,
    paperDaysMin: execution.paper_min_days,
    unknownOrders: facts.trading.orders.open.count(({ status }) => status === 'unknown'),
  })
  return [
    ...blockers,
    ...(openElsewhere(facts.trading, execution).length > 0 ? (['open_elsewhere'] as const) : []),
    ...(feed === null ? [] : [feed]),
  ]
}

const pricesIn = (
  facts: TradingFacts,
  context: LiveContext,
): ((symbol: CanonicalSymbol) => readonly PriceBlocker[]) => {
  const { now, configuration } = context
  const { venue, max_price_age_seconds: ageSecondsMax, max_price_difference_pct } = configuration.execution
  const limits = { now, venue, ageMsMax: ageSecondsMax * 1000, differenceMax: max_price_difference_pct }
  const markOf = markReader(facts, context)
  return (symbol) => {
    const blocker = priceBlockerOf(facts.trading.venue.quoted, symbol, markOf(symbol), limits)
    return blocker === null ? [] : [blocker]
  }
}

/** The ledger covers one account, so positions at any other venue must be closed first. */
const holdsElsewhere = (facts: TradingFacts, name: string): boolean =>
  facts.trading.book.count > 0 && openPositionsOf(facts.trading).some(({ terms }) => terms.platform !== name)

/** Destination of an order, and the conditions there. */
export type Destination =
  | {
      readonly kind: 'paper'
      readonly name: typeof PAPER
      /** False while real positions are open: paper and real money are never mixed in one account. */
      readonly isAvailable: boolean
    }
  | {
      readonly kind: 'venue'
      readonly name: string
      readonly isAvailable: boolean
      readonly isPaperPeriodOver: boolean
      readonly steps: Steps | null
    }

const FINEST_PRICE = 1n as Price

/** Worst price at which an entry may fill. It is on the price steps of the venue, rounded towards the better price. */
export const entryLimit = (
  destination: Destination,
  { mid, side, driftMax }: { readonly mid: Price; readonly side: 'buy' | 'sell'; readonly driftMax: number },
): Price | null => {
  if (destination.kind === 'paper') return null
  const step = destination.steps?.priceStep ?? FINEST_PRICE
  const limit = movedPrice(mid, side === 'buy' ? driftMax : -driftMax)
  const below = floored(limit, step)
  return side === 'buy' || below === limit ? below : plus(below, step)
}

/** Price at which a size must still be within its limits. */
export const sizingPrice = (
  {
    mid,
    side,
    limitPrice,
  }: { readonly mid: Price; readonly side: 'buy' | 'sell'; readonly limitPrice: Price | null },
  slippageBps: number,
): Price => {
  if (limitPrice === null) return slippedPrice(mid, side, slippageBps)
  // A seller who gets a better price holds a larger notional, so its limit price is not the worst case.
  return side === 'buy' && limitPrice > mid ? limitPrice : mid
}

/** Costs for planning. At a venue an entry may cost all that its limit price allows. */
export const planningCosts = (
  destination: Destination,
  costs: PaperCosts & { readonly max_entry_drift_pct: number },
): PaperCosts =>
  destination.kind === 'paper'
    ? costs
    : {
        paper_fee_bps: costs.paper_fee_bps,
        paper_slippage_bps: Math.max(costs.paper_slippage_bps, costs.max_entry_drift_pct * 10_000),
      }

/** Rounds a quantity down to the steps of the venue; zero if that is below the venue's minimum. */
export const cutQuantity = (destination: Destination, wanted: Quantity, price: Price): Quantity => {
  if (destination.kind === 'paper' || destination.steps === null) return wanted
  const { quantityStep, quantityMin, notionalMin } = destination.steps
  const quantity = quantityStep === null ? wanted : floored(wanted, quantityStep)
  const isTooSmall = quantity < (quantityMin ?? 0n) || notionalOf(price, quantity) < (notionalMin ?? 0n)
  return isTooSmall ? NO_QUANTITY : quantity
}
