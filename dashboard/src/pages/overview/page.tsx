import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import type { BrainStatus, EquityHistory, Portfolio, Position } from '../../api/types.ts'
import { useRunCycle } from '../../app/command-palette.tsx'
import { openKillSwitch } from '../../app/kill-switch.tsx'
import { OldPriceBadge, OldPricesBadge } from '../../app/old-prices.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { AdoptedBadge, Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Chart } from '../../ui/chart/chart.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatReason, formatUsd } from '../../ui/format.ts'
import { Gauge } from '../../ui/gauge.tsx'
import { Facts } from '../../ui/id.tsx'
import { Percent, Pnl, Price, Stat, Usd } from '../../ui/numbers.tsx'
import { QueryContent, QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { RegimeConditions } from '../brain/regime-panel.tsx'
import { AlertsPanel, HealthPanel, SignalsPanel } from './activity-panels.tsx'

/** Account, positions, brain and health at a glance. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <OperatorNotices />
    <AccountPanel className="lg:col-span-12" />
    <EquityPanel className="lg:col-span-8" />
    <div className="grid content-start gap-3 lg:col-span-4">
      <LimitsPanel />
      <BrainPanel />
    </div>
    <PositionsPanel className="lg:col-span-8" />
    <AlertsPanel className="lg:col-span-4" />
    <SignalsPanel className="lg:col-span-8" />
    <HealthPanel className="lg:col-span-4" />
  </div>
)

/** Notices that only an operator can resolve. */
const OperatorNotices = () => {
  const { data: orders = [], isError: isUnread } = useQuery(queries.orders())
  const { data: live } = useQuery(queries.live())
  const lost = orders.filter(({ needs_operator }) => needs_operator).length
  const adopted = live?.adopted_positions.length ?? 0
  const notices: readonly (readonly [text: string, to: '/risk' | '/positions', isShown: boolean])[] = [
    ['Orders could not be read: some may need an operator', '/risk', isUnread],
    [lost === 1 ? '1 order needs an operator' : `${lost} orders need an operator`, '/risk', lost > 0],
    ['Live trading is reduce only', '/risk', live !== undefined && live.reduce_only !== null],
    [adopted === 1 ? '1 adopted position' : `${adopted} adopted positions`, '/positions', adopted > 0],
  ]
  const shown = notices.filter(([, , isShown]) => isShown)
  if (shown.length === 0) return null
  return (
    <ul
      role="alert"
      aria-label="Operator needed"
      className="flex flex-wrap gap-x-6 gap-y-1 rounded-lg bg-bad-soft px-3 py-2 text-sm font-medium text-bad lg:col-span-12"
    >
      {shown.map(([text, to]) => (
        <li key={text}>
          <PageLink to={to}>{text}</PageLink>
        </li>
      ))}
    </ul>
  )
}

const AccountPanel = ({ className }: { readonly className?: string }) => {
  const query = useQuery(queries.portfolio())
  return (
    <QueryPanel
      title="Account"
      query={query}
      className={className}
      actions={
        query.data === undefined ? null : (
          <>
            <OldPricesBadge />
            <AccountBadge account={query.data.account} />
          </>
        )
      }
    >
      {(portfolio) => <Figures portfolio={portfolio} />}
    </QueryPanel>
  )
}

/** The account of the figures. Until live trading is confirmed it is the paper account, whatever the mode is. */
const AccountBadge = ({ account }: Pick<Portfolio, 'account'>) => {
  if (account === 'paper') return <Badge tone="accent">paper</Badge>
  return account.endsWith('-sandbox') ? (
    <Badge tone="accent">play money</Badge>
  ) : (
    <Badge tone="warn">live money</Badge>
  )
}

const startOf = ({ start_balance_usd: start, capital_moved_usd: moved }: Portfolio): string => {
  const began = `started with ${formatUsd(start)}`
  if (moved === 0) return began
  return `${began}, ${formatUsd(Math.abs(moved))} ${moved > 0 ? 'paid in' : 'withdrawn'} since`
}

const Figures = ({ portfolio }: { readonly portfolio: Portfolio }) => {
  const dayPnl = portfolio.equity_usd - portfolio.day_start_equity_usd
  const dayShare = portfolio.day_start_equity_usd > 0 ? dayPnl / portfolio.day_start_equity_usd : null
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6">
      <Stat label="Equity" note={startOf(portfolio)}>
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

const RANGES = [
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '1 day'],
  ['168', '1 week'],
] as const

/** The service keeps one point per 15 seconds. The newest comes with the account. */
const REFRESH_MS = 15_000

const EquityPanel = ({ className = '' }: { readonly className?: string }) => {
  const [chosen, setHours] = useUrlState('hours', '6')
  const hours = RANGES.some(([range]) => range === chosen) ? chosen : '6'
  const query = useQuery({ ...queries.equity(Number(hours)), refetchInterval: REFRESH_MS })
  return (
    <QueryPanel
      title="Equity"
      className={className}
      query={query}
      actions={<Choice label="Range" value={hours} choices={RANGES} onChoose={setHours} />}
    >
      {(history) => <Curve history={history} />}
    </QueryPanel>
  )
}

const Curve = ({ history }: { readonly history: EquityHistory }) => {
  const { data: portfolio } = useQuery(queries.portfolio())
  const points = useMemo(() => withNewest(history, portfolio), [history, portfolio])
  const series = useMemo(
    () => [
      { kind: 'area' as const, points: points.map(({ ts, equity_usd }) => ({ ts, value: equity_usd })) },
    ],
    [points],
  )
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 2) {
    return <Empty title="No curve yet">It begins a few seconds after the first start.</Empty>
  }
  const label = `Equity from ${formatUsd(first.equity_usd)} to ${formatUsd(last.equity_usd)}`
  return <Chart label={label} series={series} heightPx={356} format={formatUsd} />
}

