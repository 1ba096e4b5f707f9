import type { Timestamp } from '../shared/brand.ts'
import { tallyWithin, type Outcomes, type Tally } from './outcomes.ts'

/** Reputation of a new author: neither better nor worse than chance. */
const CHANCE_REPUTATION = 50

export interface ReputationRules {
  /** Number of outcomes at which skill counts half. */
  readonly producer_k: number
  readonly producer_window_days: number
}

/**
 * Reputation from 0 to 100, for producers and contributors. Chance gives 50 in any market, because calls are measured
 * against the expectation of any call in their direction. Little evidence keeps the score near 50.
 */
export const reputationOf = (
  { surplus, gainMax, lossMax, evidence }: Pick<Tally, 'surplus' | 'gainMax' | 'lossMax' | 'evidence'>,
  outcomesForHalf: number,
): number => {
  const bound = surplus >= 0 ? gainMax : lossMax
  if (bound <= 0) return CHANCE_REPUTATION
  return CHANCE_REPUTATION + (50 * (surplus / bound) * evidence) / (evidence + outcomesForHalf)
}

export const reputationAt = (
  outcomes: Outcomes,
  author: string,
  asOf: Timestamp,
  { producer_k, producer_window_days }: ReputationRules,
): number => reputationOf(tallyWithin(outcomes, author, asOf, producer_window_days), producer_k)
