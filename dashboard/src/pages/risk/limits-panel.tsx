import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Portfolio } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Badge } from '../../ui/badge.tsx'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Gauge } from '../../ui/gauge.tsx'
import { Stat, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'

export const LimitsPanel = () => {
  const query = useQuery(queries.portfolio())
  return (
    <QueryPanel
      title="Limits"
      query={query}
      actions={
        <PageLink to="/settings" search={{ section: 'risk' }}>
          Change limits
        </PageLink>
      }
    >
      {(portfolio) => (
        <div className="grid gap-4">
          <Entries portfolio={portfolio} />
          <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
            <AccountGauges portfolio={portfolio} />
            <LargestPosition portfolio={portfolio} />
            <CrisisVotes />
          </div>
        </div>
      )}
    </QueryPanel>
  )
}

/** Whether new positions are allowed, and their maximum size. */
const Entries = ({ portfolio }: { readonly portfolio: Portfolio }) => {
  const { data: brain } = useQuery(queries.brainStatus())
  const { data: live } = useQuery(queries.live())
  const isHeldBack = live?.mode === 'live' && !live.sends_entries
  const reasons = [
    ...whyNoEntries(portfolio, brain?.kill_switch_level ?? 0),
    ...(isHeldBack ? ['live trading is held back'] : []),
  ]
  const headroom = headroomOf(portfolio)
  // Entries are shown as allowed only if all facts are known.
  const isKnown = brain !== undefined && live !== undefined
  const [tone, text, note] =
    reasons.length > 0
      ? (['bad', 'stopped', reasons.join(', ')] as const)
      : isKnown
        ? (['good', 'allowed', 'no limit is reached'] as const)
        : (['neutral', 'unknown', 'kill switch and mode are not known yet'] as const)
  return (
    <dl className="grid grid-cols-2 gap-4 border-b border-line pb-4 sm:grid-cols-4">
      <Stat label="New positions" note={note}>
        <Badge tone={tone}>{text}</Badge>
      </Stat>
      <Stat label="Largest new position" note="of any one symbol">
        <Usd value={headroom.positionUsd} />
      </Stat>
      <Stat label="Heat left" note="loss at stops that may be added">
        <Usd value={headroom.heatUsd} />
      </Stat>
      <Stat label="Exposure left" note={`${formatUsd(portfolio.equity_usd)} equity`}>
        <Usd value={headroom.exposureUsd} />
      </Stat>
    </dl>
  )
}

const AccountGauges = ({ portfolio }: { readonly portfolio: Portfolio }) => {
  const { day_loss, drawdown, heat, exposure_usd, equity_usd, loss_streak, limits } = portfolio
  return (
    <>
      <Gauge
        label="Loss since 00:00 UTC"
        value={Math.max(0, day_loss)}
        thresholds={[
          { at: limits.daily_loss_limit_pct, effect: 'entries stop' },
          { at: limits.l1_daily_loss_pct, effect: 'level 1' },
        ]}
      />
      <Gauge
        label="Drawdown from the peak"
        value={drawdown}
        thresholds={[
          { at: limits.max_drawdown_pct, effect: 'entries stop' },
          { at: limits.l3_max_drawdown_pct, effect: 'level 3' },
        ]}
      />
      <Gauge
        label="Heat (loss at all stops)"
        value={heat}
        thresholds={[
          { at: heatForEntries(limits), effect: 'entries stop' },
          { at: limits.l2_portfolio_heat_pct, effect: 'level 2' },
        ]}
      />
      <Gauge
        label="Exposure"
        value={exposure_usd}
        thresholds={[{ at: equity_usd * limits.max_leverage, effect: 'entries stop' }]}
        format={formatUsd}
      />
      <Gauge
        label="Losing closes in a row"
        value={loss_streak}
        thresholds={[{ at: limits.l2_loss_streak, effect: 'level 2' }]}
        format={formatCount}
      />
    </>
  )
}

const LargestPosition = ({ portfolio }: { readonly portfolio: Portfolio }) => {
  const { data: positions } = useQuery(queries.positions('open'))
  const largest = (positions ?? []).reduce<{ asset: string; usd: number } | null>((best, position) => {
    const usd = position.quantity * (position.mark_price ?? position.entry_price)
    return best === null || usd > best.usd ? { asset: position.asset, usd } : best
  }, null)
  return (
    <Gauge
      label={largest === null ? 'Largest position' : `Largest position, ${largest.asset}`}
      value={shareOf(portfolio, positions === undefined ? null : (largest?.usd ?? 0))}
      thresholds={[{ at: portfolio.limits.max_position_pct, effect: 'no larger entry' }]}
    />
  )
}

/** Share of equity. Null if the amount is unknown or equity is not positive. */
const shareOf = ({ equity_usd }: Portfolio, usd: number | null): number | null =>
  usd === 0 ? 0 : usd === null || equity_usd <= 0 ? null : usd / equity_usd

const CrisisVotes = () => {
  const { data: regime } = useQuery(queries.regime())
  const { data: configuration } = useQuery(queries.config())
  return (
    <Gauge
      label="Crisis votes of the regime"
      value={regime?.conditions['crisis_votes'] ?? null}
      thresholds={[{ at: configuration?.kill_switch.l3_crisis_threshold ?? 0, effect: 'level 3' }]}
      format={formatCount}
    />
  )
}

type Limits = Portfolio['limits']

/** Heat that entries may use. Not all of it, because prices move between the decision and the fill. */
const heatForEntries = (limits: Limits): number => limits.max_portfolio_heat_pct * limits.heat_open_fraction

/** Remaining room for new positions, as far as the account limits it. */
const headroomOf = ({ equity_usd, exposure_usd, heat, limits }: Portfolio) => {
  const exposureUsd = Math.max(0, equity_usd * limits.max_leverage - exposure_usd)
  return {
    exposureUsd,
    heatUsd: Math.max(0, heatForEntries(limits) - heat) * equity_usd,
    positionUsd: Math.min(exposureUsd, equity_usd * limits.max_position_pct),
  }
}

/** All reasons that block new positions now. */
const whyNoEntries = (portfolio: Portfolio, level: number): readonly string[] => {
  const { day_loss, drawdown, limits } = portfolio
  const headroom = headroomOf(portfolio)
  const isOverDayLoss = limits.daily_loss_limit_pct > 0 && day_loss >= limits.daily_loss_limit_pct
  return [
    ...(level >= 2 ? [`kill switch at ${level}`] : []),
    ...(isOverDayLoss ? ['daily loss'] : []),
    ...(drawdown >= limits.max_drawdown_pct ? ['drawdown'] : []),
    ...(headroom.heatUsd === 0 ? ['heat'] : []),
    ...(headroom.exposureUsd === 0 ? ['exposure'] : []),
  ]
}
