import { cx } from './cx.ts'
import { formatPercent } from './format.ts'

interface MeterProps {
  readonly label: string
  readonly value: number
  /** What it is held against. */
  readonly limit: number
  /** How both read; default: as a share. */
  readonly format?: (value: number) => string
  readonly note?: string
}

/** A value beside its limit: how much is used, in a bar and in words. */
export const Meter = ({ label, value, limit, format = formatPercent, note }: MeterProps) => {
  const used = limit > 0 ? value / limit : value > 0 ? 1 : 0
  const tone = used >= 1 ? 'bg-bad' : used >= 0.75 ? 'bg-warn' : 'bg-accent'
  return (
    <div>
      <div className="flex items-baseline justify-between gap-2 text-[13px]">
        <span>{label}</span>
        <span className="whitespace-nowrap">
          <strong className={cx('font-semibold', used >= 1 && 'text-bad')}>{format(value)}</strong>
          <span className="text-muted"> of {format(limit)}</span>
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(value, limit)}
        aria-valuetext={`${format(value)} of ${format(limit)}`}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div
          className={cx('h-full rounded-full', tone)}
          style={{ width: `${Math.min(100, Math.max(0, used * 100))}%` }}
        />
      </div>
      {note === undefined ? null : <p className="mt-0.5 text-xs text-muted">{note}</p>}
    </div>
  )
}
