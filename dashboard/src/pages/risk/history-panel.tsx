import { useQuery } from '@tanstack/react-query'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { LEVELS } from '../../app/kill-switch.tsx'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { textOf } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

const SHOWN = 50
const isMove = ({ type }: EventItem): boolean => type.startsWith('system.kill_switch.')

/** Every move of the kill switch, by the engine and by people. */
export const HistoryPanel = () => {
  const query = useQuery(queries.events({ type: 'system.kill_switch', limit: SHOWN }))
  const moves = useRecentEvents(isMove, { older: query.data?.items, limit: SHOWN })
  return (
    <QueryPanel title="Kill switch history" flush query={query}>
      {() =>
        moves.length === 0 ? (
          <Empty title="Never moved">Every raise and reset stays here, with its reason.</Empty>
        ) : (
          <ol className="max-h-96 overflow-y-auto" tabIndex={0} aria-label="Moves of the kill switch">
            {moves.map((move) => (
              <Move key={move.id} move={move} />
            ))}
          </ol>
        )
      }
    </QueryPanel>
  )
}

const TONES: readonly Tone[] = ['good', 'warn', 'bad', 'bad']

const Move = ({ move: { ts, payload } }: { readonly move: EventItem }) => {
  const level = Number(payload['level'])
  const before = Number(payload['prev_level'])
  const by = payload['triggered_by'] ?? payload['reset_by']
  return (
    <li className="grid gap-0.5 border-b border-line px-3 py-2 text-[13px] last:border-0">
      <div className="flex items-center justify-between gap-2">
        <span className="flex items-center gap-2">
          <Badge tone={TONES[level] ?? 'neutral'}>
            {before} → {level} {LEVELS[level]?.name}
          </Badge>
          <span className="text-xs text-muted">
            {by === 'risk_monitor' ? (
              'by itself'
            ) : (
              <Untrusted lines={1} text={`by ${textOf(by, 'unknown')}`} />
            )}
          </span>
        </span>
        <span className="text-xs text-muted">
          <Time at={ts} />
        </span>
      </div>
      <Untrusted text={textOf(payload['reason'])} />
    </li>
  )
}
