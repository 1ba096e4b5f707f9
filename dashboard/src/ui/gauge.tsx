import { cx } from './cx.ts'
import { formatPercent } from './format.ts'

interface Threshold {
  readonly at: number
  readonly effect: string
}

interface GaugeProps {
  readonly label: string
  /** Null while it is unknown. */
  readonly value: number | null
  /** A threshold of 0 is off. */
  readonly thresholds: readonly Threshold[]
  readonly format?: (value: number) => string
}

const NEAR = 0.75

/** A value beside its thresholds; the bar ends at the highest one. */
export const Gauge = ({ label, value, thresholds, format = formatPercent }: GaugeProps) => {
  const active = thresholds.filter(({ at }) => at > 0)
  const end = Math.max(0, ...active.map(({ at }) => at))
  const nearest = Math.min(...active.map(({ at }) => at))
  const known = value ?? 0
  const text = value === null ? 'unknown' : format(known)
  return (
    <div>
      <div className="flex items-baseline justify-between gap-2 text-[13px]">
        <span className="min-w-0 wrap-anywhere">{label}</span>
        <strong className={cx('font-semibold whitespace-nowrap', known >= nearest && 'text-bad')}>
          {text}
        </strong>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={end}
        aria-valuenow={Math.min(Math.max(0, known), end)}
        aria-valuetext={[text, ...thresholds.map((one) => effectText(one, format))].join('; ')}
        className="relative mt-1 h-2 overflow-hidden rounded-full bg-raised"
      >
        <div
          className={cx('h-full rounded-full', toneOf(known / nearest))}
          style={{ width: `${percentOf(known, end)}%` }}
        />
        {active
          .filter(({ at }) => at < end)
          .map(({ at, effect }) => (
            <div
              key={effect}
              className="absolute inset-y-0 w-0.5 bg-text"
              style={{ left: `${percentOf(at, end)}%` }}
            />
          ))}
      </div>
      <ul className="mt-1 flex flex-wrap gap-x-3 text-xs text-muted">
        {thresholds.map((one) => (
          <li key={one.effect} className={cx(one.at > 0 && known >= one.at && 'font-medium text-bad')}>
            {effectText(one, format)}
          </li>
        ))}
      </ul>
    </div>
  )
}

const effectText = ({ at, effect }: Threshold, format: (value: number) => string): string =>
  at > 0 ? `${effect} at ${format(at)}` : `${effect}: off`

const toneOf = (used: number): string => {
  if (used >= 1) return 'bg-bad'
  return used >= NEAR ? 'bg-warn' : 'bg-accent'
}

const percentOf = (value: number, end: number): number =>
  end > 0 ? Math.min(100, Math.max(0, (value / end) * 100)) : 0
