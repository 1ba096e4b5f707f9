import { timestampOf, type Timestamp } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { contributionsOf, NEWCOMER } from './contribution.ts'
import { scoreAt, type Added } from './contributor-score.ts'
import { edgeAfter, NO_EDGE } from './edge.ts'
import { NO_OVERLAPS } from './overlaps.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { countResolved, NO_RECORD, type TrackRecord } from '../signals/track-record.ts'

const NOW = timestampOf('2026-02-20T00:00:00.000Z')
const scoreOf = (record: Partial<TrackRecord>, added: Added = NEWCOMER) =>
  scoreAt({ ...NO_RECORD, ...record }, added, NOW, { evidence_k: 10 })

const adding = (own: number, mean: number, error: number, newcomer = 0): Added => ({
  own,
  newcomer,
  edge: { mean, error, evidence: 1 / (error * error), sure: Math.max(0, mean - error) },
})

const USED = { submitted: 50, accepted: 20, lastActiveAt: NOW }
const daysBefore = (days: number): Timestamp => timestampAt(Date.parse(NOW) - days * DAY_MS)
const outcomes = (resolved: number, brier: number): Partial<TrackRecord> => ({
  resolved,
  weightSum: resolved,
  brierSum: brier * resolved,
})
const GOOD: Partial<TrackRecord> = {
  submitted: 40,
  accepted: 20,
  streakDays: 9,
  lastActiveAt: daysBefore(3),
  ...outcomes(16, 0.18),
}

