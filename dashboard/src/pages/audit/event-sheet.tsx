import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isNotFound } from '../../api/client.ts'
import { queries, readEvent, readEvents } from '../../api/queries.ts'
import type { EventFilter, EventRecord } from '../../api/types.ts'
import { summaryOf, symbolOf } from '../../app/event-summary.ts'
import { PageLink } from '../../app/page-link.tsx'
import { QuerySheet } from '../../ui/dialog.tsx'
import { formatCount } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Json, Untrusted } from '../../ui/untrusted.tsx'
import { ChainProof } from './chain-proof.tsx'

/** One stored event with its proof and its related events. */
export const EventSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.event(id))
  return (
    <QuerySheet query={query} what="the event" title={query.data?.type ?? 'Event'} onClose={onClose}>
      {(record) => <EventContent key={record.id} record={record} />}
    </QuerySheet>
  )
}

const EventContent = ({ record }: { readonly record: EventRecord }) => (
  <div className="grid gap-6">
    <Facts facts={factsOf(record)} />
    <Section title="Payload" hint="as stored">
      <Json value={record.payload} />
    </Section>
    <RelatedEvents record={record} />
    <ChainProof record={record} inAudit />
  </div>
)

const factsOf = (record: EventRecord) => ({
  Id: <Id id={record.id} whole />,
  Time: <Time at={record.ts} as="full" />,
  Symbol: symbolOf(record) ?? <Unknown why="no symbol" />,
  Author:
    record.source === null ? (
      <Unknown />
    ) : (
      <FilterLink filter={{ author: record.source }} text={record.source} />
    ),
  Trace:
    record.trace_id === null ? (
      <Unknown why="no trace" />
    ) : (
      <FilterLink filter={{ about: `trace:${record.trace_id}` }} text={record.trace_id} />
    ),
  'Dedupe key': record.dedupe_key === null ? <Unknown why="none" /> : <Untrusted text={record.dedupe_key} />,
  Schema: record.schema_version,
})

const FilterLink = ({
  filter,
  text,
}: {
  readonly filter: Readonly<Record<string, string>>
  readonly text: string
}) => (
  <PageLink to="/audit" search={filter} title="Show all its events">
    <Untrusted text={text} />
  </PageLink>
)

/** Causes and effects of an event, as far as events refer to each other. */
const RelatedEvents = ({ record }: { readonly record: EventRecord }) => {
  const related = useQuery({
    // Causes never change; effects may be added.
    queryKey: ['events', 'related', record.id],
    queryFn: ({ signal }) => readRelated(record, signal),
  })
  return (
    <QueryContent query={related} what="causes and consequences">
      {({ causes, consequences, isCut }) => (
        <>
          <Section title="Causes">
            <EventLinks events={causes} otherwise="It refers to no earlier event." />
          </Section>
          <Section title="Effects">
            <EventLinks events={consequences} otherwise="No later event refers to it." />
            {isCut ? <p className="text-xs text-muted">More than shown here.</p> : null}
          </Section>
        </>
      )}
    </QueryContent>
  )
}

interface EventLinksProps {
  readonly events: readonly EventRecord[]
  readonly otherwise: string
}

/** Events in short, each with a link. */
export const EventLinks = ({ events, otherwise }: EventLinksProps) =>
  events.length === 0 ? (
    <p className="text-[13px] text-muted">{otherwise}</p>
  ) : (
    <ol className="overflow-hidden rounded-md border border-line">
      {events.map((event) => (
        <li key={event.id} className="border-b border-line last:border-0">
          <Link
            to="/audit"
            search={{ event: event.id } as never}
            className="grid gap-x-3 px-3 py-1.5 text-[13px] hover:bg-raised"
          >
            <span className="flex items-baseline justify-between gap-3">
              <code className="min-w-0 truncate text-accent">{event.type}</code>
              <span className="text-xs whitespace-nowrap text-muted">
                no. {formatCount(event.seq)} · <Time at={event.ts} />
              </span>
            </span>
            <span className="min-w-0 text-xs text-muted">
              <Untrusted lines={1} text={summaryOf(event)} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  )

interface Related {
  /** Both oldest first. */
  readonly causes: readonly EventRecord[]
  readonly consequences: readonly EventRecord[]
  readonly isCut: boolean
}

/** Members that hold an event id, and members that hold the id of an order, a position and the like. */
const EVENT_MEMBERS = ['signal_id', 'conviction_id', 'intent_id', 'signal_ids', 'intent_ids'] as const
const ENTITY_MEMBERS = ['order_id', 'position_id', 'receipt_id', 'session_id'] as const

const NAMED_MAX = 20
const SHOWN_MAX = 25

/** Events that this one refers to or that refer to it, and those of the same order, position, receipt or cycle. */
const readRelated = async (record: EventRecord, signal: AbortSignal): Promise<Related> => {
  const { id, seq, payload, trace_id } = record
  const entities = ENTITY_MEMBERS.flatMap((name) => textsIn(payload[name])).slice(0, 3)
  const named = EVENT_MEMBERS.flatMap((name) => textsIn(payload[name]))
  // A trace is wide: it is used only where the event itself refers to nothing.
  const hasNoReferences = entities.length === 0 && named.length === 0
  const around = hasNoReferences && trace_id !== null ? [`trace:${trace_id}`] : entities
  const before = { before_seq: seq, order: 'desc', limit: SHOWN_MAX } as const
  const after = { after_seq: seq, order: 'asc', limit: SHOWN_MAX } as const
  const list = async (filter: EventFilter): Promise<readonly EventRecord[]> =>
    (await readEvents(filter, signal)).items
  const [direct, earlier, later] = await Promise.all([
    Promise.all(named.slice(0, NAMED_MAX).map((one) => find(one, signal))),
    Promise.all(around.map((about) => list({ about, ...before }))),
    Promise.all([id, ...around].map((about) => list({ about, ...after }))),
  ])
  const causes = unique([...direct.filter((one) => one !== null), ...earlier.flat()], id)
  const consequences = unique(later.flat(), id)
  return {
    causes: causes.slice(-SHOWN_MAX),
    consequences: consequences.slice(0, SHOWN_MAX),
    isCut: consequences.length > SHOWN_MAX || later.some(({ length }) => length === SHOWN_MAX),
  }
}

const find = async (id: string, signal: AbortSignal): Promise<EventRecord | null> => {
  try {
    return await readEvent(id, signal)
  } catch (error) {
    // A payload may refer to an event that does not exist.
    if (isNotFound(error)) return null
    throw error
  }
}

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')

const unique = (events: readonly EventRecord[], exceptId: string): readonly EventRecord[] =>
  [...new Map(events.map((event) => [event.id, event])).values()]
    .filter(({ id }) => id !== exceptId)
    .toSorted((one, other) => one.seq - other.seq)
