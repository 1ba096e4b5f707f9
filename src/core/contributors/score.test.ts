import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scoreAt } from './score.ts'
import { NO_RECORD, type TrackRecord } from './track-record.ts'

const NOW = '2026-02-20T00:00:00.000Z'
const scoreOf = (record: Partial<TrackRecord>) => scoreAt({ ...NO_RECORD, ...record }, NOW)

describe('the score', () => {
  it('is 0 without a signal', () => {
    expect(scoreOf({})).toMatchObject({ score: 0, gated: false, brierScore: 0.25 })
  })

  it('is 10 for one fresh signal that nothing came of', () => {
    expect(scoreOf({ submitted: 1, lastActiveAt: NOW }).score).toBe(10)
  })

  it('adds up to the documented example', () => {
    const { score, factors } = scoreOf({
      submitted: 40,
      accepted: 20,
      resolved: 16,
      hitWeightSum: 12,
      weightSum: 16,
      brierSum: 0.18 * 16,
      streakDays: 9,
      lastActiveAt: '2026-02-17T00:00:00.000Z',
    })
    expect(score).toBeCloseTo(55.330070595, 9)
    expect(factors.hit_rate).toMatchObject({ value: 0.75, weight: 0.35 })
    const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, 0)
    expect(100 * sum).toBeCloseTo(score, 9)
  })

  it('grows when a signal is accepted', () => {
    expect(scoreOf({ submitted: 1, accepted: 1, streakDays: 1, lastActiveAt: NOW }).score).toBeGreaterThan(10)
  })

  it('fades from the eighth day without a word', () => {
    const after = (day: string) => scoreOf({ submitted: 1, lastActiveAt: day }).score
    expect(after('2026-02-13T00:00:00.000Z')).toBe(10)
    expect(after('2026-01-29T00:00:00.000Z')).toBeCloseTo(5, 9)
    expect(after('2025-12-01T00:00:00.000Z')).toBe(0)
  })

  it('is 0 for those who talk much and are hardly ever used', () => {
    const busy = { submitted: 100, lastActiveAt: NOW }
    expect(scoreOf({ ...busy, accepted: 9 })).toMatchObject({ score: 0, gated: true })
    expect(scoreOf({ ...busy, accepted: 10 })).toMatchObject({ gated: false })
    expect(scoreOf({ submitted: 9, lastActiveAt: NOW })).toMatchObject({ gated: false, score: 10 })
  })

  it('counts a poor hit rate against its author', () => {
    const { factors } = scoreOf({ resolved: 10, hitWeightSum: 0, weightSum: 10 })
    expect(factors.hit_rate.contribution).toBeCloseTo(-0.035, 12)
  })

  it('is always from 0 to 100', () => {
    const count = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.double({ min: 0, max: 1, noNaN: true }),
        count,
        (a, b, c, hit, days) => {
          const { score } = scoreOf({
            submitted: a,
            accepted: Math.min(a, b),
            resolved: c,
            weightSum: c,
            hitWeightSum: hit * c,
            brierSum: hit * c,
            streakDays: days,
            lastActiveAt: NOW,
          })
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(100)
        },
      ),
    )
  })
})
