import type { Timestamp } from '../shared/brand.ts'
import { tallyWithin, type Outcomes, type RecentSkill, type Tally } from './outcomes.ts'

/** Where every author begins: neither better nor worse than chance. */
export const CHANCE_REPUTATION = 50

export interface ReputationRules {
  /** With this many outcomes skill counts half. */
  readonly producer_k: number
  readonly producer_window_days: number
}

/**
 * 0 to 100, for producers and contributors. Chance gives 50 in any market, because hits are measured against their
 * base rate. Few outcomes move it little.
 */
export const reputationOf = (
  { surplus, gainMax, lossMax, weight }: Pick<Tally, 'surplus' | 'gainMax' | 'lossMax' | 'weight'>,
  outcomesForHalf: number,
): number => {
  const bound = surplus >= 0 ? gainMax : lossMax
  if (bound <= 0) return CHANCE_REPUTATION
  return CHANCE_REPUTATION + (50 * (surplus / bound) * weight) / (weight + outcomesForHalf)
}

export const reputationAt = (
  outcomes: Outcomes,
  author: string,
  asOf: Timestamp,
  { producer_k, producer_window_days }: ReputationRules,
): number => reputationOf(tallyWithin(outcomes, author, asOf, producer_window_days), producer_k)

export interface TrustRules {
  readonly trust: {
    /** With this many outcomes recent skill counts half. */
    readonly prior: number
    readonly slope: number
    readonly min: number
    readonly max: number
  }
}

/**
 * The factor on an author's weight: 1 for a new author and at chance, more for recent hits above the base rate, less
 * for misses. A long good record does not protect an author whose recent calls are wrong.
 */
export const trustOf = (
  { surplus, gainMax, lossMax, weight }: RecentSkill,
  { trust }: TrustRules,
): number => {
  const bound = surplus >= 0 ? gainMax : lossMax
  if (bound <= 0) return 1
  const skill = ((surplus / bound) * weight) / (weight + trust.prior)
  return Math.min(trust.max, Math.max(trust.min, 1 + trust.slope * skill))
}
