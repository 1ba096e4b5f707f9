import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import { formatWords } from './format.ts'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-raised text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

/** A state in one word. The colour is never the only information. */
export const Badge = ({
  tone = 'neutral',
  children,
  title,
  hasName = false,
}: {
  tone?: Tone
  children: ReactNode
  title?: string
  /** True for a name, which may be long and then wraps. */
  hasName?: boolean
}) => (
  <span
    title={title}
    className={cx(
      'inline-flex max-w-full items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium',
      hasName ? 'wrap-anywhere' : 'whitespace-nowrap',
      TONES[tone],
    )}
  >
    {children}
  </span>
)

const directionTone = (direction: string): Tone => {
  if (direction === 'long' || direction === 'bullish') return 'good'
  return direction === 'short' || direction === 'bearish' ? 'bad' : 'neutral'
}

/** long, short, bullish … */
export const DirectionBadge = ({ direction }: { readonly direction: string }) => (
  <Badge tone={directionTone(direction)}>{direction}</Badge>
)

const REGIME_TONES: Readonly<Record<string, Tone>> = { BULL: 'good', BEAR: 'bad', CRISIS: 'bad' }

export const RegimeBadge = ({ regime }: { readonly regime: string }) => (
  <Badge tone={REGIME_TONES[regime] ?? 'neutral'} title="Market regime">
    {regime}
  </Badge>
)

/** A position that was found at the venue and not opened here. */
export const AdoptedBadge = () => (
  <Badge tone="warn" title="Found at the venue, not opened here. It has no stop and no target.">
    adopted
  </Badge>
)

const EXIT_TONES: Readonly<Record<string, Tone>> = {
  stop_loss: 'bad',
  liquidated: 'bad',
  take_profit: 'good',
}

/** Reason why a position was closed. */
export const ExitBadge = ({ reason }: { readonly reason: string | null }) => (
  <Badge tone={EXIT_TONES[reason ?? ''] ?? 'neutral'}>{formatWords(reason ?? 'unknown')}</Badge>
)
