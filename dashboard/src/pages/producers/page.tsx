import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { EventItem, ProducerStatus } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { Count, Duration, Stat } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { HEALTH_TEXTS, HEALTH_TONES, HEALTHS, isFailing, nextRunOf, scheduleText } from './health.ts'
import { ProducerSheet } from './producer-sheet.tsx'
import { RegisterProducer } from './register-dialog.tsx'
import { runOf, RunRow } from './runs.tsx'

/** The sources of signals and their health. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <SummaryPanel className="lg:col-span-12" />
    <ProducersPanel className="lg:col-span-12" />
    <RunsPanel className="lg:col-span-12" />
    <ProducerSheet />
    <RegisterProducer />
  </div>
)

const SummaryPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.producerStatus())
  return (
    <QueryPanel title="Status" className={className} query={query}>
      {({ producers }) => <Figures producers={Object.values(producers)} />}
    </QueryPanel>
  )
}

const Figures = ({ producers }: { readonly producers: readonly ProducerStatus[] }) => {
  const working = producers.filter(({ health }) => health === 'ok').length
  const failing = producers.filter(isFailing)
  const waiting = producers.filter(({ health }) => health === 'unknown').length
  const signals = producers.reduce((sum, { events_produced }) => sum + events_produced, 0)
  const newest = producers
    .map(({ last_run_at }) => last_run_at ?? '')
    .toSorted()
    .at(-1)
  const registered = producers.filter(({ kind }) => kind === 'registered').length
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
      <Stat label="Working" note={`of ${producers.length} producers`}>
        <span className={working === 0 ? undefined : 'text-good'}>{working}</span>
      </Stat>
      <Stat label="Failing" note={failingText(failing)}>
        <span className={failing.length === 0 ? undefined : 'text-bad'}>{failing.length}</span>
      </Stat>
      <Stat label="Not run yet" note="or without a schedule">
        {waiting}
      </Stat>
      <Stat label="Signals" note="written in their runs so far">
        {formatCount(signals)}
      </Stat>
      <Stat label="Newest run" note={`${registered} registered, ${producers.length - registered} built in`}>
        <Time at={newest} as="ago" />
      </Stat>
    </dl>
  )
}

const NAMED_MAX = 3

const failingText = (failing: readonly ProducerStatus[]): string => {
  if (failing.length === 0) return 'none'
  const named = failing
    .slice(0, NAMED_MAX)
    .map(({ name }) => name)
    .join(', ')
  return failing.length > NAMED_MAX ? `${named} and ${failing.length - NAMED_MAX} more` : named
}

const FILTERS = [
  ['all', 'All'],
  ['failing', 'Failing'],
  ['builtin', 'Built in'],
  ['registered', 'Registered'],
] as const

const PASSES: Readonly<Record<string, (producer: ProducerStatus) => boolean>> = {
  failing: isFailing,
  builtin: ({ kind }) => kind === 'builtin',
  registered: ({ kind }) => kind === 'registered',
}

const ProducersPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.producerStatus())
  const [filter, setFilter] = useUrlState('show', 'all')
  const [, open] = useUrlState('producer')
  const [, openForm] = useUrlState('form')
  return (
    <TablePanel
      title="Producers"
      className={className}
      query={query}
      actions={
        <>
          <Choice label="Which producers" value={filter} choices={FILTERS} onChoose={setFilter} />
          <Button size="small" look="primary" onClick={() => openForm('register')}>
            Register a producer
          </Button>
        </>
      }
      label="Health of producers"
      columns={COLUMNS}
      rows={({ producers }) => worstFirst(Object.values(producers).filter(PASSES[filter] ?? (() => true)))}
      rowKey={({ name }) => name}
      onOpen={({ name }) => open(name)}
      empty={
        <Empty title={filter === 'failing' ? 'No producer is failing' : 'No such producer'}>
          {filter === 'registered'
            ? 'A registered producer is an endpoint that is polled for signals on its schedule.'
            : 'Choose another filter.'}
        </Empty>
      }
    />
  )
}

const rankOf = ({ health }: ProducerStatus): number => HEALTHS.indexOf(health)

const worstFirst = (producers: readonly ProducerStatus[]): readonly ProducerStatus[] =>
  producers.toSorted((one, other) => rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : 1))

const COLUMNS: readonly Column<ProducerStatus>[] = [
  {
    name: 'Producer',
    render: ({ name, domain, kind }) => (
      <span className="block max-w-56 max-md:max-w-36">
        <span className="underline decoration-line underline-offset-4">
          <Untrusted lines={1} text={name} />
        </span>
        <span className="block text-xs font-normal text-muted">
          {domain}
          {kind === 'registered' ? ' · registered' : ''}
        </span>
      </span>
    ),
    sortBy: ({ name }) => name,
  },
  {
    name: 'Health',
    render: ({ health }) => (
      <Badge tone={HEALTH_TONES[health]} title={HEALTH_TEXTS[health]}>
        {health}
      </Badge>
    ),
    sortBy: rankOf,
  },
  ageColumn('Last run', ({ last_run_at }) => last_run_at),
  ageColumn('Next', nextRunOf, WIDE),
  {
    name: 'Schedule',
    wide: true,
    render: (producer) => <span className="text-muted">{scheduleText(producer)}</span>,
  },
  numberColumn('Signals', ({ events_produced }) => events_produced, Count, WIDE),
  numberColumn('Duration', ({ avg_duration_ms }) => avg_duration_ms, Duration, WIDE),
  {
    name: 'Failures in a row',
    align: 'right',
    wide: true,
    render: ({ consecutive_failures }) => (
      <span className={consecutive_failures > 0 ? 'font-semibold text-bad' : 'text-muted'}>
        {consecutive_failures}
      </span>
    ),
    sortBy: ({ consecutive_failures }) => consecutive_failures,
  },
  {
    name: 'Last error',
    wide: true,
    render: ({ last_error }) =>
      last_error === null ? (
        <span className="text-muted">none</span>
      ) : (
        <span className="block max-w-72 text-bad">
          <Untrusted lines={1} text={last_error} />
        </span>
      ),
  },
]

const RUNS_MAX = 200

const KINDS = [
  ['all', 'All runs'],
  ['failed', 'With errors or rejected signals'],
] as const

/** Runs of all producers, live. */
const RunsPanel = ({ className = '' }: { readonly className?: string }) => {
  const [kind, setKind] = useUrlState('runs', 'all')
  const { query, events } = useEventList({ type: 'producer.run', limit: RUNS_MAX })
  const [, open] = useUrlState('producer')
  const runs = events.filter(kind === 'failed' ? hasErrors : () => true).map(runOf)
  return (
    <QueryPanel
      title="Last runs"
      flush
      className={className}
      query={query}
      actions={<Choice label="Which runs" value={kind} choices={KINDS} onChoose={setKind} />}
    >
      {() =>
        runs.length === 0 ? (
          <Empty title={kind === 'all' ? 'No run yet' : 'No run failed'}>
            {kind === 'all'
              ? 'Producers run on their schedules, once the market feed gives them data.'
              : `Among the newest ${events.length} runs.`}
          </Empty>
        ) : (
          <LiveList
            label="Runs of all producers"
            items={runs}
            itemKey={({ id }) => id}
            rowPx={34}
            heightPx={374}
            render={(run) => <RunRow run={run} />}
            onOpen={({ name }) => open(name)}
          />
        )
      }
    </QueryPanel>
  )
}

const hasErrors = (event: EventItem): boolean => {
  const { error, rejected } = runOf(event)
  return error !== null || rejected.length > 0
}
