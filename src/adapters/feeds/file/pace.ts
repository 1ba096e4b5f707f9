/** When each bar of a replay is due. */
export interface Pace {
  /** How long to wait before what happened at `fileMs`. */
  waitMs(fileMs: number, nowMs: number): number
}

export const createPace = (speed: number): Pace => {
  let anchor: { readonly fileMs: number; readonly nowMs: number } | null = null
  let lastFileMs = 0
  return {
    waitMs: (fileMs, nowMs) => {
      const distanceMs = (fileMs - lastFileMs) / speed
      lastFileMs = fileMs
      anchor ??= { fileMs, nowMs }
      const leftMs = anchor.nowMs + (fileMs - anchor.fileMs) / speed - nowMs
      if (leftMs >= -LATE_MS_MAX && leftMs <= distanceMs + LATE_MS_MAX) return Math.max(0, leftMs)
      // The machine slept, storing was slow or the clock was set: go on from here, without a rush or a halt.
      anchor = { fileMs, nowMs }
      return 0
    },
  }
}

const LATE_MS_MAX = 5000
