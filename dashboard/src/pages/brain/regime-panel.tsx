import { useQuery } from '@tanstack/react-query'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { EvidenceFacts } from './evidence-facts.tsx'
import { RegimeStrip } from './regime-strip.tsx'
import { stretchesOf, type Stretch } from './regimes.ts'
import { toneOfRegime } from './words.ts'

const CHANGES_MAX = 200
const LISTED_MAX = 20

const SPANS = [
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '1 day'],
  ['168', '1 week'],
] as const

const isChange = ({ type }: EventItem): boolean => type === 'brain.regime_change.v1'

export const RegimePanel = ({ className = '' }: { readonly className?: string }) => {
  const [hours, setHours] = useUrlState('regime_hours', '6')
  const query = useQuery(queries.events({ type: 'brain.regime_change', limit: CHANGES_MAX }))
  const changes = useRecentEvents(isChange, { older: query.data?.items, limit: CHANGES_MAX })
  const stretches = stretchesOf(changes)
  return (
    <QueryPanel
      title="Regime"
      className={className}
      query={query}
      actions={<Choice label="Span of the timeline" value={hours} choices={SPANS} onChoose={setHours} />}
    >
      {() =>
        stretches.length === 0 ? (
          <Empty title="Not judged yet">
            The first cycle judges the market by the regime symbol&apos;s data.
          </Empty>
        ) : (
          <div className="grid gap-4">
            <RegimeStrip stretches={stretches} spanMs={Number(hours) * 3_600_000} />
            <CurrentEvidence />
            <Changes stretches={stretches} />
          </div>
        )
      }
    </QueryPanel>
  )
}

const CurrentEvidence = () => {
  const { data } = useQuery(queries.regime())
  if (data === undefined) return null
  return <EvidenceFacts evidence={data.conditions} />
}

const Changes = ({ stretches }: { readonly stretches: readonly Stretch[] }) => (
  <ul className="grid max-h-64 overflow-y-auto" aria-label="Changes of the regime" tabIndex={0}>
    {stretches.slice(0, LISTED_MAX).map(({ id, regime, previous, from, to }) => (
      <li
        key={id}
        className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 text-[13px] last:border-0"
      >
        <span className="flex items-center gap-1.5">
          {previous === null ? (
            <span className="text-muted">first</span>
          ) : (
            <Badge tone={toneOfRegime(previous)}>{previous}</Badge>
          )}
          <span aria-label="to" className="text-muted">
            →
          </span>
          <Badge tone={toneOfRegime(regime)}>{regime}</Badge>
        </span>
        <span className="text-xs text-muted">
          <Time at={from} />
          {to === null ? ' · holds' : ` · lasted ${formatDuration(Date.parse(to) - Date.parse(from))}`}
        </span>
      </li>
    ))}
  </ul>
)
