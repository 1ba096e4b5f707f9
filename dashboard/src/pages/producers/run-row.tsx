import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { formatDuration } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import type { Run } from './runs.ts'
import { toneOfHealth } from './words.ts'

/** One run in one line of a list. */
export const RunRow = ({ run, withName = true }: { readonly run: Run; readonly withName?: boolean }) => (
  <span
    className={cx(
      'grid h-full items-center gap-3 px-3 text-[13px] max-md:grid-cols-[4.5rem_minmax(0,1fr)_auto]',
      withName
        ? 'grid-cols-[4.5rem_minmax(0,10rem)_6rem_minmax(0,1fr)_4rem]'
        : 'grid-cols-[4.5rem_4.5rem_6rem_minmax(0,1fr)_4rem]',
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
      <WhatCame run={run} withCount={withName} />
    </span>
    <span className="text-right text-xs text-muted max-md:hidden">{formatDuration(run.durationMs)}</span>
  </span>
)

const WhatCame = ({ run, withCount }: { readonly run: Run; readonly withCount: boolean }) => {
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
        <Untrusted lines={1} text={`${run.rejected.length} refused: ${first}`} />
      </span>
    )
  }
  return <span className="text-muted">{withCount ? signalsText(run) : changeText(run)}</span>
}

const signalsText = ({ published }: Run): string => (published === 1 ? '1 signal' : `${published} signals`)

const changeText = ({ health, previousHealth }: Run): string =>
  health === previousHealth ? '' : `was ${previousHealth}`
