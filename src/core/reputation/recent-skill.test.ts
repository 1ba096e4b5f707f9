import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { NO_RECENT_SKILL, type RecentSkill, recentSkillAfter } from './outcomes.ts'
import { trustOf } from './author-reputation.ts'

const rules = DEFAULT_CONFIGURATION.karma
const { half_life: halfLife } = rules.trust

const outcome = (hit: boolean, rate = 0.4): RecentSkill => ({
  surplus: (hit ? 1 : 0) - rate,
  gainMax: 1 - rate,
  lossMax: rate,
  weight: 1,
})

const trustAfter = (...hits: readonly boolean[]): number =>
  trustOf(
    hits.reduce((skill, hit) => recentSkillAfter(skill, outcome(hit), halfLife), NO_RECENT_SKILL),
    rules,
  )

const times = (count: number, hit: boolean): readonly boolean[] => Array.from({ length: count }, () => hit)

describe('trust', () => {
  it('is 1 for a stranger', () => {
    expect(trustOf(NO_RECENT_SKILL, rules)).toBe(1)
  })

  it('counts an outcome half after so many newer ones', () => {
    const skill = [
      outcome(true),
      ...times(halfLife, false).map(() => ({ ...NO_RECENT_SKILL, weight: 1 })),
    ].reduce((known, next) => recentSkillAfter(known, next, halfLife), NO_RECENT_SKILL)
    expect(skill.surplus).toBeCloseTo(0.3, 12)
  })

  it('grows and falls with what came of the newest calls, within its bounds', () => {
    expect(trustAfter(true)).toBeCloseTo(1 + 3 / 6, 12)
    expect(trustAfter(false)).toBeCloseTo(1 - 3 / 6, 12)
    expect(trustAfter(...times(500, true))).toBe(rules.trust.max)
    expect(trustAfter(...times(500, false))).toBe(rules.trust.min)
  })

  it('falls with recent misses, whatever the record before', () => {
    expect(trustAfter(...times(500, true), ...times(30, false))).toBeLessThan(0.5)
  })

  it('never falls by a hit and never grows by a miss', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (hits) => {
        expect(trustAfter(...hits, true)).toBeGreaterThanOrEqual(trustAfter(...hits, false))
      }),
    )
  })
})
