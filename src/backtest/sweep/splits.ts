import { DAY_MS } from '../../core/shared/time.ts'

/** The time that a run trades. */
export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

/** Parameters are chosen in one window and tried in the next, which the choice has not seen. */
export interface WalkForwardStep {
  readonly train: Window
  readonly test: Window
}

/** The time is too short for what is asked; the message says how long it is. */
export class SplitError extends Error {
  override readonly name = 'SplitError'
}

/** Step by step through the range, each test beginning where the one before ended. */
export const walkForward = (
  { fromMs, toMs }: Window,
  trainMs: number,
  testMs: number,
): readonly WalkForwardStep[] => {
  const count = Math.floor((toMs - fromMs - trainMs) / testMs)
  if (count < 1) {
    throw new SplitError(
      `${daysText(toMs - fromMs)} hold no window of ${daysText(trainMs)} and the ${daysText(testMs)} behind it`,
    )
  }
  // Before they are made: minutes of a century would not fit into memory.
  if (count > STEPS_MAX) throw new SplitError(`${count} windows are too many: at most ${STEPS_MAX}`)
  return Array.from({ length: count }, (_, step) => {
    const startMs = fromMs + step * testMs
    const middleMs = startMs + trainMs
    return {
      train: { fromMs: startMs, toMs: middleMs },
      test: { fromMs: middleMs, toMs: middleMs + testMs },
    }
  })
}

const STEPS_MAX = 1000

/** Blocks of whole days, as equal as they can be: a day belongs to one block alone. */
export const foldsOf = ({ fromMs, toMs }: Window, count: number): readonly Window[] => {
  const firstMs = Math.ceil(fromMs / DAY_MS) * DAY_MS
  const days = Math.floor((toMs - firstMs) / DAY_MS)
  if (days < count * FOLD_DAYS_MIN) {
    throw new SplitError(
      `${days} whole days are too few for ${count} folds: each needs ${FOLD_DAYS_MIN} days at least`,
    )
  }
  const cut = (index: number): number => firstMs + Math.floor((days * index) / count) * DAY_MS
  return Array.from({ length: count }, (_, index) => ({ fromMs: cut(index), toMs: cut(index + 1) }))
}

const FOLD_DAYS_MIN = 2

/**
 * The daily returns of a block that may be learned from, where another block is tested: what lies closer to the tested
 * block than the embargo is left out, since trades and indicators reach across the border.
 */
export const purged = (
  returns: readonly number[],
  block: Window,
  tested: Window,
  embargoMs: number,
): readonly number[] => {
  const isBefore = block.fromMs < tested.fromMs
  const gapMs = isBefore ? tested.fromMs - block.toMs : block.fromMs - tested.toMs
  // Counted from the border: a day without bars has no return.
  const days = Math.max(0, Math.ceil((embargoMs - gapMs) / DAY_MS))
  return isBefore ? returns.slice(0, Math.max(0, returns.length - days)) : returns.slice(days)
}

/** `12h`, `30d`, `6w` in milliseconds; null for anything else. */
export const durationMs = (text: string): number | null => {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([mhdw])$/.exec(text.trim()) ?? []
  const unitMs = UNITS_MS[unit]
  return unitMs === undefined ? null : Number(count) * unitMs
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
}

const daysText = (ms: number): string => {
  const days = Math.round((ms / DAY_MS) * 10) / 10
  return `${days} ${days === 1 ? 'day' : 'days'}`
}

/**
 * Successive halving: each rung tries the third that was best on the rung before, on three times its time; the last one
 * on all of it. Every rung begins where the range begins.
 */
export const rungsOf = (range: Window, combinations: number): readonly { window: Window; keep: number }[] => {
  const count = Math.min(RUNGS_MAX, Math.floor(Math.log(combinations) / Math.log(KEPT_OF) + 1e-9) + 1)
  return Array.from({ length: count }, (_, rung) => {
    const share = KEPT_OF ** (rung + 1 - count)
    const toMs =
      rung === count - 1 ? range.toMs : range.fromMs + Math.ceil((range.toMs - range.fromMs) * share)
    return {
      window: { fromMs: range.fromMs, toMs },
      keep: Math.max(1, Math.ceil(combinations / KEPT_OF ** (rung + 1))),
    }
  })
}

const KEPT_OF = 3
const RUNGS_MAX = 4
