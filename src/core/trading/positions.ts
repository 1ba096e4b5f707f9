import { Map as PersistentMap } from 'immutable'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import type { EXIT_REASONS } from '../events/trading.ts'
import type { IntentId, OrderId, PositionId, Timestamp, CanonicalSymbol } from '../shared/brand.ts'
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
} from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { omsEvent } from './oms-event.ts'

export type ExitReason = (typeof EXIT_REASONS)[number]
export type Trigger = NonNullable<PayloadOf<'execution.position_closed.v1'>['trigger']>

/** In parts that change together: terms never, the holding with fills, the mark with every price. */
interface PositionFields {
  readonly id: PositionId
  readonly terms: Terms
  readonly holding: Holding
  readonly mark: Mark
}

export interface HeldPosition extends PositionFields {
  /** `open` until its entry is done, `degrading` when most of the distance to the stop is lost. */
  readonly status: 'open' | 'monitoring' | 'degrading'
  readonly blockedExit: BlockedExit | null
  /** What of it was sold at the venue by hand; absent for nothing. */
  readonly sold?: Sold
}

/** An exit was ordered; it stays so until the whole quantity is sold, however many attempts that takes. */
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
  /** The stop follows the best price at this distance; undefined for a stop that stays. */
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
  /** Found at the venue and not opened here: only an operator closes it. */
  | { readonly kind: 'adopted' }

export interface Holding {
  readonly quantity: Quantity
  readonly notional: Usd
  readonly costBasis: CostBasis
  readonly entryPrice: Price
  readonly isEntryDone: boolean
  /** The newest protective stop that was ordered for it, and the how manieth; null if there was none. */
  readonly stop: { readonly orderId: OrderId; readonly count: number } | null
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly lossAtStop: Usd
  /** Of entry and exit. */
  readonly fees: Usd
  readonly funding: Usd
}

/** Who closed a position by hand, and why. */
export interface ClosedBy {
  readonly operator: string
  readonly note: string | null
}

/** A part of a position that is held no more; its result counts when the position is closed. */
export interface Sold {
  readonly quantity: Quantity
  readonly notional: Usd
  readonly costBasis: CostBasis
}

/** What of an exit is filled, over all its attempts, and what was sold by hand before. */
export interface ExitProgress extends Sold {
  /** Of the newest attempt. */
  readonly orderId: OrderId
  readonly attempt: number
  /** Attempts that never left, or that the venue turned away unread. */
  readonly unsent: number
  /** The newest alert that it has not succeeded yet. */
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
  /** As parts of the entry price. */
  readonly maxAdverseExcursion: number
  readonly maxFavorableExcursion: number
}

/** A stop or target that was hit while the kill switch blocks exits, until an operator acts. */
export interface BlockedExit {
  readonly at: Timestamp
  readonly repeat: number
  readonly reason: 'stop' | 'target'
}

/** Open ones, and the newest of those that are closed. */
export type Positions = PersistentMap<PositionId, Position>

export const INITIAL_POSITIONS: Positions = PersistentMap()

export const isOpen = (position: Position): position is OpenPosition =>
  position.status !== 'closed' && position.status !== 'liquidated'

export const isAdopted = ({ terms }: PositionFields): boolean => terms.origin.kind === 'adopted'

/** Whether a rule of this name proposed it; see `proposeTrade`. */
export const isOpenedBy = (position: PositionFields, rule: string): boolean => ruleOf(position) === rule

export const isOpenedByBrain = (position: PositionFields): boolean =>
  !isAdopted(position) && ruleOf(position) === null

/** The strategy that proposed it; null for the brain, and for adopted positions. */
export const ruleOf = (position: PositionFields | undefined): string | null =>
  position?.terms.origin.kind === 'intent' ? ruleIn(position.terms.origin.convictionId) : null

/** Of a strategy it is its name and the time, see `proposeTrade`; of the brain the id of an event. */
export const ruleIn = (convictionId: string): string | null => {
  const end = convictionId.indexOf(':')
  return end === -1 ? null : convictionId.slice(0, end)
}

/** The order that opened it; null for adopted positions. */
export const entryOrderOf = ({ terms: { origin } }: PositionFields): OrderId | null =>
  origin.kind === 'intent' ? origin.orderId : null

/** What is still held of a position that may be on its way out. */
export const quantityLeft = (position: OpenPosition): Quantity =>
  minus(position.holding.quantity, soldOf(position).quantity)

export const soldOf = (position: OpenPosition): Sold =>
  position.status === 'closing' ? position.exit : (position.sold ?? NOTHING_SOLD)

/** The part that is left of an amount of the whole position. */
export const leftOf = (position: OpenPosition, amount: Usd): Usd =>
  ((amount * quantityLeft(position)) / position.holding.quantity) as Usd

/** Of one on its way out the whole: its exit has not ended. */
export const shownQuantity = (position: Position): Quantity =>
  isOpen(position) && position.status !== 'closing' ? quantityLeft(position) : position.holding.quantity

/** A price as a position sees it. The range of a bar counts only for positions that were open through all of it. */
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

/** The position at a new price. */
export const markedAt = <Of extends OpenPosition>(
  position: Of,
  { price, atMs, low, high }: PriceRange,
): Of => {
  const isLong = position.terms.direction === 'long'
  const worst = returnAt(position, isLong ? low : high)
  const best = returnAt(position, isLong ? high : low)
  const { maxAdverseExcursion, maxFavorableExcursion } = position.mark
  return withMark(position, {
    price,
    atMs,
    maxAdverseExcursion: r9(Math.max(maxAdverseExcursion, -worst)),
    maxFavorableExcursion: r9(Math.max(maxFavorableExcursion, best)),
  })
}

/** Worth what its mark says, of what is left of it: to be called after every change of mark, holding or exit. */
export const valued = <Of extends OpenPosition>(position: Of): Of => withMark(position, position.mark)

const withMark = <Of extends OpenPosition>(
  position: Of,
  seen: Pick<Mark, 'price' | 'atMs' | 'maxAdverseExcursion' | 'maxFavorableExcursion'>,
): Of => {
  const { terms, holding } = position
  const sold = soldOf(position)
  const exposure = notionalOf(seen.price, minus(holding.quantity, sold.quantity))
  const gain = minus(plus(sold.notional, exposure), holding.notional)
  const mark: Mark = {
    ...position.mark,
    ...seen,
    unrealized: signed(terms.direction, gain),
    exposure,
    margin: marginOf(holding.notional, terms.leverage),
  }
  return { ...position, mark }
}

const NOTHING_SOLD: Sold = { quantity: NO_QUANTITY, notional: NO_USD, costBasis: NO_COST_BASIS }

/** What a price gains, as a part of the entry price; negative for a loss. */
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
