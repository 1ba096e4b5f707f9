import type { EventItem } from '../../api/log.ts'
import { DirectionBadge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { formatNumber } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { summaryOf, symbolOf } from '../audit/summary.ts'

const GRID =
  'grid grid-cols-[6rem_4.5rem_6rem_minmax(0,11rem)_5rem_4rem_minmax(0,1fr)] items-center gap-3 px-3 max-lg:grid-cols-[4rem_5rem_minmax(0,1fr)_5rem_5rem] max-sm:grid-cols-[3.2rem_minmax(0,1fr)_auto_4.2rem] max-sm:content-center max-sm:gap-x-2 max-sm:gap-y-0.5'

/** Above the list; read aloud with each signal are only its values. */
export const SignalHead = () => (
  <div
    aria-hidden
    className={cx(GRID, 'h-7 border-b border-line text-xs font-medium text-muted max-lg:hidden')}
  >
    <span>Time</span>
    <span>Symbol</span>
    <span>Domain</span>
    <span>Author</span>
    <span>Says</span>
    <span className="text-right">Strength</span>
    <span>Content</span>
  </div>
)

export const SignalRow = ({ signal }: { readonly signal: EventItem }) => {
  const direction = directionOf(signal)
  const strength = strengthOf(signal)
  return (
    <span className={cx(GRID, 'h-full text-[13px]')}>
      <span className="text-xs text-muted max-lg:order-1 max-lg:text-right">
        <Time at={signal.ts} />
      </span>
      <strong className="truncate font-medium">{symbolOf(signal) ?? '–'}</strong>
      <code className="truncate text-xs text-muted max-sm:hidden">{signal.type.split('.')[1]}</code>
      <Untrusted lines={1} text={signal.source ?? '–'} />
      <span>{direction === null ? null : <DirectionBadge direction={direction} />}</span>
      <span className="text-right max-lg:hidden">{strength === null ? '' : formatNumber(strength)}</span>
      <span className="min-w-0 text-xs text-muted max-lg:hidden max-sm:order-2 max-sm:col-span-full max-sm:block">
        <Untrusted lines={1} text={summaryOf(signal)} />
      </span>
    </span>
  )
}

export const directionOf = ({ payload }: EventItem): string | null => {
  const direction = payload['direction'] ?? payload['trend']
  return typeof direction === 'string' && direction.length <= 10 ? direction : null
}

/** The strength that a signal states for itself, as the service reads it. */
export const strengthOf = ({ payload }: EventItem): number | null => {
  for (const name of ['conviction', 'score', 'consensus_score', 'magnitude']) {
    const value = payload[name]
    if (typeof value === 'number') return value
  }
  return null
}
