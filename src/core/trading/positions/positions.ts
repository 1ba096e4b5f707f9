import { Map as PersistentMap } from 'immutable'
import type { NewEvent, PayloadOf } from '../../events/catalogue.ts'
import type { EXIT_REASONS } from '../../events/trading.ts'
import type { IntentId, OrderId, PositionId, Timestamp, CanonicalSymbol } from '../../shared/brand.ts'
import {
  marginOf,
  minus,
  NO_COST_BASIS,
  NO_QUANTITY,
  NO_USD,
  notionalOf,
  plus,
  priceFrom,
  priceNumberOrNull,
  quantityNumber,
  ratioOf,
  signed,
  usdNumber,
  type CostBasis,
  type Direction,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { omsEvent } from '../orders/oms-event.ts'

export type ExitReason = (typeof EXIT_REASONS)[number]
export type Trigger = NonNullable<PayloadOf<'execution.position_closed.v1'>['trigger']>

/** Grouped by what changes together: terms never change, the holding changes with fills, the mark with every price. */
interface PositionFields {
  readonly id: PositionId
  readonly terms: Terms
  readonly holding: Holding
  readonly mark: Mark
}

export interface HeldPosition extends PositionFields {
  /** `open` until the entry is complete, `degrading` once most of the distance to the stop is lost. */
  readonly status: 'open' | 'monitoring' | 'degrading'
  readonly blockedExit: BlockedExit | null
  /** Part that was sold manually at the venue; absent if none. */
  readonly sold?: Sold
}

/**
 * A position with an exit order. It stays in this status until the whole quantity is sold, over any number of attempts.
 */
export interface ClosingPosition extends PositionFields {
  readonly status: 'closing'
  readonly exit: ExitProgress
}

export interface ClosedPosition extends PositionFields {
  readonly status: 'closed' | 'liquidated'
  readonly end: {
    readonly closedAt: Timestamp
    readonly exitPrice: Price
    readonly reason: ExitReason
    readonly realized: Usd
  }
}

export type OpenPosition = HeldPosition | ClosingPosition
export type Position = OpenPosition | ClosedPosition
export type PositionStatus = Position['status']

export interface Terms {
  readonly origin: Origin
  readonly platform: string
  readonly asset: CanonicalSymbol
  readonly direction: Direction
  readonly leverage: number
  readonly marginType: 'isolated' | 'cross'
  readonly openedAt: Timestamp
  /** Distance at which the stop follows the best price; undefined for a fixed stop. */
  readonly trailingPct?: number
}

export type Origin =
  | {
      readonly kind: 'intent'
      readonly orderId: OrderId
      readonly intentId: IntentId
      readonly convictionId: string
      readonly regimeAtEntry: string
      readonly pcsAtEntry: number | null
      readonly ctsAtEntry: number | null
    }
  /** Position adopted from the venue. Only an operator can close it. */
  | { readonly kind: 'adopted' }

export interface Holding {
  readonly quantity: Quantity
  readonly notional: Usd
  readonly costBasis: CostBasis
  readonly entryPrice: Price
  readonly isEntryDone: boolean
  /** Latest protective stop of the position and its sequence number, or null. */
  readonly stop: { readonly orderId: OrderId; readonly count: number } | null
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly lossAtStop: Usd
  /** Fees of entry and exit. */
  readonly fees: Usd
  readonly funding: Usd
}

/** Operator who closed a position manually, and the reason given. */
export interface ClosedBy {
  readonly operator: string
  readonly note: string | null
}

/** Part of a position that is no longer held. Its result counts when the position is closed. */
export interface Sold {
  readonly quantity: Quantity
  readonly notional: Usd
  readonly costBasis: CostBasis
}

/** Filled part of an exit, over all attempts, including earlier manual sales. */
export interface ExitProgress extends Sold {
  /** Order id of the latest attempt. */
  readonly orderId: OrderId
  readonly attempt: number
  /** Number of attempts that were not sent, or that the venue rejected unread. */
  readonly unsent: number
  /** Latest alert that the exit has not succeeded yet. */
  readonly alerted: { readonly at: Timestamp; readonly repeat: number } | null
  readonly by: ClosedBy | null
  readonly reason: ExitReason
  readonly trigger: Trigger | null
}

export interface Mark {
  readonly price: Price
  readonly atMs: number
  readonly unrealized: Usd
  /** Notional at the mark. */
  readonly exposure: Usd
  readonly margin: Usd
  /** Largest moves against and in favor of the position, as parts of the entry price. */
  readonly maxAdverseExcursion: number
  readonly maxFavorableExcursion: number
}

/** A stop or target that was reached while the kill switch blocks exits. It stays until an operator acts. */
export interface BlockedExit {
  readonly at: Timestamp
  readonly repeat: number
  readonly reason: 'stop' | 'target'
}

/** Open positions, and the latest closed ones. */
export type Positions = PersistentMap<PositionId, Position>

export const INITIAL_POSITIONS: Positions = PersistentMap()

export const isOpen = (position: Position): position is OpenPosition =>
  position.status !== 'closed' && position.status !== 'liquidated'

export const isAdopted = ({ terms }: PositionFields): boolean => terms.origin.kind === 'adopted'

/** Whether a strategy of this name proposed the position; see `proposeTrade`. */
export const isOpenedBy = (position: PositionFields, rule: string): boolean => ruleOf(position) === rule

export const isOpenedByBrain = (position: PositionFields): boolean =>
  !isAdopted(position) && ruleOf(position) === null

/** Strategy that proposed the position; null for the brain and for adopted positions. */
export const ruleOf = (position: PositionFields | undefined): string | null =>
  position?.terms.origin.kind === 'intent' ? ruleIn(position.terms.origin.convictionId) : null

/**
 * Name of the strategy in a conviction id, or null. A strategy's id consists of its name and the time, see
 * `proposeTrade`; that of the brain is the id of an event.
 */
export const ruleIn = (convictionId: string): string | null => {
  const end = convictionId.indexOf(':')
  return end === -1 ? null : convictionId.slice(0, end)
}

/** Order that opened the position; null for adopted positions. */
export const entryOrderOf = ({ terms: { origin } }: PositionFields): OrderId | null =>
  origin.kind === 'intent' ? origin.orderId : null

/** Remaining quantity of a position, also while it is closing. */
export const quantityLeft = (position: OpenPosition): Quantity =>
  minus(position.holding.quantity, soldOf(position).quantity)

export const soldOf = (position: OpenPosition): Sold =>
  position.status === 'closing' ? position.exit : (position.sold ?? NOTHING_SOLD)

/** Share of an amount of the whole position that falls to the remaining quantity. */
export const leftOf = (position: OpenPosition, amount: Usd): Usd =>
  ((amount * quantityLeft(position)) / position.holding.quantity) as Usd

/** Remaining quantity. While the exit order is still open, the full quantity. */
export const shownQuantity = (position: Position): Quantity =>
  isOpen(position) && position.status !== 'closing' ? quantityLeft(position) : position.holding.quantity

/**
 * A price that a position is compared with. The range of a bar counts only for positions that were open during the
 * whole bar.
 */
export interface PriceRange {
  readonly price: Price
  readonly atMs: number
  readonly low: Price
  readonly high: Price
}

export const singlePrice = (price: number, atMs: number): PriceRange => {
  const units = priceFrom(price)
  return { price: units, atMs, low: units, high: units }
}

/** The position at another price. */
export const markedAt = <Of extends OpenPosition>(
  position: Of,
  { price, atMs, low, high }: PriceRange,
): Of => {
  const isLong = position.terms.direction === 'long'
  const worst = returnAt(position, isLong ? low : high)
  const best = returnAt(position, isLong ? high : low)
  const { maxAdverseExcursion, maxFavorableExcursion, margin } = position.mark
  return withMark(
    position,
    {
      price,
      atMs,
      maxAdverseExcursion: -worst > maxAdverseExcursion ? r9(-worst) : maxAdverseExcursion,
      maxFavorableExcursion: best > maxFavorableExcursion ? r9(best) : maxFavorableExcursion,
    },
    margin,
  )
}

/**
 * The position, with its remaining quantity valued at the mark. Must be called after every change of mark, holding or
 * exit.
 */
export const valued = <Of extends OpenPosition>(position: Of): Of =>
  withMark(position, position.mark, marginOf(position.holding.notional, position.terms.leverage))

const withMark = <Of extends OpenPosition>(
  position: Of,
  {
    price,
    atMs,
    maxAdverseExcursion,
    maxFavorableExcursion,
  }: Pick<Mark, 'price' | 'atMs' | 'maxAdverseExcursion' | 'maxFavorableExcursion'>,
  margin: Usd,
): Of => {
  const { terms, holding } = position
  const sold = soldOf(position)
  const exposure = notionalOf(price, minus(holding.quantity, sold.quantity))
  const gain = minus(plus(sold.notional, exposure), holding.notional)
  const unrealized = signed(terms.direction, gain)
  const mark: Mark = { price, atMs, unrealized, exposure, margin, maxAdverseExcursion, maxFavorableExcursion }
  return remarked(position, mark) as Of
}

/** Spelled out, because every bar passes here and spreading an object takes several times as long. */
const remarked = (position: OpenPosition, mark: Mark): OpenPosition => {
  const { id, status, terms, holding } = position
  if (status === 'closing') return { id, status, terms, holding, mark, exit: position.exit }
  const { blockedExit, sold } = position
  return sold === undefined
    ? { id, status, terms, holding, mark, blockedExit }
    : { id, status, terms, holding, mark, blockedExit, sold }
}

const NOTHING_SOLD: Sold = { quantity: NO_QUANTITY, notional: NO_USD, costBasis: NO_COST_BASIS }

/** Return at a price, as a part of the entry price; negative for a loss. */
export const returnAt = ({ terms, holding }: PositionFields, price: Price): number => {
  const change = ratioOf(price, holding.entryPrice) - 1
  return terms.direction === 'long' ? change : -change
}

export const updateOf = (
  position: OpenPosition,
  {
    status,
    reason,
    markPrice = null,
  }: {
    readonly status: PositionStatus
    readonly reason: string
    readonly markPrice?: Price | null
  },
): NewEvent =>
  omsEvent('execution.position_updated.v1', {
    position_id: position.id,
    status,
    stop_loss: priceNumberOrNull(position.holding.stopLoss),
    take_profit: priceNumberOrNull(position.holding.takeProfit),
    reason,
    quantity: quantityNumber(shownQuantity(position)),
    loss_at_stop_usd: usdNumber(position.holding.lossAtStop),
    mark_price: priceNumberOrNull(markPrice),
  })
