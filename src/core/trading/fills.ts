import type { Configuration } from '../config/schema.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import type { IntentId, OrderId, PositionId } from '../shared/brand.ts'
import {
  feeOf,
  minus,
  movedPrice,
  NO_USD,
  notionalOf,
  plus,
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
} from '../shared/money.ts'
import { omsEvent } from './oms-event.ts'

export interface Fill {
  readonly price: Price
  readonly quantity: Quantity
  readonly notional: Usd
  readonly fee: Usd
}

export type PaperCosts = Pick<Configuration['execution'], 'paper_slippage_bps' | 'paper_fee_bps'>

/** The paper venue: a little worse than the price, and never for free. */
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

/** Stop and target from the average fill, and what the stop would cost. */
export const levelsOf = (
  intent: Pick<PayloadOf<'execution.trade_intent.v1'>, 'direction' | 'stop_loss_pct' | 'take_profit_pct'>,
  { price, quantity, notional }: Pick<Fill, 'price' | 'quantity' | 'notional'>,
  costs: PaperCosts,
): Levels => {
  const { direction, take_profit_pct: targetPct } = intent
  const sign = signOf(direction)
  const stopLoss = stopAt(intent, price)
  return {
    stopLoss,
    takeProfit: targetPct === null ? null : beyond(price, Number(sign) * targetPct, sign),
    lossAtStop: stopLoss === null ? notional : lossAt(direction, { quantity, notional }, stopLoss, costs),
  }
}

/** What each USD of an entry comes to at the prices it would have. */
export interface PerUsd {
  readonly lossAtStop: number
  /** Slippage and fee, lost at once: limits have to hold on the equity that is left. */
  readonly cost: number
  /** At the mark. */
  readonly exposure: number
}

/** The same for each USD of an entry that is yet to be sized. */
export const perUsdOf = (
  intent: Pick<PayloadOf<'execution.trade_intent.v1'>, 'direction' | 'stop_loss_pct'>,
  mid: Price,
  costs: PaperCosts,
): PerUsd => {
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

/** A stop that follows the best price, and what it would cost; null while it stays where it is. */
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
  {
    direction,
    stop_loss_pct: pct,
  }: Pick<PayloadOf<'execution.trade_intent.v1'>, 'direction' | 'stop_loss_pct'>,
  entry: Price,
): Price | null => {
  if (pct === null) return null
  const sign = signOf(direction)
  return beyond(entry, -Number(sign) * pct, -sign)
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

/** However coarse a price is, a level lies on its own side of it, and is a price. */
const beyond = (price: Price, share: number, side: bigint): Price => {
  const moved = movedPrice(price, share)
  if (side > 0n) return moved > price ? moved : plus(price, SMALLEST_PRICE)
  const below = moved < price ? moved : minus(price, SMALLEST_PRICE)
  return below > 0n ? below : NO_PRICE
}
