import type { PayloadOf } from '../events/catalogue.ts'
import type { Timestamp } from '../shared/brand.ts'
import { costOf, NO_USD, priceFrom, priceOrNull, quantityFrom, usdFrom } from '../shared/money.ts'
import { newPosition, type HeldPosition } from './positions.ts'

export const opened = (
  payload: PayloadOf<'execution.position_opened.v1'>,
  openedAt: Timestamp,
): HeldPosition => {
  const quantity = quantityFrom(payload.quantity)
  const entryPrice = priceFrom(payload.entry_price)
  return newPosition(
    payload.position_id,
    {
      origin: {
        kind: 'intent',
        orderId: payload.order_id,
        intentId: payload.intent_id,
        convictionId: payload.conviction_id,
        regimeAtEntry: payload.regime_at_entry,
        pcsAtEntry: payload.pcs_at_entry,
        ctsAtEntry: payload.cts_at_entry,
      },
      platform: payload.platform,
      asset: payload.asset,
      direction: payload.direction,
      leverage: payload.leverage,
      marginType: payload.margin_type,
      openedAt,
      ...(payload.trailing_pct === undefined ? {} : { trailingPct: payload.trailing_pct }),
    },
    {
      quantity,
      notional: usdFrom(payload.size_notional),
      costBasis: costOf(entryPrice, quantity),
      entryPrice,
      isEntryDone: payload.remaining_size === 0,
      stop: null,
      stopLoss: priceOrNull(payload.stop_loss),
      takeProfit: priceOrNull(payload.take_profit),
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
      fees: usdFrom(payload.fees_usd),
      funding: NO_USD,
    },
    priceFrom(payload.mark_price),
  )
}

/** It has neither stop nor target. */
export const adopted = (
  payload: PayloadOf<'execution.position_adopted.v1'>,
  openedAt: Timestamp,
): HeldPosition => {
  const quantity = quantityFrom(payload.quantity)
  const entryPrice = priceFrom(payload.entry_price)
  return newPosition(
    payload.position_id,
    {
      origin: { kind: 'adopted' },
      platform: payload.venue,
      asset: payload.asset,
      direction: payload.direction,
      leverage: payload.leverage,
      marginType: 'isolated',
      openedAt,
    },
    {
      quantity,
      notional: usdFrom(payload.size_notional),
      costBasis: costOf(entryPrice, quantity),
      entryPrice,
      isEntryDone: true,
      stop: null,
      stopLoss: null,
      takeProfit: null,
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
      fees: NO_USD,
      funding: NO_USD,
    },
    priceFrom(payload.mark_price),
  )
}
