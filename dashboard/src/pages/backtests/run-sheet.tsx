import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { BacktestResult } from '../../api/types.ts'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Chart } from '../../ui/chart/chart.tsx'
import { QuerySheet } from '../../ui/dialog.tsx'
import { formatPercent, formatReason } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { Count, Fixed, Gain, Percent, Pnl, Usd } from '../../ui/numbers.tsx'
import { Section } from '../../ui/panel.tsx'
import { type Column, numberColumn, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Json, Untrusted } from '../../ui/untrusted.tsx'
import { TradeSheet } from './trade-sheet.tsx'
import {
  gainsOf,
  hasEnded,
  leftOutOf,
  listIn,
  numberIn,
  objectIn,
  ownProducersOf,
  sourceOf,
  STATUS_TONES,
  subjectOf,
  textIn,
} from './run.ts'

/** `?run=<id>` */
export const RunSheet = () => {
  const [id, setId] = useUrlState('run')
  const [trade] = useUrlState('trade')
  // One sheet at a time: closing that of a trade leads back here.
  if (id === '') return null
  if (trade !== '') return <TradeSheet runId={id} index={Number(trade)} />
  return <Sheet id={id} onClose={() => setId('')} />
}

const Sheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.backtest(id))
  return (
    <QuerySheet hasAge title="Backtest" what="the backtest" query={query} onClose={onClose}>
      {(run) => <Report run={run} onRemoved={onClose} />}
    </QuerySheet>
  )
}

interface ReportProps {
  readonly run: BacktestResult
  readonly onRemoved: () => void
}

const Report = ({ run, onRemoved }: ReportProps) => {
  const report = objectIn(run.result)
  return (
    <div className="grid gap-5">
      <div className="flex items-start justify-between gap-3">
        <p className="min-w-0 font-medium">
          <Untrusted lines="all" text={subjectOf(run)} />
        </p>
        <EndButton run={run} onRemoved={onRemoved} />
      </div>
      {textIn(report, 'stopped', '') === '' ? null : (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-[13px] text-bad">
          <Untrusted lines="all" text={`This run was ${textIn(report, 'stopped', '')}.`} />
        </p>
      )}
      <p className="flex flex-wrap items-center gap-2 text-[13px]">
        <Badge tone={STATUS_TONES[run.status]}>{run.status}</Badge>
        {run.status === 'running' ? formatPercent(run.progress, { digits: 0 }) : null}
        {run.verdict === null ? null : <Untrusted lines="all" text={run.verdict} />}
      </p>
      {run.error === null ? null : (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-[13px] text-bad">
          <Untrusted lines="all" text={run.error.message} />
        </p>
      )}
      <Facts facts={factsOf(run, report)} />
      {run.kind === 'backtest' && run.status === 'done' ? <Gains report={report} /> : null}
      {run.kind === 'backtest' && run.status === 'done' ? <Trades report={report} /> : null}
      {run.kind === 'sweep' && run.status === 'done' ? <Results report={report} /> : null}
      <Section title="Request">
        <Json value={run.request} />
      </Section>
    </div>
  )
}

const factsOf = (run: BacktestResult, report: Readonly<Record<string, unknown>>) => ({
  Market: <Untrusted lines="all" text={sourceOf(run)} />,
  From: run.kind === 'backtest' ? <Time at={textIn(report, 'from', '') || null} as="full" /> : undefined,
  To: run.kind === 'backtest' ? <Time at={textIn(report, 'to', '') || null} as="full" /> : undefined,
  Return: <Percent value={run.figures?.total_return ?? null} toned />,
  Sharpe: <Fixed value={run.figures?.sharpe ?? null} />,
  Drawdown: <Percent value={run.figures?.max_drawdown ?? null} />,
  'By chance': <Percent value={run.figures?.p_value ?? null} />,
  Trades: <Count value={run.figures?.trades ?? null} />,
  Fees: run.kind === 'backtest' ? <Usd value={numberIn(report, 'fees_usd')} /> : undefined,
  'Own producers': untrusted(ownProducersOf(report)),
  Tried: run.kind === 'sweep' ? <Count value={numberIn(report, 'trials')} /> : undefined,
  'Left out': untrusted(leftOutOf(report)),
  Survive: run.kind === 'sweep' ? <Count value={numberIn(report, 'survivors')} /> : undefined,
  Started: <Time at={run.created_at} as="full" />,
})

const untrusted = (text: string | undefined) =>
  text === undefined ? undefined : <Untrusted lines="all" text={text} />

