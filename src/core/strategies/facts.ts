import type { Timestamp } from '../shared/brand.ts'
import { priceNumber, priceNumberOrNull, quantityNumber, usdNumber } from '../shared/money.ts'
import { accountStatusOf } from '../trading/risk/account.ts'
import { openPositionsOf } from '../trading/positions/book.ts'
import type { TradingState } from '../trading/evolve.ts'
import { isOpenedBy, shownQuantity, type OpenPosition } from '../trading/positions/positions.ts'
import type { AccountFacts } from './run-strategy.ts'
import type { PositionView } from './strategy.ts'

/** Account data for the strategy of this name. All values are copies, which lead to no object of the state. */
export const accountFacts = (trading: TradingState, now: Timestamp, name: string): AccountFacts => {
  const { equity, exposure, dayLoss, drawdown } = accountStatusOf(trading, now)
  return {
    positions: Object.freeze(openPositionsOf(trading).map((position) => viewOf(position, name))),
    account: Object.freeze({
      equityUsd: usdNumber(equity),
      exposureUsd: usdNumber(exposure),
      dayLoss,
      drawdown,
      killSwitchLevel: trading.killSwitch.level,
    }),
  }
}

const viewOf = (position: OpenPosition, name: string): PositionView => {
  const { terms, holding, mark } = position
  return Object.freeze({
    symbol: terms.asset,
    side: terms.direction,
    own: isOpenedBy(position, name),
    entryPrice: priceNumber(holding.entryPrice),
    price: priceNumber(mark.price),
    quantity: quantityNumber(shownQuantity(position)),
    notionalUsd: usdNumber(holding.notional),
    unrealizedUsd: usdNumber(mark.unrealized),
    openedMs: Date.parse(terms.openedAt),
    stop: priceNumberOrNull(holding.stopLoss),
    target: priceNumberOrNull(holding.takeProfit),
  })
}
