import type { Health, RunRecord } from './producers.ts'

/** How a run ended. `usable`: it had something to say, be it new or known already. */
export type RunEnd = 'usable' | 'unusable' | 'error'

export interface HealthRules {
  readonly now: string
  /** So many errors in a row end it for a while. */
  readonly quarantineAfter: number
  readonly quarantineSeconds: number
}

export interface HealthAfterRun {
  readonly health: Health
  readonly consecutive_failures: number
  readonly quarantined_until: string | null
}

/** Degraded runs count as failures, but neither as errors nor as an end of a row of errors. */
export const healthAfter = (
  before: RunRecord | undefined,
  end: RunEnd,
  { now, quarantineAfter, quarantineSeconds }: HealthRules,
): HealthAfterRun => {
  if (end === 'usable') return { health: 'ok', consecutive_failures: 0, quarantined_until: null }
  const consecutive_failures = (before?.consecutiveFailures ?? 0) + 1
  if (end === 'unusable') return { health: 'degraded', consecutive_failures, quarantined_until: null }
  const isOut = before?.health === 'quarantined' || (before?.errorsInARow ?? 0) + 1 >= quarantineAfter
  return {
    health: isOut ? 'quarantined' : 'error',
    consecutive_failures,
    quarantined_until: isOut ? new Date(Date.parse(now) + quarantineSeconds * 1000).toISOString() : null,
  }
}

/** Whether it may be run: one in quarantine gets a trial when its time is over. */
export const mayRun = (record: RunRecord | undefined, now: string): boolean =>
  record === undefined || record.quarantinedUntil === null || record.quarantinedUntil <= now

/** Whether it should have run again long ago. */
export const isOverdue = (record: RunRecord, intervalMs: number, intervals: number, now: string): boolean =>
  (record.health === 'ok' || record.health === 'degraded') &&
  Date.parse(now) - Date.parse(record.lastRunAt) > intervals * intervalMs
