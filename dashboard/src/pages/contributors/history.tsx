import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EventItem, Payload } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { formatNumber, formatPercent, formatWords, textOf } from '../../ui/format.ts'
import { QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const EVENTS_MAX = 100

/** All that happened around one contributor. */
export const History = ({ contributorId }: { readonly contributorId: string }) => {
  const query = useQuery(queries.events({ about: contributorId, limit: EVENTS_MAX }))
  const events = useRecentEvents(({ payload }) => payload['contributor_id'] === contributorId, {
    older: query.data?.items,
    limit: EVENTS_MAX,
  })
  return (
    <QueryContent query={query} what="the history">
      {() =>
        events.length === 0 ? (
          <Empty title="Nothing yet">Its signals and what became of them will stand here.</Empty>
        ) : (
          <ol
            className="grid max-h-96 overflow-y-auto rounded-md border border-line"
            aria-label="History"
            tabIndex={0}
          >
            {events.map((event) => (
              <Row key={event.id} event={event} />
            ))}
          </ol>
        )
      }
    </QueryContent>
  )
}

const Row = ({ event: { type, ts, payload } }: { readonly event: EventItem }) => (
  <li className="flex items-center justify-between gap-3 border-b border-line px-3 py-1.5 text-[13px] last:border-0">
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <What type={type} payload={payload} />
    </span>
    <span className="text-xs text-muted">
      <Time at={ts} as="ago" />
    </span>
  </li>
)

const What = ({ type, payload }: { readonly type: string; readonly payload: Payload }) => {
  const symbol = textOf(payload['symbol'])
  if (type.startsWith('attribution.recorded')) {
    const signalId = textOf(payload['signal_id'])
    return (
      <>
        <Link
          to="/signals"
          search={{ signal: signalId } as never}
          className="underline decoration-line underline-offset-4"
        >
          Signal
        </Link>
        <strong className="font-medium">{symbol === '' ? 'no symbol' : symbol}</strong>
        {typeof payload['direction'] === 'string' ? (
          <DirectionBadge direction={payload['direction']} />
        ) : null}
        {typeof payload['score'] === 'number' ? (
          <span className="text-muted">conviction {formatNumber(payload['score'], 1)} of 10</span>
        ) : null}
      </>
    )
  }
  if (type.startsWith('attribution.resolved')) {
    return (
      <>
        <span>Outcome</span>
        <strong className="font-medium">{symbol}</strong>
        <HitBadge hit={payload['hit']} />
        {typeof payload['return_pct'] === 'number' ? (
          <span className="text-muted">{formatPercent(payload['return_pct'], { plus: true })}</span>
        ) : null}
      </>
    )
  }
  return <span>{formatWords(type.replace(/\.v\d+$/, '').replaceAll('.', ' '))}</span>
}

const HitBadge = ({ hit }: { readonly hit: unknown }) => {
  if (typeof hit !== 'boolean') return <Badge>void</Badge>
  return <Badge tone={hit ? 'good' : 'bad'}>{hit ? 'right' : 'wrong'}</Badge>
}
