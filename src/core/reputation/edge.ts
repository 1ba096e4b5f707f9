import { clamp, powerOfTwo } from '../shared/numbers.ts'

/**
 * How much better than chance the recent calls of an author were. A call is graded from -1 (fully wrong) to 1 (fully
 * right), minus the expectation of any call in that direction. Each newer outcome discounts the older ones.
 */
export interface Edge {
  /** Number of outcomes that the sums stand for, after discount. */
  readonly weight: number
  readonly sum: number
  readonly squares: number
  /** Squared sums of whole spans. Calls of one day, or about the same week, are often right or wrong together. */
  readonly spanSquares: number
  /** First UTC day of the current span, and its length in days. */
  readonly day: number
  readonly days: number
  readonly spanSum: number
  /** Weight and sum of the most recent outcomes only. */
  readonly recentWeight: number
  readonly recentSum: number
  /** Number of all outcomes, without discount. */
  readonly outcomes: number
  /** Sum of the spacings of all outcomes; see `GradedOutcome`. */
  readonly spacings: number
}

export const NO_EDGE: Edge = {
  weight: 0,
  sum: 0,
  squares: 0,
  spanSquares: 0,
  day: 0,
  days: 0,
  spanSum: 0,
  recentWeight: 0,
  recentSum: 0,
  outcomes: 0,
  spacings: 0,
}

/** Sum of spacings of newer outcomes after which an outcome counts half in the recent sums. */
const RECENT_HALF_LIFE = 30

export interface GradedOutcome {
  /** Grade minus its expectation. */
  readonly surplus: number
  /**
   * Spacing of its call from the previous call of the author, 0 to 1. Calls in close succession discount the others,
   * and count as experience, like a single call.
   */
  readonly spacing: number
  /** Number of days that its call covers, at least 1. */
  readonly days: number
}

/** Adds an outcome. Once the spacings of newer outcomes sum to `halfLife`, an outcome counts half. */
export const edgeAfter = (
  before: Edge,
  { surplus, spacing, days }: GradedOutcome,
  day: number,
  halfLife: number,
): Edge => {
  const kept = powerOfTwo(-spacing / halfLife)
  const keptRecent = powerOfTwo(-spacing / RECENT_HALF_LIFE)
  const grade = 2 * surplus
  const isNewSpan = day < before.day || day >= before.day + before.days
  const spanSquares = before.spanSquares + (isNewSpan ? before.spanSum * before.spanSum : 0)
  return {
    weight: kept * before.weight + 1,
    sum: kept * before.sum + grade,
    squares: kept * before.squares + grade * grade,
    spanSquares: kept * spanSquares,
    day: isNewSpan ? day : before.day,
    days: isNewSpan ? days : Math.max(before.days, days),
    spanSum: (isNewSpan ? 0 : before.spanSum) + grade,
    recentWeight: keptRecent * before.recentWeight + 1,
    recentSum: keptRecent * before.recentSum + grade,
    outcomes: before.outcomes + 1,
    spacings: before.spacings + spacing,
  }
}

export interface EdgeRules {
  /** Number of outcomes at chance that are added to those of every author. */
  readonly prior: number
  /** Standard errors deducted from the mean. */
  readonly caution: number
}

export interface EstimatedEdge {
  /** Mean grade, shrunk towards 0 by the prior. A positive mean is limited to the edge in the most recent outcomes. */
  readonly mean: number
  readonly error: number
  /** Number of independent outcomes behind the estimate. */
  readonly evidence: number
  /** Mean minus `caution` standard errors, at least 0. */
  readonly sure: number
}

/**
 * Estimates the edge. Ten calls that win and lose together are little more evidence than one: only different days are
 * independent. A long memory separates skill from luck, but is slow to notice lost skill, so a positive edge must also
 * show in the most recent outcomes.
 */
export const estimatedEdge = (edge: Edge, { prior, caution }: EdgeRules): EstimatedEdge => {
  const together = edge.spanSquares + edge.spanSum * edge.spanSum
  const crowding = edge.squares > 0 ? Math.max(1, together / edge.squares) : 1
  const evidence = edge.weight / crowding
  const all = evidence + prior
  const lasting = shrunk(edge.sum, edge.weight / crowding, edge.weight, { prior, towards: 0 })
  const recent = shrunk(edge.recentSum, edge.recentWeight / crowding, edge.recentWeight, {
    prior,
    towards: lasting,
  })
  const mean = Math.min(lasting, Math.max(0, recent))
  // A grade deviates by at most 1.
  const error = all === 0 ? 1 : 1 / Math.sqrt(all)
  return { mean, error, evidence, sure: Math.max(0, mean - caution * error) }
}

interface Prior {
  readonly prior: number
  readonly towards: number
}

/** Mean of the outcomes, shrunk towards a prior value. */
const shrunk = (sum: number, evidence: number, weight: number, { prior, towards }: Prior): number => {
  const all = evidence + prior
  // Against a strong drift, a grade may exceed 1.
  return weight === 0 || all === 0 ? towards : (clamp(sum / weight) * evidence + prior * towards) / all
}
