import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import type { EquityHistory } from '../../api/trading.ts'
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

export const EquityPanel = ({ className = '' }: { readonly className?: string }) => {
  const [hours, setHours] = useUrlState('hours', '6')
  const query = useQuery(queries.equity(Number(hours)))
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

const Curve = ({ history: { points } }: { readonly history: EquityHistory }) => {
  const series = useMemo(
    () => [
      { kind: 'area' as const, points: points.map(({ ts, equity_usd }) => ({ ts, value: equity_usd })) },
    ],
    [points],
  )
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 2) {
    return <Empty title="No curve yet">It begins with the first bars of the market feed.</Empty>
  }
  const label = `Equity from ${formatUsd(first.equity_usd)} to ${formatUsd(last.equity_usd)}`
  return <Chart label={label} series={series} heightPx={356} format={formatUsd} />
}
