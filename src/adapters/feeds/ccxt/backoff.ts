/** How long to leave a venue alone after so many failures in a row: one second, doubled each time, a minute at most. */
export const backoffMs = (failures: number): number =>
  failures <= 0 ? 0 : Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX))

/** What a `Retry-After` header asks for: seconds, or a date. Null for what is neither. */
export const retryAfterMs = (header: string | null, nowMs: number): number | null => {
  if (header === null) return null
  const waitMs = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(waitMs) ? Math.max(0, Math.min(RETRY_AFTER_MS_MAX, waitMs)) : null
}

const BACKOFF_MS = 1000
const BACKOFF_MS_MAX = 60_000
const DOUBLINGS_MAX = 16
/** The longest ban that venues announce. */
const RETRY_AFTER_MS_MAX = 3 * 86_400_000
