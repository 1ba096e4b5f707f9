import { cx } from '../../ui/cx.ts'
import { formatDuration, formatPercent } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import type { Stretch } from './regimes.ts'

const FILLS: Readonly<Record<string, string>> = {
  BULL: 'bg-good-soft text-good',
  BEAR: 'bg-bad-soft text-bad',
  CRISIS: 'bg-bad text-panel',
  TRANSITION: 'bg-raised text-muted',
}

const REFRESH_MS = 10_000
/** Narrower parts bear no word. */
const WORD_SHARE_MIN = 0.12

interface Part {
  readonly id: string
  readonly regime: string | null
  readonly ms: number
}

interface RegimeStripProps {
  /** Newest first. */
  readonly stretches: readonly Stretch[]
  readonly spanMs: number
}

/** Which regime held when: the past on the left, now on the right. */
export const RegimeStrip = ({ stretches, spanMs }: RegimeStripProps) => {
  const nowMs = useNow((ms) => Math.floor(ms / REFRESH_MS) * REFRESH_MS) + REFRESH_MS
  const parts = partsOf(stretches, nowMs - spanMs, nowMs)
  return (
    <figure className="m-0">
      <div
        className="flex h-9 overflow-hidden rounded-md border border-line"
        role="img"
        aria-label={wordsOf(parts, spanMs)}
      >
        {parts.map(({ id, regime, ms }) => (
          <span
            key={id}
            title={`${regime ?? 'not judged'} for ${formatDuration(ms)}`}
            className={cx(
              'grid min-w-px place-items-center overflow-hidden border-r border-panel text-[11px] font-semibold last:border-0',
              regime === null ? 'text-muted' : (FILLS[regime] ?? 'bg-raised'),
            )}
            style={{ width: `${(ms / spanMs) * 100}%` }}
          >
            {ms / spanMs < WORD_SHARE_MIN ? null : (regime ?? 'not judged')}
          </span>
        ))}
      </div>
      <figcaption className="mt-1 flex justify-between text-[11px] text-muted">
        <span>{formatDuration(spanMs)} ago</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}

const partsOf = (stretches: readonly Stretch[], fromMs: number, nowMs: number): readonly Part[] => {
  const known = stretches.toReversed().flatMap(({ id, regime, from, to }) => {
    const begin = Math.max(fromMs, Date.parse(from))
    const end = to === null ? nowMs : Date.parse(to)
    return end <= begin ? [] : [{ id, regime, ms: end - begin }]
  })
  const first = stretches.at(-1)
  const unknownMs = first === undefined ? nowMs - fromMs : Date.parse(first.from) - fromMs
  return unknownMs <= 0 ? known : [{ id: 'before', regime: null, ms: unknownMs }, ...known]
}

const wordsOf = (parts: readonly Part[], spanMs: number): string => {
  const byRegime = new Map<string, number>()
  for (const { regime, ms } of parts) {
    const name = regime ?? 'not judged'
    byRegime.set(name, (byRegime.get(name) ?? 0) + ms)
  }
  const shares = [...byRegime].map(([name, ms]) => `${name} ${formatPercent(ms / spanMs, { digits: 0 })}`)
  return `Regimes over ${formatDuration(spanMs)}: ${shares.join(', ')}`
}
