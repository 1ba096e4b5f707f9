import { useQuery } from '@tanstack/react-query'
import type { ProducerStatus } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ProducerRuns } from './producer-runs.tsx'
import { ProvenanceFacts } from './provenance-facts.tsx'
import { RemoveButton } from './remove-button.tsx'
import { HEALTH_TONES, HEALTH_WORDS, nextRunOf, rhythmOf } from './words.ts'

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
                It was removed, or never was. What it said stays in the log.
              </Empty>
            ) : (
              <Status producer={producer} onRemoved={onClose} />
            )
          }}
        </QueryContent>
        <Section title="Runs" hint="Newest first">
          <ProducerRuns name={name} />
        </Section>
        <Section title="Provenance" hint="What this engine has seen of it">
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
        <span className="text-muted">{HEALTH_WORDS[producer.health]}</span>
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

const factsOf = (producer: ProducerStatus): readonly (readonly [string, React.ReactNode])[] => [
  ['Kind', producer.kind === 'builtin' ? 'built in' : 'registered: asked over HTTP'],
  ['Domain', producer.domain],
  ...(producer.endpoint === null
    ? []
    : [['Endpoint', <Untrusted key="endpoint" lines="all" text={producer.endpoint} />] as const]),
  [
    'Schedule',
    producer.schedule === null ? (
      rhythmOf(producer)
    ) : (
      <span key="schedule">
        {rhythmOf(producer)} <code className="text-muted">{producer.schedule}</code>
      </span>
    ),
  ],
  ['Last run', <Time key="run" at={producer.last_run_at} as="full" />],
  ['Last success', <Time key="success" at={producer.last_success_at} as="full" />],
  ['Next run', <Time key="next" at={nextRunOf(producer)} as="ago" />],
  ...(producer.quarantined_until === null
    ? []
    : [['Rests until', <Time key="rest" at={producer.quarantined_until} as="full" />] as const]),
  ['Failures in a row', formatCount(producer.consecutive_failures)],
  ['Signals written', formatCount(producer.events_produced)],
  [
    'Takes on average',
    producer.avg_duration_ms === null ? (
      <Unknown key="takes" why="has not run" />
    ) : (
      formatDuration(producer.avg_duration_ms)
    ),
  ],
]
