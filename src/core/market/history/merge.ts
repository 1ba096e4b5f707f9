import { isSameBar, type HistoryBar } from './series.ts'

/** Two different bars with the same time. */
export interface BarConflict {
  readonly kept: HistoryBar
  readonly dropped: HistoryBar
}

export interface MergedBars {
  /** Oldest first, each time once. */
  readonly bars: readonly HistoryBar[]
  readonly added: number
  /** Number of stored bars whose values were replaced. */
  readonly replaced: number
  /** Number of new bars that were stored already with the same values. */
  readonly repeated: number
  readonly conflicts: readonly BarConflict[]
}

/**
 * Merges stored and new bars, in any order. If two bars of one time differ, the stored one is kept unless the new ones
 * replace; among new bars the first counts. Merging the same bars again changes nothing.
 */
export const mergeBars = (
  stored: readonly HistoryBar[],
  given: readonly HistoryBar[],
  { replaces }: { readonly replaces: boolean },
): MergedBars => {
  const byTime = new Map(stored.map((bar) => [bar.openMs, bar]))
  const fromGiven = new Set<number>()
  const conflicts: BarConflict[] = []
  let [added, replaced, repeated] = [0, 0, 0]
  for (const bar of given) {
    const known = byTime.get(bar.openMs)
    const isFirst = !fromGiven.has(bar.openMs)
    fromGiven.add(bar.openMs)
    if (known === undefined) {
      byTime.set(bar.openMs, bar)
      added += 1
    } else if (isSameBar(known, bar)) {
      repeated += 1
    } else if (replaces && isFirst) {
      byTime.set(bar.openMs, bar)
      replaced += 1
      conflicts.push({ kept: bar, dropped: known })
    } else {
      conflicts.push({ kept: known, dropped: bar })
    }
  }
  const bars = [...byTime.values()].sort((one, other) => one.openMs - other.openMs)
  return { bars, added, replaced, repeated, conflicts }
}
