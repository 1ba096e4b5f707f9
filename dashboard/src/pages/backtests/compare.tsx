import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import type { BacktestResult } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Chart } from '../../ui/chart/chart.tsx'
import { formatPercent } from '../../ui/format.ts'
import { Count, Fixed, Gain, Percent } from '../../ui/numbers.tsx'
import { Panel } from '../../ui/panel.tsx'
import { type Column, numberColumn, Table } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { gainsOf, objectIn, sourceOf, subjectOf } from './run.ts'

const TONES: readonly Tone[] = ['accent', 'warn', 'good', 'bad']
const COMPARED_MAX = TONES.length

interface Compared {
  readonly run: BacktestResult
  readonly tone: Tone
  readonly line: string
}

/** `?compare=<id>,<id>`: their figures and their gains side by side. */
export const ComparePanel = () => {
  const [ids] = useUrlState('compare')
  const chosen = ids === '' ? [] : ids.split(',').slice(0, COMPARED_MAX)
  const found = useQueries({ queries: chosen.map((id) => queries.backtest(id)) })
  const compared = found
    .flatMap(({ data }) => data ?? [])
    .map((run, index): Compared => ({
      run,
      tone: TONES[index] ?? 'neutral',
      line: String.fromCodePoint('A'.codePointAt(0)! + index),
    }))
  const key = compared.map(({ run }) => run.id).join(',')
  const series = useMemo(() => compared.map(seriesOf), [key])
  if (compared.length < 2) return null
  return (
    <Panel title="Comparison" flush>
      <Table label="Figures side by side" columns={COLUMNS} rows={compared} rowKey={({ run }) => run.id} />
      <div className="p-3">
        <Chart
          label={`Gain over time: ${compared.map(gainText).join(', ')}`}
          series={series}
          format={(gain) => formatPercent(gain)}
        />
      </div>
    </Panel>
  )
}

const seriesOf = ({ run, tone }: Compared) => ({
  kind: 'line' as const,
  tone,
  points: gainsOf(objectIn(run.result)),
})

const gainText = ({ run, line }: Compared): string =>
  `${line} ${run.figures === null ? 'unknown' : formatPercent(run.figures.total_return, { plus: true })}`

const COLUMNS: readonly Column<Compared>[] = [
  {
    name: 'Line',
    render: ({ tone, line, run }) => (
      <span className="flex max-w-64 min-w-0 items-center gap-2 max-md:max-w-36">
        <Badge tone={tone}>{line}</Badge>
        <span className="min-w-0">
          <Untrusted lines={3} text={subjectOf(run)} />
          <span className="block text-xs font-normal text-muted">
            <Untrusted lines={1} text={sourceOf(run)} />
          </span>
        </span>
      </span>
    ),
  },
  numberColumn('Return', ({ run }) => run.figures?.total_return ?? null, Gain),
  numberColumn('Sharpe', ({ run }) => run.figures?.sharpe ?? null, Fixed),
  numberColumn('Drawdown', ({ run }) => run.figures?.max_drawdown ?? null, Percent),
  numberColumn('Chance', ({ run }) => run.figures?.p_value ?? null, Percent),
  numberColumn('Trades', ({ run }) => run.figures?.trades ?? null, Count),
]
