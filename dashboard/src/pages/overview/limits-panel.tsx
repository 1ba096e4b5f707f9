import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { formatUsd } from '../../ui/format.ts'
import { Meter } from '../../ui/meter.tsx'
import { QueryPanel } from '../../ui/panel.tsx'

export const LimitsPanel = () => {
  const query = useQuery(queries.portfolio())
  return (
    <QueryPanel title="Against the limits" query={query}>
      {({ day_loss, heat, drawdown, exposure_usd, equity_usd, limits }) => (
        <div className="grid gap-3">
          <Meter label="Heat (loss at all stops)" value={heat} limit={limits.max_portfolio_heat_pct} />
          <Meter label="Loss today" value={day_loss} limit={limits.daily_loss_limit_pct} />
          <Meter label="Drawdown" value={drawdown} limit={limits.max_drawdown_pct} />
          <Meter
            label="Exposure"
            value={exposure_usd}
            limit={equity_usd * limits.max_leverage}
            format={formatUsd}
          />
        </div>
      )}
    </QueryPanel>
  )
}
