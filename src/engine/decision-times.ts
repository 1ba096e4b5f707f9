import type { Configuration } from '../core/config/schema.ts'
import type { Head } from '../core/log/event.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { timestampAt } from '../core/shared/time.ts'

/**
 * Times at which a decision is made and recorded. If the clock of another process is slightly ahead, both stay at its
 * time until our clock has caught up. A time from the future is not followed: `recorded_at` never decreases, but
 * decisions are made at the current time.
 */
export const timesOf = (
  clockMs: number,
  { recordedAt }: Pick<Head, 'recordedAt'>,
  { kill_switch }: Pick<Configuration, 'kill_switch'>,
): Required<Pick<DecisionContext, 'now' | 'recordedAt'>> => {
  const laterMs = Math.max(clockMs, Date.parse(recordedAt) || 0)
  const isFromFuture = laterMs - clockMs > kill_switch.l1_clock_jump_seconds * 1000
  return { now: timestampAt(isFromFuture ? clockMs : laterMs), recordedAt: timestampAt(laterMs) }
}
