import type { Configuration } from '../../config/schema.ts'
import type { NewEvent, PayloadOf } from '../../events/catalogue.ts'
import type { IntentId, OrderId, PositionId } from '../../shared/brand.ts'
import {
  feeOf,
  minus,
  movedPrice,
  NO_USD,
  notionalOf,
  plus,
  priceFrom,
  priceNumber,
  quantityNumber,
  ratioOf,
  signed,
  signOf,
  slippedPrice,
  usdNumber,
  type Direction,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { omsEvent } from './oms-event.ts'

export interface Fill {
  readonly price: Price
  readonly quantity: Quantity
  readonly notional: Usd
  readonly fee: Usd
}

export type PaperCosts = Pick<Configuration['execution'], 'paper_slippage_bps' | 'paper_fee_bps'>

/** Fill at the paper venue: slightly worse than the price, and always with a fee. */
export const paperFill = (side: 'buy' | 'sell', quantity: Quantity, mid: Price, costs: PaperCosts): Fill => {
  const price = slippedPrice(mid, side, costs.paper_slippage_bps)
  const notional = notionalOf(price, quantity)
  return { price, quantity, notional, fee: feeOf(notional, costs.paper_fee_bps) }
}

export const filledEvent = (
  order: {
    readonly id: OrderId
    readonly positionId: PositionId
    readonly intentId: IntentId | null
    readonly traceId?: string
  },
  fill: Fill,
  {
    fillNo,
    remaining,
    venueTradeId = null,
  }: { readonly fillNo: number; readonly remaining: Quantity; readonly venueTradeId?: string | null },
): NewEvent =>
  omsEvent(
    'execution.order_filled.v1',
    {
      order_id: order.id,
      position_id: order.positionId,
      intent_id: order.intentId,
      fill_price: priceNumber(fill.price),
      fill_size: quantityNumber(fill.quantity),
      fee_usd: usdNumber(fill.fee),
      fill_no: fillNo,
      notional_usd: usdNumber(fill.notional),
      remaining_size: quantityNumber(remaining),
      venue_trade_id: venueTradeId,
    },
    order.traceId,
  )

export interface Levels {
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly lossAtStop: Usd
}

type StopTerms = Pick<
  PayloadOf<'execution.trade_intent.v1'>,
  'direction' | 'stop_loss_pct' | 'stop_price' | 'trailing_pct'
>
type TargetTerms = Pick<
  PayloadOf<'execution.trade_intent.v1'>,
  'direction' | 'take_profit_pct' | 'target_price'
>

/**
 * Stop and target from the average fill price, and the loss at the stop. Levels that were requested as prices are kept.
 */
export const levelsOf = (
  intent: StopTerms & TargetTerms,
  { price, quantity, notional }: Pick<Fill, 'price' | 'quantity' | 'notional'>,
  costs: PaperCosts,
): Levels => {
  const { direction } = intent
  const stopLoss = stopAt(intent, price)
  return {
    stopLoss,
    takeProfit: targetAt(intent, price),
    lossAtStop: stopLoss === null ? notional : lossAt(direction, { quantity, notional }, stopLoss, costs),
  }
}

/** Whether a fill at this price would be at or beyond a stop or target that was requested as a price. */
export const levelsPassed = (intent: StopTerms & TargetTerms, entry: Price) => {
  const isLong = intent.direction === 'long'
  const { stop_price: stop, target_price: target } = intent
  return {
    stop: stop !== undefined && (isLong ? priceFrom(stop) >= entry : priceFrom(stop) <= entry),
    target: target !== undefined && (isLong ? priceFrom(target) <= entry : priceFrom(target) >= entry),
  }
}

/**
 * Distance at which the stop follows the best price. For a stop that was requested as a price, its distance from the
 * fill.
 */
export const trailingShareOf = (intent: StopTerms, entry: Price): number | undefined => {
  const { trailing_pct: share, stop_price: stop } = intent
  if (share === undefined || stop === undefined) return share
  return r9(Math.abs(ratioOf(minus(entry, priceFrom(stop)), entry)))
}

/** Effect of each USD of an entry, at its estimated prices. */
export interface PerUsd {
  readonly lossAtStop: number
  /** Slippage and fee, which are lost at once: limits must hold on the remaining equity. */
  readonly cost: number
  /** Exposure at the mark. */
  readonly exposure: number
}

/** Estimates `PerUsd` for an entry that is not sized yet. */
export const perUsdOf = (intent: StopTerms, mid: Price, costs: PaperCosts): PerUsd => {
  const isLong = intent.direction === 'long'
  const entry = slippedPrice(mid, isLong ? 'buy' : 'sell', costs.paper_slippage_bps)
  const stop = stopAt(intent, entry)
  const exit = stop === null ? null : slippedPrice(stop, isLong ? 'sell' : 'buy', costs.paper_slippage_bps)
  const fee = costs.paper_fee_bps / 10_000
  const lost = exit === null ? 0n : signed(intent.direction, minus(entry, exit))
  const worst = exit === null ? 1 : Math.max(0, ratioOf(lost, entry)) + ratioOf(exit, entry) * fee
  return {
    lossAtStop: worst,
    cost: Math.abs(ratioOf(minus(entry, mid), entry)) + fee,
    exposure: ratioOf(mid, entry),
  }
}

/** The trailed stop and the loss at it; null while the stop stays unchanged. */
export const trailedStop = (
  position: {
    readonly direction: Direction
    readonly trailingPct: number
    readonly stop: Price
    readonly quantity: Quantity
    readonly notional: Usd
  },
  best: Price,
  costs: PaperCosts,
): { readonly stopLoss: Price; readonly lossAtStop: Usd } | null => {
  const { direction, trailingPct, stop } = position
  const sign = signOf(direction)
  const stopLoss = beyond(best, -Number(sign) * trailingPct, -sign)
  const step = ratioOf(signed(direction, minus(stopLoss, stop)), best)
  // Smaller steps would only fill the log.
  if (step < trailingPct * TRAILING_STEP) return null
  return { stopLoss, lossAtStop: lossAt(direction, position, stopLoss, costs) }
}

const TRAILING_STEP = 0.02

const stopAt = (
  { direction, stop_loss_pct: pct, stop_price: price }: StopTerms,
  entry: Price,
): Price | null => {
  if (price !== undefined) return priceFrom(price)
  if (pct === null) return null
  const sign = signOf(direction)
  return beyond(entry, -Number(sign) * pct, -sign)
}

const targetAt = (
  { direction, take_profit_pct: pct, target_price: price }: TargetTerms,
  entry: Price,
): Price | null => {
  if (price !== undefined) return priceFrom(price)
  if (pct === null) return null
  const sign = signOf(direction)
  return beyond(entry, Number(sign) * pct, sign)
}

const lossAt = (
  direction: Direction,
  { quantity, notional }: Pick<Fill, 'quantity' | 'notional'>,
  stop: Price,
  costs: PaperCosts,
): Usd => {
  const exit = paperFill(direction === 'long' ? 'sell' : 'buy', quantity, stop, costs)
  const loss = signed(direction, minus(notional, exit.notional))
  return plus(loss > 0n ? loss : NO_USD, exit.fee)
}

const SMALLEST_PRICE = 1n as Price
const NO_PRICE = 0n as Price

/** Price of a level. For any price resolution, it lies strictly on its side of the price and is at least zero. */
const beyond = (price: Price, share: number, side: bigint): Price => {
  const moved = movedPrice(price, share)
  if (side > 0n) return moved > price ? moved : plus(price, SMALLEST_PRICE)
  const below = moved < price ? moved : minus(price, SMALLEST_PRICE)
  return below > 0n ? below : NO_PRICE
}