describe('the score', () => {
  it('is 0 without a signal', () => {
    expect(scoreOf({})).toMatchObject({ score: 0, gated: false, brierScore: 0.25 })
  })

  it('is 10 for one fresh signal that nothing came of', () => {
    expect(scoreOf({ submitted: 1, lastActiveAt: NOW }).score).toBe(10)
  })

  it('adds up to the documented example', () => {
    const { score, evidence, factors } = scoreOf(GOOD, adding(0.12, 0.3, 0.18))
    expect(score).toBeCloseTo(50.080070595, 9)
    expect(evidence).toBe(17 / 27)
    expect(scoreOf(GOOD, adding(0.02, 0.2, 0.18, 0.25)).evidence).toBeCloseTo((0.25 * 17) / 27, 12)
    expect(scoreOf(GOOD, adding(0.05, 0.23, 0.18, 0.25)).evidence).toBeCloseTo((0.5 * 17) / 27, 12)
    expect(factors.hit_rate.value).toBeCloseTo(0.6, 12)
    expect(factors.hit_rate.weight).toBe(0.35)
    const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, 0)
    expect(100 * sum).toBeCloseTo(score, 9)
  })

  it.each<readonly [string, Partial<TrackRecord>, Added, number]>([
    ['none', {}, NEWCOMER, 0],
    ['one that nothing came of', { submitted: 1, lastActiveAt: NOW }, NEWCOMER, 10],
    [
      'one that was used',
      { submitted: 1, accepted: 1, streakDays: 1, lastActiveAt: NOW },
      NEWCOMER,
      10.522038405,
    ],
    ['a good one', GOOD, adding(0.12, 0.3, 0.18), 50.080070595],
    ['one that adds little', GOOD, adding(0.05, 0.23, 0.18), 31.090035298],
    ['a copy of a good one', GOOD, adding(0, 0.3, 0.18), 15.6],
    [
      'a bad one',
      { submitted: 20, accepted: 10, streakDays: 4, lastActiveAt: daysBefore(20), ...outcomes(6, 0.4) },
      adding(0, -0.45, 0.25),
      2.166666667,
    ],
    [
      'one that is worse by half as much',
      { submitted: 20, accepted: 10, streakDays: 4, lastActiveAt: NOW, ...outcomes(6, 0.4) },
      adding(0, -0.3, 0.2),
      8.25,
    ],
    [
      'one that talks too much',
      { submitted: 50, accepted: 4, streakDays: 1, lastActiveAt: daysBefore(1), ...outcomes(3, 0.25) },
      NEWCOMER,
      0,
    ],
    [
      'a perfect one',
      { submitted: 200, accepted: 200, streakDays: 30, lastActiveAt: NOW, ...outcomes(200, 0) },
      adding(0.2, 0.28, 0.08),
      98.341232227,
    ],
  ])('27: of %s', (_, record, added, score) => {
    expect(scoreOf(record, added).score).toBeCloseTo(score, 8)
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
        // One call a day.
        const edgeOf = (all: typeof verdicts) =>
          all.reduce(
            (edge, { hit }, day) =>
              edgeAfter(edge, { surplus: hit ? 0.5 : -0.5, spacing: 1, days: 1 }, day + 1, 100),
            NO_EDGE,
          )
        const addedBy = (all: typeof verdicts): Added =>
          contributionsOf(
            { edges: [['a', edgeOf(all)]], overlaps: NO_OVERLAPS },
            DEFAULT_CONFIGURATION.karma.influence,
          ).get('a') ?? NEWCOMER
        const scoreAfter = (all: typeof verdicts): number =>
          scoreOf({ ...all.reduce(countResolved, NO_RECORD), ...USED }, addedBy(all)).score
        const turned = verdicts.map((one, index) =>
          index === nth % verdicts.length ? { ...one, hit: true } : one,
        )
        expect(scoreAfter(turned)).toBeGreaterThanOrEqual(scoreAfter(verdicts) - 1e-9)
      }),
    )
  })

  it('stays below 13.19 as long as nothing is resolved', () => {
    const count = fc.integer({ min: 0, max: 1_000_000 })
    const unit = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(count, count, count, unit, (submitted, accepted, streakDays, own) => {
        const record = { submitted, accepted, streakDays, lastActiveAt: NOW }
        const { score } = scoreOf(record, adding(own, own, 0.1, 1))
        expect(score).toBeLessThan(13.19)
      }),
    )
  })

  it('grows when a signal is accepted', () => {
    expect(scoreOf({ submitted: 1, accepted: 1, streakDays: 1, lastActiveAt: NOW }).score).toBeGreaterThan(10)
  })

  it('grows when a signal is accepted of an author with outcomes only if it adds something', () => {
    const scoreWith = (accepted: number, own: number) =>
      scoreOf({ ...GOOD, accepted, streakDays: accepted }, adding(own, 0.3, 0.18)).score
    expect(scoreWith(21, 0.01)).toBeGreaterThan(scoreWith(20, 0.01))
    expect(scoreWith(21, 0)).toBe(scoreWith(20, 0))
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

  it('counts calls that are surely worse than chance against their author', () => {
    const contributionOf = (mean: number, error: number, resolved = 10) =>
      scoreOf({ resolved, weightSum: resolved }, adding(0, mean, error)).factors.hit_rate.contribution
    expect(contributionOf(-0.5, 0.2)).toBeCloseTo(-0.035, 12)
    expect(contributionOf(-0.3, 0.2)).toBeCloseTo(-0.0175, 12)
    expect(contributionOf(-0.15, 0.2)).toBe(0)
    expect(contributionOf(-0.5, 0.2, 4)).toBe(0)
  })

  it('is what its factors add up to, and always from 0 to 100', () => {
    const count = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: -1, max: 1, noNaN: true }),
        count,
        (a, b, c, miss, mean, days) => {
          const record = {
            submitted: a,
            accepted: Math.min(a, b),
            resolved: c,
            weightSum: c,
            brierSum: miss * c,
            streakDays: days,
            lastActiveAt: NOW,
          }
          const { score, gated, factors } = scoreOf(record, adding(Math.max(0, mean), mean, 0.1))
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(100)
          const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, 0)
          expect(score).toBeCloseTo(gated ? 0 : 100 * Math.max(0, sum), 9)
        },
      ),
    )
  })
})
