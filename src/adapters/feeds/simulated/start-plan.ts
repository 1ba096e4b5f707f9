/** A row of bars without a gap. */
export interface BarRow {
  readonly openMs: number
  readonly resolutionSeconds: number
  readonly count: number
}

export interface StartPlan {
  /** Made before the first bar of the ordinary length. */
  readonly warmup: BarRow
  /** Of the first bar of the ordinary length. */
  readonly openMs: number
}

export interface StartSituation {
  readonly nowMs: number
  readonly barSeconds: number
  readonly warmupHours: number
  /** Of the newest stored bar; null for a store without bars. */
  readonly lastCloseMs: number | null
}

/** Where a path begins: with its past on an empty store, else where the stored bars end. */
export const planStart = ({ nowMs, barSeconds, warmupHours, lastCloseMs }: StartSituation): StartPlan => {
  const barMs = barSeconds * 1000
  if (lastCloseMs !== null) {
    const openMs = Math.ceil(lastCloseMs / barMs) * barMs
    return { warmup: { openMs, resolutionSeconds: WARMUP_BAR_SECONDS, count: 0 }, openMs }
  }
  const currentMs = Math.floor(nowMs / barMs) * barMs
  const count = (warmupHours * 3600) / WARMUP_BAR_SECONDS
  if (count === 0) {
    return { warmup: { openMs: currentMs, resolutionSeconds: WARMUP_BAR_SECONDS, count }, openMs: currentMs }
  }
  const warmupMs = WARMUP_BAR_SECONDS * 1000
  const endMs = Math.floor(currentMs / warmupMs) * warmupMs
  return {
    warmup: { openMs: endMs - count * warmupMs, resolutionSeconds: WARMUP_BAR_SECONDS, count },
    openMs: Math.ceil(endMs / barMs) * barMs,
  }
}

/**
 * The next bar to make when `openMs` would be next: after a long pause only the newest ones are made up, for
 * nobody needs days of minutes at once.
 */
export const catchUpFrom = (openMs: number, nowMs: number, barSeconds: number): number => {
  const barMs = barSeconds * 1000
  const earliestMs = Math.floor(nowMs / barMs) * barMs - CATCH_UP_BARS_MAX * barMs
  return Math.max(openMs, earliestMs)
}

const WARMUP_BAR_SECONDS = 900
export const CATCH_UP_BARS_MAX = 240
