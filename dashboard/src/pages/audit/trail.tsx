import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EventRecord } from '../../api/log.ts'
import { formatCount } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { readTrail } from './read-trail.ts'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { summaryOf } from './summary.ts'

/** What led to an event and what came of it, as far as events name each other. */
export const Trail = ({ record }: { readonly record: EventRecord }) => {
  const trail = useQuery({
    // Its past never changes; its future may.
    queryKey: ['events', 'trail', record.id],
    queryFn: ({ signal }) => readTrail(record, signal),
  })
  return (
    <QueryContent query={trail} what="causes and consequences">
      {({ causes, consequences, isCut }) => (
        <>
          <Section title="What led to it">
            <EventLinks events={causes} otherwise="It names no earlier event: it began something." />
          </Section>
          <Section title="What came of it">
            <EventLinks events={consequences} otherwise="Nothing names it yet." />
            {isCut ? <p className="text-xs text-muted">There is more than is shown here.</p> : null}
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

/** Events in a few words, each with a link to its record. */
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