const withNewest = (
  { as_of, points }: EquityHistory,
  portfolio: Portfolio | undefined,
): EquityHistory['points'] =>
  portfolio === undefined || portfolio.as_of <= as_of
    ? points
    : [...points, { ts: portfolio.as_of, equity_usd: portfolio.equity_usd }]

const limitAt = (at: number) => [{ at, effect: 'limit' }]

const LimitsPanel = () => {
  const query = useQuery(queries.portfolio())
  return (
    <QueryPanel title="Limits" query={query}>
      {({ day_loss, heat, drawdown, exposure_usd, equity_usd, limits }) => (
        <div className="grid gap-3">
          <Gauge
            label="Heat (loss at all stops)"
            value={heat}
            thresholds={limitAt(limits.max_portfolio_heat_pct)}
          />
          <Gauge
            label="Loss today"
            value={Math.max(0, day_loss)}
            thresholds={limitAt(limits.daily_loss_limit_pct)}
          />
          <Gauge label="Drawdown" value={drawdown} thresholds={limitAt(limits.max_drawdown_pct)} />
          <Gauge
            label="Exposure"
            value={exposure_usd}
            thresholds={limitAt(equity_usd * limits.max_leverage)}
            format={formatUsd}
          />
        </div>
      )}
    </QueryPanel>
  )
}

const BrainPanel = () => {
  const status = useQuery(queries.brainStatus())
  const regime = useQuery(queries.regime())
  return (
    <QueryPanel title="Brain and kill switch" query={status}>
      {(brain) => (
        <div className="grid gap-3">
          <State brain={brain} />
          <QueryContent query={regime} what="the regime">
            {(found) => <RegimeConditions regime={found} />}
          </QueryContent>
          <Buttons level={brain.kill_switch_level} />
        </div>
      )}
    </QueryPanel>
  )
}

const State = ({ brain }: { readonly brain: BrainStatus }) => (
  <Facts
    facts={{
      Regime: brain.regime ?? 'unknown',
      Since: <Time at={brain.regime_changed_at} as="ago" />,
      'Last cycle': <Time at={brain.last_cycle_at} as="ago" />,
      'Kill switch': `level ${brain.kill_switch_level}`,
      Reason:
        brain.kill_switch_reason === null ? undefined : (
          <Untrusted text={formatReason(brain.kill_switch_reason)} />
        ),
    }}
  />
)

const Buttons = ({ level }: { readonly level: number }) => {
  const cycle = useRunCycle()
  return (
    <div className="flex flex-wrap gap-2">
      <Button look={level === 0 ? 'danger' : 'plain'} onClick={openKillSwitch}>
        {level === 0 ? 'Raise kill switch' : 'Kill switch'}
      </Button>
      <Button
        busy={cycle.isPending}
        disabled={level > 0}
        title={level > 0 ? 'Not possible while the kill switch is raised' : undefined}
        onClick={() => cycle.run()}
      >
        Run a cycle
      </Button>
    </div>
  )
}

const COLUMNS: readonly Column<Position>[] = [
  {
    name: 'Asset',
    render: ({ asset, adopted }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {asset} {adopted ? <AdoptedBadge /> : null} <OldPriceBadge asset={asset} />
      </span>
    ),
    sortBy: ({ asset }) => asset,
  },
  { name: 'Side', render: ({ direction }) => <DirectionBadge direction={direction} /> },
  numberColumn('Size', ({ size_notional }) => size_notional, Usd, WIDE),
  numberColumn('Entry', ({ entry_price }) => entry_price, Price, WIDE),
  numberColumn('Mark', ({ mark_price }) => mark_price, Price, WIDE),
  numberColumn('Stop', ({ stop_loss }) => stop_loss, Price, WIDE),
  numberColumn('P&L', ({ unrealized_pnl }) => unrealized_pnl, Pnl),
  ageColumn('Opened', ({ opened_at }) => opened_at, WIDE),
]

const PositionsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.positions('open'))
  const navigate = useNavigate()
  return (
    <TablePanel
      title="Open positions"
      className={className}
      query={query}
      actions={query.data?.length ?? null}
      columns={COLUMNS}
      rows={(positions) => positions}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/positions', search: { position: id } as never })}
      empty={
        <Empty title="No open positions">
          The brain opens one when conviction is high enough and all limits allow it.
        </Empty>
      }
    />
  )
}
