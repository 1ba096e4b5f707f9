import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import type { EquityHistory, Portfolio } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatUsd } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'

const RANGES = [
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '1 day'],
  ['168', '1 week'],
] as const

/** The service keeps a point for every 15 seconds; the newest comes with the account. */
const REFRESH_MS = 15_000

export const EquityPanel = ({ className = '' }: { readonly className?: string }) => {
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
