import { powerOfTwo } from '../shared/portable-math.ts'

/** The newest outcomes of an author; older ones count less and less. The members are those of a tally. */
export interface RecentSkill {
  readonly surplus: number
  readonly gainMax: number
  readonly lossMax: number
  readonly weight: number
}

export const NO_RECENT_SKILL: RecentSkill = { surplus: 0, gainMax: 0, lossMax: 0, weight: 0 }

export interface TrustRules {
  readonly trust: {
    /** So many outcomes without any make form count half. */
    readonly prior: number
    readonly slope: number
    readonly min: number
    readonly max: number
  }
}

/** After as many outcomes as `halfLife` one counts half. */
export const recentSkillAfter = (
  before: RecentSkill,
  outcome: RecentSkill,
  halfLife: number,
): RecentSkill => {
  const kept = powerOfTwo(-outcome.weight / halfLife)
  return {
    surplus: kept * before.surplus + outcome.surplus,
    gainMax: kept * before.gainMax + outcome.gainMax,
    lossMax: kept * before.lossMax + outcome.lossMax,
    weight: kept * before.weight + outcome.weight,
  }
}

/**
 * What an author's word is multiplied with: 1 for a stranger and for chance, more for one who is right beyond the base
 * rate these days, little for one who is wrong. A long good record does not shield one who turned bad.
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
