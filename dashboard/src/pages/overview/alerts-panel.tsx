import { useQuery } from '@tanstack/react-query'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatWords, textOf } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

const SHOWN = 8
const isAlert = ({ type }: EventItem): boolean => type.startsWith('alert.')

export const AlertsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.events({ type: 'alert', limit: SHOWN }))
  const alerts = useRecentEvents(isAlert, { older: query.data?.items, limit: SHOWN })
  return (
    <QueryPanel title="Newest alerts" flush className={className} query={query}>
      {() =>
        alerts.length === 0 ? (
          <Empty title="No alerts">Stops, targets, regime shifts and the kill switch show up here.</Empty>
        ) : (
          <ul>
            {alerts.map((alert) => (
              <AlertRow key={alert.id} alert={alert} />
            ))}
          </ul>
        )
      }
    </QueryPanel>
  )
}

const TONES: Readonly<Record<string, Tone>> = { immediate: 'bad', standard: 'warn', low: 'neutral' }

const AlertRow = ({ alert: { type, ts, payload } }: { readonly alert: EventItem }) => (
  <li className="grid gap-0.5 border-b border-line px-3 py-2 text-[13px] last:border-0">
    <div className="flex items-center justify-between gap-2">
      <Badge tone={TONES[textOf(payload['urgency'])] ?? 'neutral'}>
        {formatWords(type.slice('alert.'.length))}
      </Badge>
      <span className="text-xs text-muted">
        <Time at={ts} as="ago" />
      </span>
    </div>
    <Untrusted text={textOf(payload['message'])} />
  </li>
)
