/**
 * The time of the service. The clock of a browser may be wrong by minutes, and would show an expired approval as open
 * and an old price as new.
 */
let offsetMs = 0

/** Below this a difference is that of whole seconds and of the way here. */
const OFFSET_MS_MIN = 3000

export const serverNow = (): number => Date.now() + offsetMs

/** A reading of the browser's clock, as the service would have read it. */
export const toServerTime = (browserMs: number): number => browserMs + offsetMs

/** How far the browser's clock is behind; negative if it is ahead, 0 if it is right. */
export const browserBehindMs = (): number => offsetMs

/** Every response has the time at which it was sent. */
export const readServerTime = (response: Pick<Response, 'headers'>): void => {
  const behindMs = behindBy(response.headers.get('date'), Date.now())
  if (behindMs !== null) offsetMs = behindMs
}

/** Null where the header says nothing. */
export const behindBy = (header: string | null, browserMs: number): number | null => {
  // Cut to whole seconds: on average it was half a second later.
  const sentMs = Date.parse(header ?? '') + 500
  if (Number.isNaN(sentMs)) return null
  const behindMs = sentMs - browserMs
  return Math.abs(behindMs) < OFFSET_MS_MIN ? 0 : behindMs
}
