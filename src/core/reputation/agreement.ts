import { clamp01, powerOfTwo } from '../shared/numbers.ts'
import { DAY_MS } from '../shared/time.ts'
import type { CallDirection } from './calls.ts'

/** Current view of an author on a symbol: its latest call there that did not merely extend an earlier one. */
export interface Stance {
  readonly author: string
  readonly direction: CallDirection
  readonly atMs: number
  /** How long the call stays open after `atMs`. */
  readonly openMs: number
  /** Due time of the latest call that extends it. */
  readonly untilMs: number
  /** Ordinal of the call among all calls of the author. */
  readonly nth: number
  /** Time from which calls of other authors were compared with this one. */
  readonly newsFromMs: number
}

export const isOpenAt = (stance: Stance, nowMs: number): boolean => nowMs < endOf(stance)

const endOf = ({ atMs, openMs }: Stance): number => atMs + openMs

/** 1 for one direction, -1 for opposite ones. */
export const agreementOf = (one: CallDirection, other: CallDirection): number => {
  if (one === other) return 1
  return one === 'neutral' || other === 'neutral' ? 0 : -1
}

/** Calls of an author. Except for `calls`, the sums discount older calls. */
export interface CallCount {
  /** All calls, without discount. */
  readonly calls: number
  /**
   * Discounted number of calls. A call that its author contradicted counts only as the part of its time before that.
   */
  readonly weight: number
  readonly squares: number
  /** Bullish minus bearish calls. */
  readonly lean: number
}

/** Number of newer calls after which a call of the author counts half. */
const HALF_LIFE_CALLS = 100

const KEPT_PER_CALL = powerOfTwo(-1 / HALF_LIFE_CALLS)

/** Remaining weight of the `nth` call of an author with this many calls. */
export const keptOf = (nth: number, calls: number): number => powerOfTwo((nth - calls) / HALF_LIFE_CALLS)

const LEAN = { bullish: 1, neutral: 0, bearish: -1 } as const

export const countedCall = (before: CallCount | undefined, direction: CallDirection): CallCount => ({
  calls: (before?.calls ?? 0) + 1,
  weight: (before?.weight ?? 0) * KEPT_PER_CALL + 1,
  squares: (before?.squares ?? 0) * KEPT_PER_CALL + 1,
  lean: (before?.lean ?? 0) * KEPT_PER_CALL + LEAN[direction],
})

/** Sums after the author contradicted that call. */
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

/** How far the calls of one author repeat open calls of another. The sums discount older calls of the first author. */
export interface Repetition {
  /**
   * Sum of agreements: 1 for the direction of a call just made, -1 for the opposite, nearer to 0 the older that call
   * is.
   */
  readonly agreed: number
  readonly squares: number
  /** Like `agreed`, but never reduced when the other author contradicts its call later. */
  readonly atOnce: number
  /** Ordinal of the first author's call up to which the sums are discounted. */
  readonly asOfCall: number
  readonly day: number
}

/** Sums after a call was compared with an open one. */
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

/**
 * Sums after the author of one of the two calls contradicted it. The pair then counts only for the time that has
 * passed.
 */
export const endedEarly = (before: Repetition, stance: Stance, other: Stance, nowMs: number): Repetition => {
  const togetherMs = Math.min(endOf(stance), endOf(other)) - stance.atMs
  // The two calls were not compared.
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

/** Part of the other call that was still open. */
const nearnessOf = (stance: Stance, other: Stance): number => {
  const age = (stance.atMs - other.atMs) / other.openMs
  return clamp01(1 - age * age)
}
