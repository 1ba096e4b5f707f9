import type { CanonicalSymbol } from '../../shared/brand.ts'
import { timestampAt } from '../../shared/time.ts'
import { releaseOrderId } from '../orders/client-order-id.ts'
import { executionAlert } from '../orders/execution-alerts.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { closedEvents } from '../positions/exits.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { filledEvent, type Fill } from '../orders/fills.ts'
import {
  differencesOf,
  isLess,
  type AccountSweep,
  type Difference,
  type VenueLiquidation,
} from './account-differences.ts'
import { openPositionsOf } from '../positions/book.ts'
import {
  isAdopted,
  quantityLeft,
  soldOf,
  updateOf,
  type ClosedBy,
  type OpenPosition,
} from '../positions/positions.ts'
import { liquidationOrderId, PAPER } from '../orders/orders.ts'
import { accept, refuse, type Decision } from '../../shared/decision.ts'
import { derivedId } from '../../shared/derived-id.ts'
import {
  averagePrice,
  costOf,
  lesser,
  minus,
  NO_QUANTITY,
  NO_USD,
  notionalOf,
  plus,
  priceNumber,
  quantityNumber,
  signed,
  sumOf,
  usdNumber,
  type Direction,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { markNow } from '../../signals/prices.ts'
import { reduceOnlyEvent } from './venue.ts'
import type { TradingFacts } from '../evolve.ts'
import { omsEvent } from '../orders/oms-event.ts'

/**
 * Compares the positions at the venue with those of the log. Symbols with pending orders are skipped until the next
 * sweep.
 */
export const compareAccount = (
  facts: TradingFacts,
  sweep: AccountSweep,
  context: DecisionContext,
): Decision => {
  const differing = differencesOf(facts, sweep)
  if (differing.length === 0) return accept()
  const events = differing.flatMap((difference) => eventsOf(facts, difference, sweep, context))
  const isAlarming = events.some(({ type }) => type !== 'execution.order_filled.v1' && CAUSES.has(type))
  if (!isAlarming || facts.trading.venue.reduceOnly !== null) return accept(...events)
  return accept(...events, reduceOnlyEvent(true, 'the venue holds other positions than we do', null))
}

/**
 * An operator has checked the account: positions that the venue does not hold are released, and entries are sent again.
 */
export const resumeLive = (
  facts: TradingFacts,
  {
    operator,
    reason,
    surface,
  }: { readonly operator: string; readonly reason: string; readonly surface: 'api' | 'cli' },
): Decision => {
  const { reduceOnly, missing } = facts.trading.venue
  if (reduceOnly === null) return refuse('live.not_reduce_only', 'entries are not held back')
  const by = { operator, note: 'released: the venue does not hold it' }
  const released = missing.flatMap(({ symbol, held }) => releaseEvents(facts, symbol, held, by))
  return accept(...released, { ...reduceOnlyEvent(false, reason, operator), source: surface })
}

/**
 * Releases the positions that the venue does not hold. Adopted positions, which have no stop, are released first, then
 * the newest. The rest keeps its stop.
 */
const releaseEvents = (
  { trading }: TradingFacts,
  symbol: CanonicalSymbol,
  theirs: Quantity,
  by: ClosedBy,
): readonly NewEvent[] => {
  const held = openPositionsOf(trading).filter(
    ({ terms }) => terms.platform !== PAPER && terms.asset === symbol,
  )
  const ours = sumOf(held.map((position) => signed(position.terms.direction, quantityLeft(position))))
  const direction: Direction = ours > 0n ? 'long' : 'short'
  const isPartHeld = signed(direction, theirs) > 0n
  let wanted = isPartHeld ? minus(signed(direction, ours), signed(direction, theirs)) : null
  return held
    .filter(({ terms }) => !isPartHeld || terms.direction === direction)
    .toSorted((one, other) => releaseRank(one, other))
    .flatMap((position): readonly NewEvent[] => {
      const left = quantityLeft(position)
      const quantity = wanted === null ? left : lesser(left, wanted > 0n ? wanted : NO_QUANTITY)
      if (wanted !== null) wanted = minus(wanted, quantity)
      if (quantity === 0n) return []
      const fill = fillAtMark(position, quantity)
      return quantity === left
        ? closedEvents(position, fill, { reason: 'manual', trigger: null, by })
        : partReleased(position, fill)
    })
}

const releaseRank = (one: OpenPosition, other: OpenPosition): number => {
  if (isAdopted(one) !== isAdopted(other)) return isAdopted(one) ? -1 : 1
  return one.terms.openedAt === other.terms.openedAt ? 0 : one.terms.openedAt > other.terms.openedAt ? -1 : 1
}

const partReleased = (position: OpenPosition, fill: Fill): readonly NewEvent[] => {
  const before = quantityLeft(position)
  const remaining = minus(before, fill.quantity)
  const order = { id: releaseOrderId(position.id, before), positionId: position.id, intentId: null }
  const lossAtStop = ((position.holding.lossAtStop * remaining) / before) as Usd
  const after = { ...position, holding: { ...position.holding, lossAtStop } }
  const sold = { ...soldOf(position), quantity: minus(position.holding.quantity, remaining) }
  return [
    filledEvent(order, fill, { fillNo: 1, remaining }),
    updateOf(after.status === 'closing' ? after : { ...after, sold }, {
      status: position.status,
      reason: 'released',
    }),
  ]
}

const CAUSES: ReadonlySet<string> = new Set(['execution.position_adopted.v1', 'execution.venue_differs.v1'])

const eventsOf = (
  facts: TradingFacts,
  difference: Difference,
  sweep: AccountSweep,
  context: DecisionContext,
): readonly NewEvent[] => {
  if (difference.ours === difference.theirs) return [differsEvent(difference, sweep)]
  const liquidated = liquidatedBy(difference, sweep)
  if (liquidated.length > 0) return liquidated
  const { theirs, symbol } = difference
  if (!isLess(difference)) return adoption(facts, difference, sweep, context)
  // Recorded once, until an operator resumes or the quantity changes.
  const isSaid = facts.trading.venue.missing.some((one) => one.symbol === symbol && one.held === theirs)
  return isSaid ? [] : missingEvents(difference, sweep)
}

/** Liquidations by the venue: trades after the opening of a position that together close all that was left of it. */
const liquidatedBy = ({ held, symbol }: Difference, sweep: AccountSweep): readonly NewEvent[] => {
  let trades: readonly VenueLiquidation[] = sweep.liquidations
    .filter((trade) => canonicalSymbol(trade.symbol) === symbol)
    .toSorted((one, other) => one.atMs - other.atMs || (one.venueTradeId < other.venueTradeId ? -1 : 1))
  return held.flatMap((position) => {
    const taken = takenFrom(trades, position)
    if (taken === null) return []
    trades = taken.left
    return liquidationEvents(position, taken.parts)
  })
}

/**
 * Trades that closed a position, and the remaining trades for other positions; null if they did not close all of it.
 */
const takenFrom = (
  trades: readonly VenueLiquidation[],
  position: OpenPosition,
): { readonly parts: readonly VenueLiquidation[]; readonly left: readonly VenueLiquidation[] } | null => {
  const { direction, openedAt } = position.terms
  let wanted = quantityLeft(position)
  const parts: VenueLiquidation[] = []
  const left = trades.flatMap((trade) => {
    if (wanted === 0n || trade.direction !== direction || trade.atMs <= Date.parse(openedAt)) return [trade]
    const quantity = lesser(trade.quantity, wanted)
    const part = partOf(trade, quantity)
    parts.push(part)
    wanted = minus(wanted, quantity)
    const rest = minus(trade.quantity, quantity)
    return rest === 0n ? [] : [{ ...trade, quantity: rest, feeUsd: minus(trade.feeUsd, part.feeUsd) }]
  })
  return wanted === 0n ? { parts, left } : null
}

/** Part of a trade, with its share of the fee. */
const partOf = (trade: VenueLiquidation, quantity: Quantity): VenueLiquidation =>
  quantity === trade.quantity
    ? trade
    : { ...trade, quantity, feeUsd: ((trade.feeUsd * quantity) / trade.quantity) as Usd }

const liquidationEvents = (
  position: OpenPosition,
  parts: readonly VenueLiquidation[],
): readonly NewEvent[] => {
  const last = parts.at(-1)
  if (last === undefined) return []
  let remaining = quantityLeft(position)
  const fills = parts.map(({ price, quantity, feeUsd: fee, venueTradeId }, index) => {
    const fill: Fill = { price, quantity, notional: notionalOf(price, quantity), fee }
    remaining = minus(remaining, quantity)
    const order = { id: liquidationOrderId(venueTradeId), positionId: position.id, intentId: null }
    return { fill, event: filledEvent(order, fill, { fillNo: index + 1, remaining, venueTradeId }) }
  })
  const quantity = sumOf(fills.map(({ fill }) => fill.quantity))
  const costBasis = fills.map(({ fill }) => costOf(fill.price, fill.quantity)).reduce(plus)
  const price = averagePrice(costBasis, quantity)
  const whole: Fill = {
    price,
    quantity,
    notional: sumOf(fills.map(({ fill }) => fill.notional)),
    fee: sumOf(fills.map(({ fill }) => fill.fee)),
  }
  const trigger = { kind: 'mark', price: priceNumber(price), ts: timestampAt(last.atMs) } as const
  return [
    ...fills.map(({ event }) => event),
    ...closedEvents(position, whole, { reason: 'liquidated', trigger }),
  ]
}

const adoption = (
  facts: TradingFacts,
  { symbol, ours, theirs, reported, held }: Difference,
  { venue }: AccountSweep,
  context: DecisionContext,
): readonly NewEvent[] => {
  const excess = minus(theirs, ours)
  const direction: Direction = excess > 0n ? 'long' : 'short'
  const quantity = signed(direction, excess)
  const like = reported.find((position) => position.direction === direction)
  if (like === undefined) return []
  const entry = like.entryPrice
  const mark = markNow(facts, symbol, context)?.price ?? entry
  const cause = `${venue}|${symbol}|${context.now}|${held.length}`
  const positionId = derivedId('adopted', cause, context.sha256Hex)
  const notional = usdNumber(notionalOf(entry, quantity))
  return [
    omsEvent('execution.position_adopted.v1', {
      position_id: positionId,
      venue,
      asset: symbol,
      direction,
      entry_price: priceNumber(entry),
      quantity: quantityNumber(quantity),
      size_notional: notional,
      leverage: like.leverage,
      mark_price: priceNumber(mark),
      // Without a stop the whole value may be lost, taken at the higher of the two prices.
      loss_at_stop_usd: Math.max(notional, usdNumber(notionalOf(mark, quantity))),
    }),
    executionAlert({
      cause: 'position_adopted',
      message:
        `${venue} holds ${quantityNumber(quantity)} ${symbol} ${direction} that were not opened here: ` +
        'nothing is opened until an operator has looked at it',
      symbol,
      positionId,
    }),
  ]
}

const differsEvent = ({ symbol, ours, theirs }: Difference, { venue }: AccountSweep): NewEvent =>
  omsEvent('execution.venue_differs.v1', {
    venue,
    symbol,
    our_quantity: quantityNumber(ours),
    venue_quantity: quantityNumber(theirs),
  })

const missingEvents = (difference: Difference, sweep: AccountSweep): readonly NewEvent[] => [
  differsEvent(difference, sweep),
  executionAlert({
    cause: 'position_missing',
    message:
      `${sweep.venue} holds ${quantityNumber(difference.theirs)} ${difference.symbol} where we hold ` +
      `${quantityNumber(difference.ours)}: nothing is opened until an operator has looked at it`,
    symbol: difference.symbol,
    positionId: difference.held[0]?.id ?? null,
  }),
]

const fillAtMark = ({ mark: { price } }: OpenPosition, quantity: Quantity): Fill => ({
  price,
  quantity,
  notional: notionalOf(price, quantity),
  fee: NO_USD,
})
