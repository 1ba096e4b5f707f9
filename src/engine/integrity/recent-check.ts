import type { Clock } from '../../ports/clock.ts'
import type { IntegrityReport } from './report.ts'

/** Number of the newest events that are checked. */
export const RECENT_EVENTS = 100

/** Time for which a result is reused. */
export const RECENT_CHECK_MS = 1000

type Verify = (request: { readonly mode: 'fast'; readonly n: number }) => Promise<IntegrityReport>

/**
 * Whether the newest events verify, for endpoints without authentication. However many callers there are, the log is
 * checked at most once a second, by one check at a time.
 */
export const recentCheck = (verify: Verify, clock: Pick<Clock, 'now'>): (() => Promise<boolean>) => {
  let newest: { readonly atMs: number; readonly ok: Promise<boolean> } | null = null
  return () => {
    const nowMs = clock.now()
    if (newest !== null && nowMs - newest.atMs < RECENT_CHECK_MS) return newest.ok
    const check = { atMs: nowMs, ok: verify({ mode: 'fast', n: RECENT_EVENTS }).then(({ ok }) => ok) }
    newest = check
    // A failed check proves nothing, so the next caller checks again.
    check.ok.catch(() => {
      if (newest === check) newest = null
    })
    return check.ok
  }
}
