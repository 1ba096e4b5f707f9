import type { Clock } from '../../ports/clock.ts'
import type { IntegrityReport } from './report.ts'

/** How many of the newest events are looked at. */
export const RECENT_EVENTS = 100

/** What was found holds for so long. */
export const RECENT_CHECK_MS = 1000

type Verify = (request: { readonly mode: 'fast'; readonly n: number }) => Promise<IntegrityReport>

/**
 * Whether the newest events verify, for endpoints that anybody may call: however many ask, the log is looked at once
 * a second and by one check at a time.
 */
export const recentCheck = (verify: Verify, clock: Pick<Clock, 'now'>): (() => Promise<boolean>) => {
  let newest: { readonly atMs: number; readonly ok: Promise<boolean> } | null = null
  return () => {
    const nowMs = clock.now()
    if (newest !== null && nowMs - newest.atMs < RECENT_CHECK_MS) return newest.ok
    const check = { atMs: nowMs, ok: verify({ mode: 'fast', n: RECENT_EVENTS }).then(({ ok }) => ok) }
    newest = check
    // A failed check proves nothing: the next caller checks again.
    check.ok.catch(() => {
      if (newest === check) newest = null
    })
    return check.ok
  }
}
