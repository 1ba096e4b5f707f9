import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ProducerStatus, Provenance } from '../../api/types.ts'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatCount } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { LiveList } from '../../ui/live-list.tsx'
import { Count, Duration, Percent, Share } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { HEALTH_TONES, HEALTH_TEXTS, nextRunOf, scheduleText } from './health.ts'
import { runOf, RunRow } from './runs.tsx'

/** `?producer=<name>` */
export const ProducerSheet = () => {
  const [name, setName] = useUrlState('producer')
  if (name === '') return null
  return <Sheet name={name} onClose={() => setName('')} />
}

const Sheet = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.producerStatus())
  return (
    <Dialog title={name.slice(0, 128)} form="sheet" onClose={onClose}>
      <div className="grid gap-5">
        <QueryContent query={query} what="the producer">
          {({ producers }) => {
            const producer = producers[name]
            return producer === undefined ? (
              <Empty title="Not registered">
                It was removed or never registered. Its signals stay in the log.
              </Empty>
            ) : (
              <Status producer={producer} onRemoved={onClose} />
            )
          }}
        </QueryContent>
        <Section title="Runs" hint="Newest first">
          <ProducerRuns name={name} />
        </Section>
        <Section title="Provenance" hint="From the log of this service">
          <ProvenanceFacts name={name} />
        </Section>
      </div>
    </Dialog>
  )
}

interface StatusProps {
  readonly producer: ProducerStatus
  readonly onRemoved: () => void
}

const Status = ({ producer, onRemoved }: StatusProps) => (
  <div className="grid gap-3">
    <div className="flex items-start justify-between gap-3">
      <p className="flex min-w-0 flex-wrap items-center gap-2 text-[13px]">
        <Badge tone={HEALTH_TONES[producer.health]}>{producer.health}</Badge>
        <span className="text-muted">{HEALTH_TEXTS[producer.health]}</span>
      </p>
      {producer.kind === 'registered' ? <RemoveButton name={producer.name} onRemoved={onRemoved} /> : null}
    </div>
    {producer.last_error === null ? null : (
      <div className="rounded-md bg-bad-soft px-3 py-2 text-[13px] text-bad">
        <p className="font-medium">Last error</p>
        <Untrusted lines="all" text={producer.last_error.slice(0, 2000)} />
      </div>
    )}
    <Facts facts={factsOf(producer)} />
  </div>
)

const factsOf = (producer: ProducerStatus) => ({
  Kind: producer.kind === 'builtin' ? 'built in' : 'registered, polled over HTTP',
  Domain: producer.domain,
  Endpoint: producer.endpoint === null ? undefined : <Untrusted lines="all" text={producer.endpoint} />,
  Schedule:
    producer.schedule === null ? (
      scheduleText(producer)
    ) : (
      <span>
        {scheduleText(producer)} <code className="text-muted">{producer.schedule}</code>
      </span>
    ),
  'Last run': <Time at={producer.last_run_at} as="full" />,
  'Last success': <Time at={producer.last_success_at} as="full" />,
  'Next run': <Time at={nextRunOf(producer)} as="ago" />,
  'Quarantined until':
    producer.quarantined_until === null ? undefined : <Time at={producer.quarantined_until} as="full" />,
  'Failures in a row': formatCount(producer.consecutive_failures),
  'Signals written': formatCount(producer.events_produced),
  'Average duration': <Duration value={producer.avg_duration_ms} />,
})

interface RemoveButtonProps {
  readonly name: string
  readonly onRemoved: () => void
}

const RemoveButton = ({ name, onRemoved }: RemoveButtonProps) => {
  const remove = useAction({
    send: (_input: void, headers) => api.DELETE('/producers/{name}', { params: { path: { name } }, headers }),
    confirms: () => ({
      title: 'Remove this producer?',
      text: `${name} is no longer polled. Its signals stay in the log.`,
      confirmLabel: 'Remove',
      look: 'danger',
    }),
    done: () => `${name} is removed`,
    after: onRemoved,
    refreshes: ['producers'],
  })
  return (
    <Button size="small" busy={remove.isPending} onClick={() => remove.run()}>
      Remove
    </Button>
  )
}

const RUNS_MAX = 100

const ProducerRuns = ({ name }: { readonly name: string }) => {
  const { query, events } = useEventList(
    { type: 'producer.run', source: name, limit: RUNS_MAX },
    ({ payload }) => payload['name'] === name,
  )
  return (
    <QueryContent query={query} what="the runs">
      {() =>
        events.length === 0 ? (
          <p className="text-sm text-muted">No runs yet. The first one follows its schedule.</p>
        ) : (
          <div className="overflow-hidden rounded-md border border-line">
            <LiveList
              label="Newest runs"
              items={events.map(runOf)}
              itemKey={({ id }) => id}
              rowPx={34}
              heightPx={238}
              render={(run) => <RunRow run={run} withName={false} />}
            />
          </div>
        )
      }
    </QueryContent>
  )
}

const ProvenanceFacts = ({ name }: { readonly name: string }) => {
  const query = useQuery(queries.provenance(name))
  return (
    <QueryContent query={query} what="the provenance">
      {(provenance) => (
        <div className="grid gap-3">
          {provenance.has_provenance ? <Known provenance={provenance} /> : null}
          <p className="text-xs text-muted">
            {provenance.has_provenance ? provenance.note : 'No signals from it yet.'}
          </p>
        </div>
      )}
    </QueryContent>
  )
}

const Known = ({ provenance }: { readonly provenance: KnownProvenance }) => (
  <>
    <Facts
      facts={{
        Chain: (
          <Badge tone={provenance.chain_verified ? 'good' : 'bad'}>
            {provenance.chain_verified ? 'newest events verified' : 'does not verify'}
          </Badge>
        ),
        Signals: formatCount(provenance.total_signals),
        'First seen': <Time at={provenance.first_seen} as="full" />,
        'Last seen': <Time at={provenance.last_seen} as="full" />,
        Contributors: formatCount(provenance.operator_coverage),
        'Profit and loss': provenance.p_and_l_attributed ? 'attributed' : 'not attributed yet',
      }}
    />
    <div className="rounded-md border border-line">
      <Table
        label="Provenance by window"
        columns={COLUMNS}
        rows={Object.entries(provenance.attribution_windows)}
        rowKey={([name]) => name}
      />
    </div>
  </>
)

type KnownProvenance = Extract<Provenance, { readonly has_provenance: true }>
type Window = readonly [name: string, window: NonNullable<KnownProvenance['attribution_windows']['7d']>]

const COLUMNS: readonly Column<Window>[] = [
  { name: 'Window', render: ([name]) => name.replace('d', ' days') },
  numberColumn('Signals', ([, { signals }]) => signals, Count),
  numberColumn('Hit rate', ([, { hit_rate }]) => hit_rate, Share),
  numberColumn('Largest drawdown', ([, { max_drawdown_pct }]) => max_drawdown_pct, Percent),
]
