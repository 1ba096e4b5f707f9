import { viewPortfolio, type PortfolioView } from '../../../core/views/portfolio.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { readState } from '../store.ts'
import type { Style } from '../terminal.ts'
import { fields, percent, profit, usd, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description('Shows equity, cash and profit, and how far the account is from its limits.')
    .addHelpText('after', examples('svc portfolio', 'svc portfolio --json'))
    .action(run((invocation) => showPortfolio(invocation)))
}

const showPortfolio = async ({ dependencies, print }: Invocation): Promise<void> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const view = viewPortfolio(await readState(dependencies), configuration, isoNow(dependencies.clock))
  await print.result(view, (style) => portfolioText(view, style))
}

const portfolioText = (view: PortfolioView, style: Style): string => {
  const { limits } = view
  const exposureMax = limits.max_leverage * view.equity_usd
  return fields(
    [
      ['Equity', `${usd(view.equity_usd)} (${view.account})`],
      ...liveField(view),
      ['Cash', usd(view.cash_usd)],
      ['Realized', profit(view.realized_pnl_usd)],
      ['Unrealized', profit(view.unrealized_pnl_usd)],
      ['Fees', usd(view.fees_usd)],
      ['Funding', usd(view.funding_usd)],
      ['Open positions', String(view.open_positions)],
      ['Exposure', against(view.exposure_usd, exposureMax, usd)],
      ['Margin', usd(view.margin_usd)],
      [
        'Heat',
        against(view.heat, Math.min(limits.max_portfolio_heat_pct, limits.l2_portfolio_heat_pct), percent),
      ],
      ['Peak', usd(view.peak_equity_usd)],
      [
        'Drawdown',
        against(view.drawdown, Math.min(limits.max_drawdown_pct, limits.l3_max_drawdown_pct), percent),
      ],
      ['Day began at', usd(view.day_start_equity_usd)],
      ['Day loss', against(view.day_loss, dayLossMax(limits), percent)],
      ['Loss streak', streak(view)],
    ],
    style,
  )
}

const liveField = ({ live }: PortfolioView): readonly Row[] => {
  if (live === null) return []
  const text = live.sends_entries ? 'are sent' : `are held back: ${live.held_back_by.join(', ')}`
  return [['Real entries', warning(text)]]
}

const against = (value: number, max: number, written: (value: number) => string): Cell => {
  const text = `${written(value)} of ${written(max)}`
  return value >= max ? warning(text) : text
}

/** The limit on entries is off at 0; the kill switch has its own. */
const dayLossMax = ({ daily_loss_limit_pct: limit, l1_daily_loss_pct: trigger }: PortfolioView['limits']) =>
  limit === 0 ? trigger : Math.min(limit, trigger)

const streak = ({ loss_streak: count, limits: { l2_loss_streak: max } }: PortfolioView): Cell => {
  if (max === 0) return String(count)
  return against(count, max, String)
}
