import { clamp01, powerOfTwo } from '../shared/numbers.ts'
import { DAY_MS } from '../shared/time.ts'
import type { CallDirection } from './calls.ts'

/** What an author says of a symbol: the newest call that it did not only repeat. */
export interface Stance {
  readonly author: string
  readonly direction: CallDirection
  readonly atMs: number
  /** How long from then on the call is open. */
  readonly openMs: number
  /** When the newest call that repeats it is due. */
  readonly untilMs: number
  /** Which of the author's calls it is. */
  readonly nth: number
  /** What others said from then on it was compared with. */
  readonly newsFromMs: number
}

export const isOpenAt = (stance: Stance, nowMs: number): boolean => nowMs < endOf(stance)

const endOf = ({ atMs, openMs }: Stance): number => atMs + openMs

/** 1 for one direction, -1 for opposite ones. */
export const agreementOf = (one: CallDirection, other: CallDirection): number => {
  if (one === other) return 1
  return one === 'neutral' || other === 'neutral' ? 0 : -1
}

/** The calls of an author; sums that fade with its newer calls. */
export interface CallCount {
  /** All calls, without discount. */
  readonly calls: number
  /** A call that its author contradicted counts as the part of its time before that. */
  readonly weight: number
  readonly squares: number
  /** Bullish less bearish calls. */
  readonly lean: number
}

/** After so many newer calls of an author one counts half. */
const HALF_LIFE_CALLS = 100

const KEPT_PER_CALL = powerOfTwo(-1 / HALF_LIFE_CALLS)

/** What is left of a call when the author made so many in all. */
export const keptOf = (nth: number, calls: number): number => powerOfTwo((nth - calls) / HALF_LIFE_CALLS)

const LEAN = { bullish: 1, neutral: 0, bearish: -1 } as const

export const countedCall = (before: CallCount | undefined, direction: CallDirection): CallCount => ({
  calls: (before?.calls ?? 0) + 1,
  weight: (before?.weight ?? 0) * KEPT_PER_CALL + 1,
  squares: (before?.squares ?? 0) * KEPT_PER_CALL + 1,
  lean: (before?.lean ?? 0) * KEPT_PER_CALL + LEAN[direction],
})

/** After its author contradicted that call. */
export const withdrawnFrom = (
  { calls, weight, squares, lean }: CallCount,
  { nth, direction, atMs, openMs }: Stance,
  nowMs: number,
): CallCount => {
  const passed = clamp01((nowMs - atMs) / openMs)
  const kept = keptOf(nth, calls)
  return {
    calls,
    weight: weight - kept * (1 - passed),
    squares: squares - kept * (1 - passed * passed),
    lean: lean - kept * (1 - passed) * LEAN[direction],
  }
}

/** How far the calls of one author repeat open calls of another; sums that fade with the first one's newer calls. */
export interface Repetition {
  /** 1 for the same direction as a call just made, -1 for the opposite, towards 0 as that call nears its end. */
  readonly agreed: number
  readonly squares: number
  /** The same as it was when the first one spoke, whatever the other said afterwards. */
  readonly atOnce: number
  /** The number of the call of the first author up to which the sums are discounted. */
  readonly asOfCall: number
  readonly day: number
}

/** After a call, compared with an open one. */
export const repeatedBy = (before: Repetition | undefined, stance: Stance, other: Stance): Repetition => {
  const { nth } = stance
  const nearness = nearnessOf(stance, other)
  const agreed = nearness * agreementOf(stance.direction, other.direction)
  const kept = before === undefined ? 0 : keptOf(before.asOfCall, nth)
  return {
    agreed: kept * (before?.agreed ?? 0) + agreed,
    atOnce: kept * (before?.atOnce ?? 0) + agreed,
    squares: kept * (before?.squares ?? 0) + nearness * nearness,
    asOfCall: nth,
    day: Math.floor(stance.atMs / DAY_MS),
  }
}

/** After one of the two calls was contradicted: what was counted for all their time counts for what has passed of it. */
export const endedEarly = (before: Repetition, stance: Stance, other: Stance, nowMs: number): Repetition => {
  const togetherMs = Math.min(endOf(stance), endOf(other)) - stance.atMs
  // It was not compared with that one.
  if (other.atMs < stance.newsFromMs || !(togetherMs > 0)) return before
  const passed = clamp01((nowMs - stance.atMs) / togetherMs)
  const nearness = nearnessOf(stance, other)
  const kept = keptOf(stance.nth, before.asOfCall)
  return {
    ...before,
    agreed: before.agreed - kept * (1 - passed) * nearness * agreementOf(stance.direction, other.direction),
    squares: Math.max(0, before.squares - kept * (1 - passed * passed) * nearness * nearness),
  }
}

/** How much of what the other said was still ahead. */
const nearnessOf = (stance: Stance, other: Stance): number => {
  const age = (stance.atMs - other.atMs) / other.openMs
  return clamp01(1 - age * age)
}
