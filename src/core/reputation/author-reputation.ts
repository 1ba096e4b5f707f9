import type { Timestamp } from '../shared/brand.ts'
import { tallyWithin, type Outcomes, type Tally } from './outcomes.ts'

/** Where every author begins: neither better nor worse than chance. */
const CHANCE_REPUTATION = 50

export interface ReputationRules {
  /** With this many outcomes skill counts half. */
  readonly producer_k: number
  readonly producer_window_days: number
}

/**
 * 0 to 100, for producers and contributors. Chance gives 50 in any market, because calls are measured against what any
 * call in their direction could expect. Little evidence moves it little.
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
