import { viewPortfolio, type PortfolioView } from '../../../core/views/portfolio.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { runsAsOf } from '../as-of.ts'
import type { DefineCommand } from '../command.ts'
import { fields, percent, profit, usd, warning, type Cell } from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command) => {
  command
    .description('Shows equity, cash and profit, and how far the account is from its limits.')
    .examples('svc portfolio', 'svc portfolio --json', 'svc portfolio --as-of 2026-02-20T14:30:00Z')
  runsAsOf(command, ({ state, configuration, clock }) => {
    const view = viewPortfolio(state, configuration, isoNow(clock))
    return { document: view, text: portfolioText(view) }
  })
}

const portfolioText = (view: PortfolioView): Text => {
  const { limits, live } = view
  const heatMax = Math.min(limits.max_portfolio_heat_pct, limits.l2_portfolio_heat_pct)
  const drawdownMax = Math.min(limits.max_drawdown_pct, limits.l3_max_drawdown_pct)
  // The limit on entries is off at 0; the kill switch has its own.
  const dayLossMax = Math.min(limits.daily_loss_limit_pct || Infinity, limits.l1_daily_loss_pct)
  const streakMax = limits.l2_loss_streak
  return fields([
    ['Equity', `${usd(view.equity_usd)} (${view.account})`],
    ['Real entries', live === null ? null : warning(entriesText(live))],
    ['Cash', usd(view.cash_usd)],
    ['Moved by hand', view.capital_moved_usd === 0 ? null : usd(view.capital_moved_usd)],
    ['Unexplained losses', view.unexplained_loss_usd === 0 ? null : profit(view.unexplained_loss_usd)],
    ['Unexplained at the venue', view.unexplained_usd === 0 ? null : usd(view.unexplained_usd)],
    ['Realized', profit(view.realized_pnl_usd)],
    ['Unrealized', profit(view.unrealized_pnl_usd)],
    ['Fees', usd(view.fees_usd)],
    ['Funding', usd(view.funding_usd)],
    ['Open positions', view.open_positions],
    ['Exposure', against(view.exposure_usd, limits.max_leverage * view.equity_usd, usd)],
    ['Margin', usd(view.margin_usd)],
    ['Heat', against(view.heat, heatMax, percent)],
    ['Peak', usd(view.peak_equity_usd)],
    ['Drawdown', against(view.drawdown, drawdownMax, percent)],
    ['Day began at', usd(view.day_start_equity_usd)],
    ['Day loss', against(view.day_loss, dayLossMax, percent)],
    ['Loss streak', streakMax === 0 ? view.loss_streak : against(view.loss_streak, streakMax, String)],
  ])
}

const entriesText = (live: NonNullable<PortfolioView['live']>): string =>
  live.sends_entries ? 'are sent' : `are held back: ${live.held_back_by.join(', ')}`

const against = (value: number, max: number, written: (value: number) => string): Cell => {
  const text = `${written(value)} of ${written(max)}`
  return value >= max ? warning(text) : text
}
