import { authorKey } from '../shared/author-key.ts'
import type { Tally } from './day-rows.ts'
import { tallyWithin, type Outcomes } from './outcomes.ts'

/** Where every author begins: no better and no worse than chance. */
export const CHANCE_KARMA = 50

export interface KarmaRules {
  /** So many outcomes make skill count half. */
  readonly producer_k: number
  readonly producer_window_days: number
}

/**
 * 0 to 100, of producers and contributors alike. Chance gives 50 in any market, since a hit counts only as far as it
 * was not to be expected; few outcomes prove little.
 */
export const karmaOf = (
  { surplus, gainMax, lossMax, weight }: Pick<Tally, 'surplus' | 'gainMax' | 'lossMax' | 'weight'>,
  outcomesForHalf: number,
): number => {
  const bound = surplus >= 0 ? gainMax : lossMax
  if (bound <= 0) return CHANCE_KARMA
  return CHANCE_KARMA + (50 * (surplus / bound) * weight) / (weight + outcomesForHalf)
}

export const karmaAt = (
  outcomes: Outcomes,
  author: string,
  asOf: string,
  { producer_k, producer_window_days }: KarmaRules,
): number => karmaOf(tallyWithin(outcomes, author, asOf, producer_window_days), producer_k)

/** Of the producers of these names. */
export const karmaByName = (
  outcomes: Outcomes,
  names: readonly string[],
  asOf: string,
  rules: KarmaRules,
): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, karmaAt(outcomes, authorKey(null, name), asOf, rules)]))
