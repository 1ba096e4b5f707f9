import type { PayloadOf } from '../events/catalogue.ts'
import { unitsFrom, usdFrom } from '../shared/money.ts'
import { newPosition } from './new-position.ts'
import type { Holding, Position, Terms } from './positions.ts'

/** A position that nobody here opened. It has neither stop nor target. */
export const adopted = (payload: PayloadOf<'execution.position_adopted.v1'>, openedAt: string): Position => {
  const quantity = unitsFrom(payload.quantity)
  const entryPrice = unitsFrom(payload.entry_price)
  const terms: Terms = {
    orderId: '',
    intentId: '',
    convictionId: '',
    platform: payload.venue,
    asset: payload.asset,
    direction: payload.direction,
    leverage: payload.leverage,
    marginType: 'isolated',
    openedAt,
    regimeAtEntry: '',
    pcsAtEntry: null,
    ctsAtEntry: null,
    isAdopted: true,
  }
  const holding: Holding = {
    quantity,
    notional: usdFrom(payload.size_notional),
    costBasis: entryPrice * quantity,
    entryPrice,
    isEntryDone: true,
    stopLoss: null,
    takeProfit: null,
    lossAtStop: usdFrom(payload.loss_at_stop_usd),
    fees: 0n,
    funding: 0n,
    exit: null,
  }
  return newPosition(payload.position_id, terms, holding, payload.mark_price)
}
