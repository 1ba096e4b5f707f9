import type { PayloadOf } from '../../events/catalogue.ts'
import type { Timestamp } from '../../shared/brand.ts'
import { costOf, NO_USD, priceFrom, priceOrNull, quantityFrom, usdFrom } from '../../shared/money.ts'
import { valued, type HeldPosition, type Holding, type Terms } from './positions.ts'

export const opened = (
  payload: PayloadOf<'execution.position_opened.v1'>,
  openedAt: Timestamp,
): HeldPosition => {
  const { trailing_pct: trailingPct } = payload
  const terms = {
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
    marginType: payload.margin_type,
    openedAt,
    ...(trailingPct === undefined ? {} : { trailingPct }),
  } as const
  return newPosition(payload, terms, {
    isEntryDone: payload.remaining_size === 0,
    stopLoss: priceOrNull(payload.stop_loss),
    takeProfit: priceOrNull(payload.take_profit),
    fees: usdFrom(payload.fees_usd),
  })
}

/** An adopted position, which has neither stop nor target. */
export const adopted = (
  payload: PayloadOf<'execution.position_adopted.v1'>,
  openedAt: Timestamp,
): HeldPosition =>
  newPosition(
    payload,
    { origin: { kind: 'adopted' }, platform: payload.venue, marginType: 'isolated', openedAt },
    { isEntryDone: true, stopLoss: null, takeProfit: null, fees: NO_USD },
  )

/** A new position, valued at the price when it was opened. */
const newPosition = (
  payload: PayloadOf<'execution.position_opened.v1'> | PayloadOf<'execution.position_adopted.v1'>,
  terms: Omit<Terms, 'asset' | 'direction' | 'leverage'>,
  holding: Pick<Holding, 'isEntryDone' | 'stopLoss' | 'takeProfit' | 'fees'>,
): HeldPosition => {
  const { position_id: id, asset, direction, leverage } = payload
  const quantity = quantityFrom(payload.quantity)
  const entryPrice = priceFrom(payload.entry_price)
  return valued({
    id,
    status: 'open',
    terms: { ...terms, asset, direction, leverage },
    holding: {
      ...holding,
      quantity,
      notional: usdFrom(payload.size_notional),
      costBasis: costOf(entryPrice, quantity),
      entryPrice,
      stop: null,
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
      funding: NO_USD,
    },
    mark: {
      price: priceFrom(payload.mark_price),
      atMs: Date.parse(terms.openedAt),
      unrealized: NO_USD,
      exposure: NO_USD,
      margin: NO_USD,
      maxAdverseExcursion: 0,
      maxFavorableExcursion: 0,
    },
    blockedExit: null,
  })
}
