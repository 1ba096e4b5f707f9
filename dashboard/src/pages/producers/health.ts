import type { ProducerHealth, ProducerStatus } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'
import { formatDuration } from '../../ui/format.ts'

/** Health states, worst first. */
export const HEALTHS: readonly ProducerHealth[] = [
  'quarantined',
  'error',
  'stale',
  'degraded',
  'unknown',
  'ok',
]

export const HEALTH_TONES: Readonly<Record<ProducerHealth, Tone>> = {
  ok: 'good',
  unknown: 'neutral',
  degraded: 'warn',
  stale: 'warn',
  error: 'bad',
  quarantined: 'bad',
}

/** Meaning of each health state, and the step to take. */
export const HEALTH_TEXTS: Readonly<Record<ProducerHealth, string>> = {
  ok: 'Runs on schedule without errors.',
  unknown: 'Has not run yet.',
  degraded: 'Failed recently, or some of its signals were rejected. The next run is on schedule.',
  stale: 'Missed three runs. Check the feed or the endpoint.',
  error: 'Its last run failed. The error says why.',
  quarantined: 'Failed too often and is paused; it is retried automatically.',
}

export const toneOfHealth = (health: string): Tone => HEALTH_TONES[health as ProducerHealth] ?? 'neutral'

export const isFailing = ({ health }: ProducerStatus): boolean => health !== 'ok' && health !== 'unknown'

/** Text such as "every 15 min", or the schedule itself if it has no even interval. */
export const scheduleText = ({ schedule, expected_interval_ms }: ProducerStatus): string => {
  if (schedule === null) return 'on incoming signals'
  return expected_interval_ms === null ? schedule : `every ${formatDuration(expected_interval_ms)}`
}

/** Next run: schedules start at the full hour, so it is at the next multiple of the interval, or after quarantine. */
export const nextRunOf = ({
  last_run_at,
  expected_interval_ms,
  quarantined_until,
}: ProducerStatus): string | null => {
  if (quarantined_until !== null) return quarantined_until
  if (last_run_at === null || expected_interval_ms === null) return null
  const lastMs = Date.parse(last_run_at)
  return new Date((Math.floor(lastMs / expected_interval_ms) + 1) * expected_interval_ms).toISOString()
}
