import { clamp, powerOfTwo } from '../shared/numbers.ts'

/**
 * How much better than chance an author's newest calls were. A call is graded from -1 (fully wrong) to 1 (fully right),
 * less what any call in that direction could expect; each newer outcome discounts the older ones.
 */
export interface Edge {
  /** How many outcomes the sums stand for. */
  readonly weight: number
  readonly sum: number
  readonly squares: number
  /** Squared sums of whole spans: calls of one day are often right or wrong together, and so are those about the same week. */
  readonly spanSquares: number
  /** The UTC day with which the newest span begins, and of how many days it is. */
  readonly day: number
  readonly days: number
  readonly spanSum: number
  /** The weight and the sum of the newest outcomes alone. */
  readonly recentWeight: number
  readonly recentSum: number
  /** All outcomes ever, without discount. */
  readonly outcomes: number
  /** Of their calls from the author's calls before, added up. */
  readonly distances: number
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
  distances: 0,
}

/** After newer outcomes whose distances add up to this one counts half in what an author has shown lately. */
const RECENT_HALF_LIFE = 30

export interface GradedOutcome {
  /** Grade minus what could be expected. */
  readonly surplus: number
  /** Of its call from the author's call before: calls that follow each other closely are forgotten like one, and known like one. */
  readonly distance: number
  /** How many days its call was about, at least 1. */
  readonly days: number
}

/** After newer outcomes whose distances add up to `halfLife` an outcome counts half. */
export const edgeAfter = (
  before: Edge,
  { surplus, distance, days }: GradedOutcome,
  day: number,
  halfLife: number,
): Edge => {
  const kept = powerOfTwo(-distance / halfLife)
  const keptRecent = powerOfTwo(-distance / RECENT_HALF_LIFE)
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
    distances: before.distances + distance,
  }
}

export interface EdgeRules {
  /** So many outcomes at chance are added to those of every author. */
  readonly prior: number
  /** Standard errors. */
  readonly caution: number
}

export interface EstimatedEdge {
  /** Mean grade, shrunk to 0 by the prior; no more of an edge than what the newest outcomes leave of it. */
  readonly mean: number
  readonly error: number
  /** Independent outcomes that the estimate rests on. */
  readonly evidence: number
  /** What is left of the mean after `caution` standard errors, at least 0. */
  readonly sure: number
}

/**
 * Ten calls that win and lose together say little more than one: only days that differ are evidence. A long memory tells
 * skill from luck but is slow to see that an author has lost its skill, so a positive edge has to show in its newest outcomes too.
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

/** The mean of outcomes of that weight, as far as there is evidence for it. */
const shrunk = (sum: number, evidence: number, weight: number, { prior, towards }: Prior): number => {
  const all = evidence + prior
  // Against a strong drift a grade may exceed 1.
  return weight === 0 || all === 0 ? towards : (clamp(sum / weight) * evidence + prior * towards) / all
}
