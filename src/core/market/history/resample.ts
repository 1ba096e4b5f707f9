import type { HistoryBar } from './series.ts'

export interface ResampleRules {
  readonly toSeconds: number
  /** The history begins with these bars: a longer bar that began before them is left out. */
  readonly isBeginning: boolean
  /** The history ends with these bars: a longer bar that is not complete by then is left out. */
  readonly isEnd: boolean
  readonly fromSeconds: number
}

/**
 * Resamples to longer bars, oldest first. A bar with a gap inside is built from the bars that exist. A bar that is cut
 * off by the beginning or the end of the history would be wrong and is left out.
 */
export const resample = (bars: readonly HistoryBar[], rules: ResampleRules): readonly HistoryBar[] => {
  const [fromMs, toMs] = [rules.fromSeconds * 1000, rules.toSeconds * 1000]
  const longer: HistoryBar[] = []
  for (const bar of bars) {
    const openMs = Math.floor(bar.openMs / toMs) * toMs
    const last = longer.at(-1)
    if (last?.openMs === openMs) longer[longer.length - 1] = joined(last, bar)
    else longer.push({ ...bar, openMs })
  }
  const [first, last] = [bars[0], bars.at(-1)]
  if (rules.isBeginning && first !== undefined && first.openMs % toMs !== 0) longer.shift()
  if (rules.isEnd && last !== undefined && (last.openMs + fromMs) % toMs !== 0) {
    const openMs = Math.floor(last.openMs / toMs) * toMs
    if (longer.at(-1)?.openMs === openMs) longer.pop()
  }
  return longer
}

const joined = (one: HistoryBar, next: HistoryBar): HistoryBar => ({
  openMs: one.openMs,
  open: one.open,
  high: Math.max(one.high, next.high),
  low: Math.min(one.low, next.low),
  close: next.close,
  volume: one.volume + next.volume,
})
