import type { Span } from './candles.ts'

export interface PastPlan {
  /** In coarse bars, before everything else. */
  readonly warmup: Span | null
  /** Where the first bar of the ordinary length opens. */
  readonly nextMs: number
}

export interface PastSituation {
  readonly nowMs: number
  readonly barMs: number
  /** Of the newest stored bar; null for a symbol without bars. */
  readonly lastCloseMs: number | null
  readonly warmupHours: number
  /** Null where the venue has no bars that are coarser and fit. */
  readonly warmupBarMs: number | null
}

/** Where a symbol goes on: behind what is stored, or with its past where nothing is. */
export const planPast = (situation: PastSituation): PastPlan => {
  const { nowMs, barMs, lastCloseMs, warmupHours, warmupBarMs } = situation
  if (lastCloseMs !== null) return { warmup: null, nextMs: Math.ceil(lastCloseMs / barMs) * barMs }
  const warmupMs = warmupHours * 3_600_000
  const newestMs = floorTo(nowMs, barMs)
  if (warmupBarMs === null || warmupMs < warmupBarMs) {
    return { warmup: null, nextMs: floorTo(newestMs - warmupMs, barMs) }
  }
  const toMs = floorTo(newestMs, warmupBarMs)
  return { warmup: { fromMs: floorTo(toMs - warmupMs, warmupBarMs), toMs }, nextMs: toMs }
}

/** What is still asked for: a longer absence is not made up for. */
export const earliestMs = (boundaryMs: number, barMs: number): number =>
  boundaryMs - BACKFILL_BARS_MAX * barMs

export const floorTo = (ms: number, stepMs: number): number => Math.floor(ms / stepMs) * stepMs

/** Three days of minutes. */
export const BACKFILL_BARS_MAX = 4320
