import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { BacktestRun } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRunStream } from '../../live/runs.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatPercent } from '../../ui/format.ts'
import { Count, Fixed, Gain, Percent } from '../../ui/numbers.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ComparePanel } from './compare.tsx'
import { hasEnded, sourceOf, STATUS_TONES, subjectOf } from './run.ts'
import { RunSheet } from './run-sheet.tsx'
import { StartRun } from './start-dialog.tsx'

/** Backtests on recorded prices: start, watch and compare runs, and read their reports. */
export const Page = () => {
  useRunStream()
  return (
    <div className="grid gap-3">
      <RunsPanel />
      <ComparePanel />
      <RunSheet />
      <StartRun />
    </div>
  )
}

const RunsPanel = () => {
  const query = useQuery(queries.backtests())
  const [, open] = useUrlState('run')
  const [, openForm] = useUrlState('form')
  const [compared, setCompared] = useUrlState('compare')
  const chosen = compared === '' ? [] : compared.split(',')
  const toggle = (id: string): void =>
    setCompared((chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]).join(','))
  return (
    <TablePanel
      title="Backtests"
      query={query}
      actions={
        <Button size="small" look="primary" onClick={() => openForm('register')}>
          New backtest
        </Button>
      }
      label="Backtests and sweeps, newest first"
      columns={[...COLUMNS, compareColumn(chosen, toggle)]}
      rows={(runs) => runs}
      rowKey={({ id }) => id}
      onOpen={({ id }) => open(id)}
      isBounded
      empty={
        <Empty title="No backtest yet">
          A backtest tries a strategy on recorded or simulated prices with paper money, beside the running
          service.
        </Empty>
      }
    />
  )
}

const COLUMNS: readonly Column<BacktestRun>[] = [
  {
    name: 'Run',
    render: (run) => (
      <span className="block max-w-72 min-w-0 max-md:max-w-24">
        <span className="underline decoration-line underline-offset-4">
          <Untrusted lines={3} text={subjectOf(run)} />
        </span>
        <span className="block text-xs font-normal text-muted">
          <Untrusted lines={1} text={`${run.kind === 'sweep' ? 'sweep, ' : ''}${sourceOf(run)}`} />
        </span>
      </span>
    ),
    sortBy: subjectOf,
  },
  {
    name: 'Status',
    render: (run) => <Status run={run} />,
    sortBy: ({ status }) => status,
  },
  numberColumn('Return', ({ figures }) => figures?.total_return ?? null, Gain),
  numberColumn('Sharpe', ({ figures }) => figures?.sharpe ?? null, Fixed, WIDE),
  numberColumn('Drawdown', ({ figures }) => figures?.max_drawdown ?? null, Percent, WIDE),
  numberColumn('Chance', ({ figures }) => figures?.p_value ?? null, Percent, WIDE),
  numberColumn('Trades', ({ figures }) => figures?.trades ?? null, Count, WIDE),
  ageColumn('Started', ({ created_at }) => created_at, WIDE),
]

/** Status of a run, and whether it found an edge. */
const Status = ({ run }: { readonly run: BacktestRun }) => (
  <span className="grid justify-items-start gap-1">
    <Badge tone={STATUS_TONES[run.status]}>{run.status}</Badge>
    {run.status === 'running' ? (
      <span className="flex items-center gap-2 text-xs text-muted">
        <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-raised">
          <span className="block h-full bg-accent" style={{ width: `${run.progress * 100}%` }} />
        </span>
        {formatPercent(run.progress, { digits: 0 })}
      </span>
    ) : null}
    {run.edge_found === null ? null : (
      <span className="text-xs text-muted">{run.edge_found ? 'edge possible' : 'no edge found'}</span>
    )}
  </span>
)

const COMPARED_MAX = 4

const compareColumn = (chosen: readonly string[], toggle: (id: string) => void): Column<BacktestRun> => ({
  name: 'Compare',
  render: (run) => {
    const isChosen = chosen.includes(run.id)
    return (
      // A press on the row opens the report. A press here does not.
      <label className="tap grid place-items-center" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          className="size-4 accent-(--color-accent)"
          aria-label={`Compare ${subjectOf(run)}`}
          checked={isChosen}
          disabled={!isChosen && (chosen.length >= COMPARED_MAX || run.status !== 'done' || !hasEnded(run))}
          onChange={() => toggle(run.id)}
        />
      </label>
    )
  },
})
