import type { ProducerHealth, ProducerStatus } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'
import { formatDuration } from '../../ui/format.ts'

/** Worst first: what needs somebody stands on top. */
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

/** What a health means, and what to do. */
export const HEALTH_WORDS: Readonly<Record<ProducerHealth, string>> = {
  ok: 'Runs when it should, without errors.',
  unknown: 'Has not run yet.',
  degraded: 'Failed lately, or part of what it said was refused. It is tried again on schedule.',
  stale: 'Has missed three runs. Is the feed or its endpoint there?',
  error: 'Its last run failed. The error says why.',
  quarantined: 'Failed too often and rests for a while; then it is tried again by itself.',
}

export const toneOfHealth = (health: string): Tone => HEALTH_TONES[health as ProducerHealth] ?? 'neutral'

export const isInTrouble = ({ health }: ProducerStatus): boolean => health !== 'ok' && health !== 'unknown'

/** "every 15 min"; the schedule itself for what has no even interval. */
export const rhythmOf = ({ schedule, expected_interval_ms }: ProducerStatus): string => {
  if (schedule === null) return 'when signals arrive'
  return expected_interval_ms === null ? schedule : `every ${formatDuration(expected_interval_ms)}`
}

/** Schedules begin with the hour, so the next run is at the next multiple of the interval, or after a rest. */
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