const Gains = ({ report }: { readonly report: Readonly<Record<string, unknown>> }) => {
  const series = useMemo(() => [{ kind: 'area' as const, points: gainsOf(report) }], [report])
  const last = series[0]?.points.at(-1)
  if (last === undefined) return null
  return (
    <Section title="Gain over time" hint="At the end of each day">
      <Chart
        label={`Gain over time, ${formatPercent(last.value, { plus: true })} at the end`}
        series={series}
        format={(gain) => formatPercent(gain)}
        heightPx={180}
      />
    </Section>
  )
}

type Trade = Readonly<Record<string, unknown>>

const Trades = ({ report }: { readonly report: Readonly<Record<string, unknown>> }) => {
  const [, openTrade] = useUrlState('trade')
  const trades = listIn(report, 'closed_trades').map((trade, index) => ({ ...objectIn(trade), index }))
  if (trades.length === 0) {
    const [why] = Object.entries(objectIn(report['held_back']))
    return (
      <Section title="Trades">
        <p className="text-sm text-muted">
          No trade was closed.{why === undefined ? '' : ` Most often held back by: ${formatReason(why[0])}.`}
        </p>
      </Section>
    )
  }
  return (
    <Section title="Closed trades" hint="In the order in which they ended; each says why it was opened">
      <Table
        label="Closed trades of the backtest"
        columns={TRADES}
        rows={trades}
        rowKey={({ index }) => String(index)}
        onOpen={({ index }) => openTrade(String(index))}
        isBounded
      />
    </Section>
  )
}

const TRADES: readonly Column<Trade>[] = [
  {
    name: 'Trade',
    render: (trade) => (
      <span>
        <span className="underline decoration-line underline-offset-4">
          {textIn(trade, 'symbol', '')} {textIn(trade, 'direction', '')}
        </span>
        <span className="block text-xs text-muted">{formatReason(textIn(trade, 'exit_reason', ''))}</span>
      </span>
    ),
  },
  {
    name: 'Closed',
    align: 'right',
    render: (trade) => <Time at={textIn(trade, 'closed_at', '')} as="full" />,
  },
  numberColumn('Net', (trade) => numberIn(trade, 'net_usd'), Pnl),
]

const RESULTS_MAX = 50

const Results = ({ report }: { readonly report: Readonly<Record<string, unknown>> }) => {
  const outside = listIn(objectIn(report['out_of_sample']), 'choices').map((choice) => {
    const { tested, ...rest } = objectIn(choice)
    return { ...rest, ...objectIn(tested) }
  })
  const rows = (outside.length > 0 ? outside : listIn(report, 'results').map(objectIn)).map(
    (row, index): Trade => ({ ...row, index }),
  )
  return (
    <Section
      title={outside.length > 0 ? 'Tests of what was chosen without them' : 'Parameter sets'}
      hint={outside.length > 0 ? 'In order of time' : 'Best first'}
    >
      <Table
        label="Results of the sweep"
        columns={outside.length > 0 ? RESULTS.slice(0, 4) : RESULTS}
        rows={rows}
        rowKey={(row) => String(row['index'])}
        limit={RESULTS_MAX}
        isBounded
      />
    </Section>
  )
}

const RESULTS: readonly Column<Trade>[] = [
  {
    name: 'Parameters',
    render: (row) => (
      <Untrusted
        lines={1}
        text={Object.entries(objectIn(row['parameters']))
          .map(([name, value]) => `${name}=${String(value)}`)
          .join(' ')}
      />
    ),
  },
  numberColumn('Return', (row) => numberIn(row, 'total_return'), Gain),
  numberColumn('Sharpe', (row) => numberIn(row, 'sharpe'), Fixed),
  numberColumn('Trades', (row) => numberIn(row, 'trades'), Count),
  numberColumn('Corrected', (row) => numberIn(row, 'q_value'), Percent),
]

/** Cancels what waits or runs, and forgets what has ended. */
const EndButton = ({ run, onRemoved }: ReportProps) => {
  const isOver = hasEnded(run)
  const path = { path: { id: run.id } }
  const action = useAction({
    send: (_input: void, headers) =>
      run.kind === 'sweep'
        ? api.DELETE('/sweeps/{id}', { params: path, headers })
        : api.DELETE('/backtests/{id}', { params: path, headers }),
    ...(isOver
      ? {
          confirms: () => ({
            title: 'Forget this run?',
            text: 'Its report is deleted. The same request gives the same result again.',
            confirmLabel: 'Forget',
            look: 'danger' as const,
          }),
        }
      : {}),
    done: ({ status }) => (status === 'removed' ? 'The run is forgotten' : 'The run is cancelled'),
    after: ({ status }) => (status === 'removed' ? onRemoved() : undefined),
    refreshes: ['backtests'],
  })
  return (
    <Button size="small" busy={action.isPending} onClick={() => action.run()}>
      {isOver ? 'Forget' : 'Cancel'}
    </Button>
  )
}
