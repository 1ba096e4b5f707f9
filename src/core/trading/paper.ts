import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import {
  feeOf,
  movedPrice,
  notionalOf,
  ratioOf,
  signOf,
  slippedPrice,
  unitsNumber,
  usdNumber,
} from '../shared/money.ts'
import type { Direction, Price, Quantity, Usd } from '../shared/money.ts'
import type { PerUsd } from './sizing.ts'

export interface Fill {
  readonly price: Price
  readonly quantity: Quantity
  readonly notional: Usd
  readonly fee: Usd
}

export interface PaperCosts {
  readonly paper_slippage_bps: number
  readonly paper_fee_bps: number
}

/** The paper venue: a little worse than the price, and never for free. */
export const paperFill = (side: 'buy' | 'sell', quantity: Quantity, mid: Price, costs: PaperCosts): Fill => {
  const price = slippedPrice(mid, side, costs.paper_slippage_bps)
  const notional = notionalOf(price, quantity)
  return { price, quantity, notional, fee: feeOf(notional, costs.paper_fee_bps) }
}

export const filledEvent = (
  order: {
    readonly id: string
    readonly positionId: string
    readonly intentId: string | null
    readonly traceId?: string
  },
  fill: Fill,
  {
    fillNo,
    remaining,
    venueTradeId = null,
  }: { readonly fillNo: number; readonly remaining: Quantity; readonly venueTradeId?: string | null },
): NewEvent => ({
  type: 'execution.order_filled.v1',
  source: 'oms',
  ...(order.traceId === undefined ? {} : { traceId: order.traceId }),
  payload: {
    order_id: order.id,
    position_id: order.positionId,
    intent_id: order.intentId,
    fill_price: unitsNumber(fill.price),
    fill_size: unitsNumber(fill.quantity),
    fee_usd: usdNumber(fill.fee),
    fill_no: fillNo,
    notional_usd: usdNumber(fill.notional),
    remaining_size: unitsNumber(remaining),
    venue_trade_id: venueTradeId,
  },
})

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
  const lost = exit === null ? 0n : signOf(intent.direction) * (entry - exit)
  const worst = exit === null ? 1 : Math.max(0, ratioOf(lost, entry)) + ratioOf(exit, entry) * fee
  return {
    lossAtStop: worst,
    cost: Math.abs(ratioOf(entry - mid, entry)) + fee,
    exposure: ratioOf(mid, entry),
  }
}

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
  const loss = signOf(direction) * (notional - exit.notional)
  return (loss > 0n ? loss : 0n) + exit.fee
}

/** However coarse a price is, a level lies on its own side of it, and is a price. */
const beyond = (price: Price, share: number, side: bigint): Price => {
  const moved = movedPrice(price, share)
  if (side > 0n) return moved > price ? moved : price + 1n
  const below = moved < price ? moved : price - 1n
  return below > 0n ? below : 0n
}
