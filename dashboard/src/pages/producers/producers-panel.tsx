import { useQuery } from '@tanstack/react-query'
import type { ProducerStatus } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { HEALTH_TONES, HEALTH_WORDS, HEALTHS, isInTrouble, nextRunOf, rhythmOf } from './words.ts'

const FILTERS = [
  ['all', 'All'],
  ['trouble', 'In trouble'],
  ['builtin', 'Built in'],
  ['registered', 'Registered'],
] as const

const PASSES: Readonly<Record<string, (producer: ProducerStatus) => boolean>> = {
  trouble: isInTrouble,
  builtin: ({ kind }) => kind === 'builtin',
  registered: ({ kind }) => kind === 'registered',
}

export const ProducersPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.producerStatus())
  const [filter, setFilter] = useUrlState('show', 'all')
  const [, open] = useUrlState('producer')
  const [, openForm] = useUrlState('form')
  return (
    <QueryPanel
      title="Producers"
      flush
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
    >
      {({ producers }) => {
        const shown = Object.values(producers).filter(PASSES[filter] ?? (() => true))
        return shown.length === 0 ? (
          <Empty title={filter === 'trouble' ? 'Nobody is in trouble' : 'No such producer'}>
            {filter === 'registered'
              ? 'A registered producer is an address that is asked for signals on its schedule.'
              : 'Choose another filter.'}
          </Empty>
        ) : (
          <Table
            label="Health of producers"
            columns={COLUMNS}
            rows={worstFirst(shown)}
            rowKey={({ name }) => name}
            onOpen={({ name }) => open(name)}
          />
        )
      }}
    </QueryPanel>
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
      <Badge tone={HEALTH_TONES[health]} title={HEALTH_WORDS[health]}>
        {health}
      </Badge>
    ),
    sortBy: rankOf,
  },
  {
    name: 'Last run',
    align: 'right',
    render: ({ last_run_at }) => <Time at={last_run_at} as="ago" />,
    sortBy: ({ last_run_at }) => last_run_at ?? '',
  },
  {
    name: 'Next',
    align: 'right',
    wide: true,
    render: (producer) => <Time at={nextRunOf(producer)} as="ago" />,
    sortBy: (producer) => nextRunOf(producer) ?? '',
  },
  {
    name: 'Rhythm',
    wide: true,
    render: (producer) => <span className="text-muted">{rhythmOf(producer)}</span>,
  },
  {
    name: 'Signals',
    align: 'right',
    wide: true,
    render: ({ events_produced }) => formatCount(events_produced),
    sortBy: ({ events_produced }) => events_produced,
  },
  {
    name: 'Takes',
    align: 'right',
    wide: true,
    render: ({ avg_duration_ms }) =>
      avg_duration_ms === null ? <Unknown why="has not run" /> : formatDuration(avg_duration_ms),
    sortBy: ({ avg_duration_ms }) => avg_duration_ms ?? -1,
  },
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
