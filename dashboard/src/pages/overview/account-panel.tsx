import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Portfolio } from '../../api/trading.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatUsd } from '../../ui/format.ts'
import { Percent, Pnl, Stat, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'

export const AccountPanel = ({ className }: { readonly className?: string }) => {
  const query = useQuery(queries.portfolio())
  return (
    <QueryPanel
      title="Account"
      query={query}
      {...(className === undefined ? {} : { className })}
      actions={query.data === undefined ? null : <ModeBadge mode={query.data.mode} />}
    >
      {(portfolio) => <Figures portfolio={portfolio} />}
    </QueryPanel>
  )
}

const ModeBadge = ({ mode }: { readonly mode: Portfolio['mode'] }) => (
  <Badge tone={mode === 'live' ? 'warn' : 'accent'}>{mode === 'live' ? 'live money' : 'paper'}</Badge>
)

const Figures = ({ portfolio }: { readonly portfolio: Portfolio }) => {
  const dayPnl = portfolio.equity_usd - portfolio.day_start_equity_usd
  const dayShare = portfolio.day_start_equity_usd > 0 ? dayPnl / portfolio.day_start_equity_usd : 0
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6">
      <Stat label="Equity" note={`started with ${formatUsd(portfolio.start_balance_usd)}`}>
        <Usd value={portfolio.equity_usd} />
      </Stat>
      <Stat label="Today (since 00:00 UTC)" note={<Percent value={dayShare} toned />}>
        <Pnl value={dayPnl} />
      </Stat>
      <Stat label="Unrealized" note={`${portfolio.open_positions} open`}>
        <Pnl value={portfolio.unrealized_pnl_usd} />
      </Stat>
      <Stat label="Realized, net" note={`fees ${formatUsd(portfolio.fees_usd)}`}>
        <Pnl value={portfolio.realized_pnl_usd} />
      </Stat>
      <Stat label="Drawdown" note={`peak ${formatUsd(portfolio.peak_equity_usd)}`}>
        <Percent value={portfolio.drawdown} />
      </Stat>
      <Stat label="Exposure" note={`margin ${formatUsd(portfolio.margin_usd)}`}>
        <Usd value={portfolio.exposure_usd} />
      </Stat>
    </dl>
  )
}
