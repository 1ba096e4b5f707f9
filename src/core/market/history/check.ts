import { DAY_MS, HOUR_MS, timestampAt } from '../../shared/time.ts'
import { historyBarFault, isSameBar, type HistoryBar } from './series.ts'

/** Kinds of faults in recorded bars. */
export const FINDING_KINDS = [
  'gap',
  'duplicate',
  'out_of_order',
  'off_grid',
  'invalid',
  'outlier',
  'future',
  'time_zone',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

export interface HistoryFinding {
  readonly kind: FindingKind
  readonly at: string
  readonly detail: string
}

export interface HistoryFindings {
  readonly bars: number
  /** Number of findings by kind, including those not listed. */
  readonly counts: Readonly<Record<FindingKind, number>>
  /** The first findings of each kind. */
  readonly findings: readonly HistoryFinding[]
  /** Number of missing bars between the first and the last. */
  readonly missing: number
}

/** Number of listed findings per kind. All findings are counted. */
const LISTED_MAX = 20

export interface HistoryCheck {
  /** Adds the next bars, in the order in which they are stored. */
  add(bars: readonly HistoryBar[]): void
  result(): HistoryFindings
}

/** Checks bars month by month, so that memory does not grow with the history. */
export const createHistoryCheck = (seconds: number, nowMs: number): HistoryCheck => {
  const barMs = seconds * 1000
  const counts = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0])) as Record<FindingKind, number>
  const findings: HistoryFinding[] = []
  const clockChanges = createClockChanges()
  const offsets = new Map<number, number>()
  let last: HistoryBar | null = null
  let [bars, missing] = [0, 0]

  const report = (kind: FindingKind, atMs: number, detail: string): void => {
    counts[kind] += 1
    if (counts[kind] <= LISTED_MAX) findings.push({ kind, at: timestampAt(atMs), detail })
  }

  const reportStep = (before: HistoryBar, bar: HistoryBar): void => {
    const distanceMs = bar.openMs - before.openMs
    if (distanceMs === 0) {
      report('duplicate', bar.openMs, isSameBar(before, bar) ? 'the same bar twice' : 'two different bars')
    } else if (distanceMs < 0) {
      report('out_of_order', bar.openMs, `stands behind ${timestampAt(before.openMs)}`)
    } else if (distanceMs > barMs) {
      const count = Math.ceil(distanceMs / barMs) - 1
      missing += count
      clockChanges.addGap(before.openMs + barMs, distanceMs - barMs)
      report('gap', before.openMs + barMs, `${count} bars missing, up to ${timestampAt(bar.openMs)}`)
    }
  }

  return {
    add: (added) => {
      const moveMax = outlierLimit(added)
      for (const bar of added) {
        bars += 1
        const offMs = bar.openMs % barMs
        if (offMs !== 0) {
          offsets.set(offMs, (offsets.get(offMs) ?? 0) + 1)
          report('off_grid', bar.openMs, `not a multiple of ${seconds} seconds`)
        }
        if (bar.openMs + barMs > nowMs) report('future', bar.openMs, 'closes after now')
        const fault = historyBarFault(bar)
        if (fault !== null) report('invalid', bar.openMs, fault)
        if (last !== null) {
          reportStep(last, bar)
          const move = fault === null ? largestMove(last.close, bar) : 0
          const isNext = bar.openMs - last.openMs === barMs
          if (isNext && move > moveMax) {
            report('outlier', bar.openMs, `${(move * 100).toFixed(1)} % from the close before`)
          }
        }
        if (last === null || bar.openMs >= last.openMs) last = bar
      }
    },
    result: () => {
      for (const { atMs, detail } of [...shiftedGrid(offsets, bars), ...clockChanges.findings()]) {
        report('time_zone', atMs, detail)
      }
      return { bars, counts, findings, missing }
    },
  }
}

/** The largest distance of this bar from the close before it. */
const largestMove = (before: number, { high, low, close }: HistoryBar): number =>
  Math.max(...[high, low, close].map((price) => Math.abs(price / before - 1)))

/** Limit far beyond the usual moves of these bars: forty times their median move, and at least five percent. */
const outlierLimit = (bars: readonly HistoryBar[]): number => {
  const moves = bars
    .flatMap((bar, index) => {
      const before = bars[index - 1]
      return before === undefined || !(before.close > 0) ? [] : [Math.abs(bar.close / before.close - 1)]
    })
    .sort((one, other) => one - other)
  return Math.max(OUTLIER_MIN, OUTLIER_MEDIANS * (moves[Math.floor(moves.length / 2)] ?? 0))
}

const OUTLIER_MIN = 0.05
const OUTLIER_MEDIANS = 40

interface ZoneFinding {
  readonly atMs: number
  readonly detail: string
}

/** A finding if nearly all bars are off the grid by the same offset: their days start at another midnight. */
const shiftedGrid = (offsets: ReadonlyMap<number, number>, bars: number): readonly ZoneFinding[] => {
  const [most] = [...offsets].sort(([, one], [, other]) => other - one)
  if (most === undefined || most[1] < bars * 0.9) return []
  const hours = most[0] / HOUR_MS
  return [{ atMs: 0, detail: `bars open ${hours} hours after the UTC grid: the times are not UTC` }]
}

/**
 * Detects times in a zone with daylight saving, which lack one hour on a Sunday in March (in the south: in September or
 * October). One such Sunday may be an outage, two are a clock.
 */
const createClockChanges = () => {
  const changes: number[] = []
  return {
    addGap: (fromMs: number, lengthMs: number): void => {
      const from = new Date(fromMs)
      const isSpring = [2, 8, 9].includes(from.getUTCMonth()) && from.getUTCDay() === 0
      const isAtNight = fromMs % DAY_MS <= 3 * HOUR_MS
      if (lengthMs === HOUR_MS && isSpring && isAtNight) changes.push(fromMs)
    },
    findings: (): readonly ZoneFinding[] => {
      const [first] = changes
      if (first === undefined || changes.length < 2) return []
      const detail = `an hour is missing at ${changes.length} changes to summer time: the times are not UTC`
      return [{ atMs: first, detail }]
    },
  }
}
