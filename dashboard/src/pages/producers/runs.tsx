import type { EventItem } from '../../api/types.ts'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { formatDuration, textOf } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { toneOfHealth } from './health.ts'

/** One run as a row of a list. */
export const RunRow = ({ run, withName = true }: { readonly run: Run; readonly withName?: boolean }) => (
  <span
    className={cx(
      'grid h-full items-center gap-3 px-3 text-[13px] max-md:grid-cols-[5.5rem_minmax(0,1fr)_auto]',
      withName
        ? 'grid-cols-[5.5rem_minmax(0,10rem)_6rem_minmax(0,1fr)_4rem]'
        : 'grid-cols-[5.5rem_4.5rem_6rem_minmax(0,1fr)_4rem]',
    )}
  >
    <span className="text-xs text-muted">
      <Time at={run.ts} />
    </span>
    <span className="min-w-0 truncate font-medium">
      {withName ? <Untrusted lines={1} text={run.name} /> : signalsText(run)}
    </span>
    <span>
      <Badge tone={toneOfHealth(run.health)}>{run.health}</Badge>
    </span>
    <span className="min-w-0 max-md:hidden">
      <RunResult run={run} withCount={withName} />
    </span>
    <span className="text-right text-xs text-muted max-md:hidden">{formatDuration(run.durationMs)}</span>
  </span>
)

const RunResult = ({ run, withCount }: { readonly run: Run; readonly withCount: boolean }) => {
  if (run.error !== null) {
    return (
      <span className="text-bad">
        <Untrusted lines={1} text={run.error} />
      </span>
    )
  }
  const [first] = run.rejected
  if (first !== undefined) {
    return (
      <span className="text-warn">
        <Untrusted lines={1} text={`${run.rejected.length} rejected: ${first}`} />
      </span>
    )
  }
  return <span className="text-muted">{withCount ? signalsText(run) : changeText(run)}</span>
}

const signalsText = ({ published }: Run): string => (published === 1 ? '1 signal' : `${published} signals`)

const changeText = ({ health, previousHealth }: Run): string =>
  health === previousHealth ? '' : `was ${previousHealth}`

interface Run {
  readonly id: string
  readonly ts: string
  readonly name: string
  readonly health: string
  readonly previousHealth: string
  readonly published: number
  readonly durationMs: number
  readonly error: string | null
  readonly rejected: readonly string[]
}

export const runOf = ({ id, ts, payload }: EventItem): Run => ({
  id,
  ts,
  name: textOf(payload['name']),
  health: textOf(payload['health']),
  previousHealth: textOf(payload['prev_health']),
  published: Number(payload['events_published'] ?? 0),
  durationMs: Number(payload['duration_ms'] ?? 0),
  error: typeof payload['error'] === 'string' ? payload['error'] : null,
  rejected: Array.isArray(payload['rejected']) ? payload['rejected'].map(reasonOf) : [],
})

const reasonOf = (item: unknown): string =>
  typeof item === 'object' && item !== null && 'reason' in item ? textOf(item.reason) : ''
