import type { KillSwitchLevel, Portfolio } from '../../api/trading.ts'

type Limits = Portfolio['limits']

/** Entries may not use all of the heat: prices move between the decision and the fill. */
export const heatForEntries = (limits: Limits): number =>
  limits.max_portfolio_heat_pct * limits.heat_open_fraction

/** How much could still be opened, as far as the account alone decides. */
export const roomOf = ({ equity_usd, exposure_usd, heat, limits }: Portfolio) => {
  const exposureUsd = Math.max(0, equity_usd * limits.max_leverage - exposure_usd)
  return {
    exposureUsd,
    heatUsd: Math.max(0, heatForEntries(limits) - heat) * equity_usd,
    positionUsd: Math.min(exposureUsd, equity_usd * limits.max_position_pct),
  }
}

/** Everything that keeps new positions from being opened right now. */
export const whyNoEntries = (portfolio: Portfolio, level: KillSwitchLevel): readonly string[] => {
  const { day_loss, drawdown, limits } = portfolio
  const room = roomOf(portfolio)
  const isOverDayLoss = limits.daily_loss_limit_pct > 0 && day_loss >= limits.daily_loss_limit_pct
  return [
    ...(level >= 2 ? [`kill switch at ${level}`] : []),
    ...(isOverDayLoss ? ['loss of the day'] : []),
    ...(drawdown >= limits.max_drawdown_pct ? ['drawdown'] : []),
    ...(room.heatUsd === 0 ? ['heat'] : []),
    ...(room.exposureUsd === 0 ? ['exposure'] : []),
  ]
}
