import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { queries, verifyChain } from '../../api/queries.ts'
import type { EventItem } from '../../api/types.ts'
import { summaryOf, symbolOf } from '../../app/event-summary.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useEventList } from '../../live/live.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { LiveList } from '../../ui/live-list.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { AlertItem } from '../alerts/page.tsx'
import { HEALTH_TONES } from '../producers/health.ts'

const SHOWN = 8

export const AlertsPanel = ({ className = '' }: { readonly className?: string }) => {
  const { query, events: alerts } = useEventList({ type: 'alert', limit: SHOWN })
  return (
    <QueryPanel
      title="Newest alerts"
      flush
      className={className}
      query={query}
      actions={<PageLink to="/alerts">All alerts</PageLink>}
    >
      {() =>
        alerts.length === 0 ? (
          <Empty title="No alerts">Stops, targets, regime shifts and the kill switch show up here.</Empty>
        ) : (
          <ul>
            {alerts.map((alert) => (
              <AlertItem key={alert.id} alert={alert} />
            ))}
          </ul>
        )
      }
    </QueryPanel>
  )
}

export const SignalsPanel = ({ className = '' }: { readonly className?: string }) => {
  const { query, events: signals } = useEventList({ type: 'signal', limit: 100 })
  const navigate = useNavigate()
  return (
    <QueryPanel title="Newest signals" flush className={className} query={query}>
      {() =>
        signals.length === 0 ? (
          <Empty title="No signals yet">
            Producers write them on their schedules once a market feed runs (
            <PageLink to="/settings" search={{ section: 'market' }}>
              market settings
            </PageLink>
            ); contributors submit theirs on the Signals page.
          </Empty>
        ) : (
          <LiveList
            label="List of newest signals"
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

/** No event says that a store grows or that time passes. */
const CHECK_MS = 60_000

/** Producers, hash chain and service. */
export const HealthPanel = ({ className = '' }: { readonly className?: string }) => {
  const producers = useQuery(queries.producerStatus())
  return (
    <QueryPanel title="Health" className={className} query={producers}>
      {({ producers: byName }) => (
        <div className="grid gap-3">
          <ServiceFacts />
          <ul className="flex flex-wrap gap-1.5" aria-label="Producers">
            {Object.values(byName).map(({ name, health, last_error }) => (
              <li key={name}>
                <Badge hasName tone={HEALTH_TONES[health]} title={last_error ?? health}>
                  {name}: {health}
                </Badge>
              </li>
            ))}
          </ul>
          <PageLink to="/producers" className="text-xs">
            All producers
          </PageLink>
        </div>
      )}
    </QueryPanel>
  )
}

const ServiceFacts = () => {
  const { data: health } = useQuery({ ...queries.health(), refetchInterval: CHECK_MS })
  const { data: chain, isError } = useQuery({
    queryKey: ['integrity', 'fast'],
    queryFn: () => verifyChain({ mode: 'fast' }),
    refetchInterval: CHECK_MS,
  })
  return (
    <Facts
      facts={{
        Chain:
          isError || chain === undefined ? (
            isError ? (
              <Badge tone="warn">could not be checked</Badge>
            ) : (
              '…'
            )
          ) : (
            <Badge tone={chain.ok ? 'good' : 'bad'}>
              {chain.ok ? `newest ${formatCount(chain.checked)} verified` : `broken: ${chain.reason ?? ''}`}
            </Badge>
          ),
        Events: chain === undefined ? '…' : formatCount(chain.event_count),
        Store: health === undefined ? '…' : formatBytes(health.db_size_bytes),
        'Running for': health === undefined ? '…' : formatDuration(health.uptime_seconds * 1000),
        Version: health?.version ?? '…',
      }}
    />
  )
}
