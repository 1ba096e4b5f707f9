import { timestampOf, type Timestamp } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scoreAt } from './contributor-score.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { countResolved, NO_RECORD, type TrackRecord } from '../signals/track-record.ts'

const NOW = timestampOf('2026-02-20T00:00:00.000Z')
const scoreOf = (record: Partial<TrackRecord>) =>
  scoreAt({ ...NO_RECORD, ...record }, NOW, { evidence_k: 10 })

const USED = { submitted: 50, accepted: 20, lastActiveAt: NOW }
const daysBefore = (days: number): Timestamp => timestampAt(Date.parse(NOW) - days * DAY_MS)
const outcomes = (resolved: number, hitRate: number, brier: number): Partial<TrackRecord> => ({
  resolved,
  hitWeightSum: hitRate * resolved,
  weightSum: resolved,
  brierSum: brier * resolved,
})

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
      lastActiveAt: timestampOf('2026-02-17T00:00:00.000Z'),
    })
    expect(score).toBeCloseTo(55.330070595, 9)
    expect(factors.hit_rate).toMatchObject({ value: 0.75, weight: 0.35 })
    const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, 0)
    expect(100 * sum).toBeCloseTo(score, 9)
  })

  it.each<readonly [string, Partial<TrackRecord>, number]>([
    ['none', {}, 0],
    ['one that nothing came of', { submitted: 1, lastActiveAt: NOW }, 10],
    ['one that was used', { submitted: 1, accepted: 1, streakDays: 1, lastActiveAt: NOW }, 10.522038405],
    [
      'a good one',
      {
        submitted: 40,
        accepted: 20,
        streakDays: 9,
        lastActiveAt: daysBefore(3),
        ...outcomes(16, 0.75, 0.18),
      },
      55.330070595,
    ],
    [
      'a bad one',
      { submitted: 20, accepted: 10, streakDays: 4, lastActiveAt: daysBefore(20), ...outcomes(6, 0, 0.4) },
      8.700837133,
    ],
    [
      'one that talks too much',
      { submitted: 50, accepted: 4, streakDays: 1, lastActiveAt: daysBefore(1), ...outcomes(3, 0.5, 0.25) },
      0,
    ],
    [
      'a perfect one',
      { submitted: 200, accepted: 200, streakDays: 30, lastActiveAt: NOW, ...outcomes(200, 1, 0) },
      98.341232227,
    ],
  ])('27: of %s', (_, record, score) => {
    expect(scoreOf(record).score).toBeCloseTo(score, 8)
  })

  it('is never lowered by a loss that turns into a win', () => {
    const verdict = fc.record({
      hit: fc.boolean(),
      probability: fc.double({ min: 0.5, max: 1, noNaN: true }),
      direction: fc.constantFrom('bullish' as const, 'bearish' as const, 'neutral' as const),
      return_pct: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
      band_pct: fc.constantFrom(0.0022, 0.01),
    })
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 40 }), fc.nat(), (verdicts, nth) => {
        const scoreAfter = (all: typeof verdicts): number =>
          scoreOf({ ...all.reduce(countResolved, NO_RECORD), ...USED }).score
        const turned = verdicts.map((one, index) =>
          index === nth % verdicts.length ? { ...one, hit: true } : one,
        )
        expect(scoreAfter(turned)).toBeGreaterThanOrEqual(scoreAfter(verdicts) - 1e-9)
      }),
    )
  })

  it('stays below 13.19 as long as nothing is resolved', () => {
    const count = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(count, count, count, (submitted, accepted, streakDays) => {
        const { score } = scoreOf({ submitted, accepted, streakDays, lastActiveAt: NOW })
        expect(score).toBeLessThan(13.19)
      }),
    )
  })

  it('grows when a signal is accepted', () => {
    expect(scoreOf({ submitted: 1, accepted: 1, streakDays: 1, lastActiveAt: NOW }).score).toBeGreaterThan(10)
  })

  it('fades from the eighth day without a submission', () => {
    const after = (day: string) => scoreOf({ submitted: 1, lastActiveAt: timestampOf(day) }).score
    expect(after('2026-02-13T00:00:00.000Z')).toBe(10)
    expect(after('2026-01-29T00:00:00.000Z')).toBeCloseTo(5, 9)
    expect(after('2025-12-01T00:00:00.000Z')).toBe(0)
  })

  it('is 0 for contributors with many signals of which few are used', () => {
    const busy = { submitted: 100, lastActiveAt: NOW }
    expect(scoreOf({ ...busy, accepted: 9 })).toMatchObject({ score: 0, gated: true })
    expect(scoreOf({ ...busy, accepted: 10 })).toMatchObject({ gated: false })
    expect(scoreOf({ submitted: 9, lastActiveAt: NOW })).toMatchObject({ gated: false, score: 10 })
  })

  it('counts a poor hit rate against its author', () => {
    const { factors } = scoreOf({ resolved: 10, hitWeightSum: 0, weightSum: 10 })
    expect(factors.hit_rate.contribution).toBeCloseTo(-0.035, 12)
  })

  it('is what its factors add up to, and always from 0 to 100', () => {
    const count = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.double({ min: 0, max: 1, noNaN: true }),
        count,
        (a, b, c, hit, days) => {
          const { score, gated, factors } = scoreOf({
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
          const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, 0)
          expect(score).toBeCloseTo(gated ? 0 : 100 * Math.max(0, sum), 9)
        },
      ),
    )
  })
})
