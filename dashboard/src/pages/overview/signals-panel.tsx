import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { DirectionBadge } from '../../ui/badge.tsx'
import { LiveList } from '../../ui/live-list.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { summaryOf, symbolOf } from '../audit/summary.ts'

const isSignal = ({ type }: EventItem): boolean => type.startsWith('signal.')

export const SignalsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.signals({ limit: 50 }))
  const signals = useRecentEvents(isSignal, { older: query.data?.items, limit: 100 })
  const navigate = useNavigate()
  return (
    <QueryPanel title="Signal flow" flush className={className} query={query}>
      {() =>
        signals.length === 0 ? (
          <Empty title="No signals yet">
            Producers write them on their schedules once a market feed runs (
            <Link to="/settings" search={{ section: 'market' } as never} className="text-accent underline">
              market settings
            </Link>
            ); contributors submit theirs on the Signals page.
          </Empty>
        ) : (
          <LiveList
            label="Newest signals"
            items={signals}
            itemKey={({ id }) => id}
            rowPx={36}
            phoneRowPx={56}
            heightPx={288}
            render={(signal) => <SignalRow signal={signal} />}
            onOpen={({ id }) => void navigate({ to: '/signals', search: { signal: id } as never })}
          />
        )
      }
    </QueryPanel>
  )
}

const SignalRow = ({ signal }: { readonly signal: EventItem }) => {
  const { type, ts, source, payload } = signal
  const direction = payload['direction'] ?? payload['trend']
  return (
    <span className="grid h-full grid-cols-[3.5rem_minmax(0,8rem)_4.5rem_minmax(0,1fr)_auto] items-center gap-2 px-3 text-[13px] max-sm:grid-cols-[3.5rem_minmax(0,1fr)_auto_auto] max-sm:content-center max-sm:gap-y-0.5">
      <strong className="truncate font-medium">{symbolOf(signal) ?? '–'}</strong>
      <span title={type}>
        <Untrusted lines={1} text={source ?? '–'} />
      </span>
      <span>{typeof direction === 'string' ? <DirectionBadge direction={direction} /> : null}</span>
      <span className="min-w-0 text-xs text-muted max-sm:order-1 max-sm:col-span-full">
        <Untrusted lines={1} text={summaryOf(signal)} />
      </span>
      <span className="text-right text-xs text-muted">
        <Time at={ts} as="ago" />
      </span>
    </span>
  )
}
