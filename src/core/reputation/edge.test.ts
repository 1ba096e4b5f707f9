import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edgeAfter, estimatedEdge, NO_EDGE, type Edge } from './edge.ts'

const RULES = { prior: 10, caution: 1 }
const HALF_LIFE = 100

interface Outcome {
  /** Surplus from -0.5 to 0.5. */
  readonly surplus: number
  readonly day: number
  /** Number of days that its call covers. Default: 1. */
  readonly days?: number
  /** Default: 1. */
  readonly spacing?: number
}

const after = (outcomes: readonly Outcome[], halfLife = HALF_LIFE): Edge =>
  outcomes.reduce(
    (edge, { surplus, day, days = 1, spacing = 1 }) =>
      edgeAfter(edge, { surplus, spacing, days }, day, halfLife),
    NO_EDGE,
  )

const estimated = (outcomes: readonly Outcome[]) => estimatedEdge(after(outcomes), RULES)

const times = (count: number, outcomeOf: (index: number) => Outcome): readonly Outcome[] =>
  Array.from({ length: count }, (_, index) => outcomeOf(index))

describe('the edge of an author', () => {
  it('is 0 without outcomes', () => {
    expect(estimatedEdge(NO_EDGE, RULES)).toStrictEqual({
      mean: 0,
      error: 1 / Math.sqrt(10),
      evidence: 0,
      sure: 0,
    })
    expect(estimatedEdge(NO_EDGE, { prior: 0, caution: 1 })).toStrictEqual({
      mean: 0,
      error: 1,
      evidence: 0,
      sure: 0,
    })
  })

  it.each([
    ['one right call', times(1, () => ({ surplus: 0.5, day: 1 })), [0.090909091, 0.301511345, 1.0, 0]],
    [
      '40 right ones, one a day',
      times(40, (day) => ({ surplus: 0.5, day })),
      [0.778048441, 0.148980388, 35.054876119, 0.629068053],
    ],
    [
      '200, one a day, three of five right',
      times(200, (day) => ({ surplus: day % 5 < 3 ? 0.5 : -0.5, day })),
      [0.172799636, 0.091832994, 108.577561283, 0.080966642],
    ],
    [
      'ten right ones of one day',
      times(10, () => ({ surplus: 0.5, day: 7 })),
      [0.085914462, 0.302338476, 0.93989521, 0],
    ],
  ] as const)('is the golden number of %s', (_what, outcomes, [mean, error, evidence, sure]) => {
    const edge = estimated(outcomes)
    expect(edge.mean).toBeCloseTo(mean, 9)
    expect(edge.error).toBeCloseTo(error, 9)
    expect(edge.evidence).toBeCloseTo(evidence, 8)
    expect(edge.sure).toBeCloseTo(sure, 9)
  })

  it('hardly rises with more calls of one day that win together', () => {
    const one = estimated(times(1, () => ({ surplus: 0.5, day: 7 })))
    const ten = estimated(times(10, () => ({ surplus: 0.5, day: 7 })))
    const tenDays = estimated(times(10, (day) => ({ surplus: 0.5, day })))
    expect(ten.evidence).toBeLessThan(1.1 * one.evidence)
    expect(tenDays.evidence).toBeGreaterThan(9 * one.evidence)
  })

  it.each([3, 7])('hardly rises with calls about the same %i days that win together', (days) => {
    const one = estimated(times(1, () => ({ surplus: 0.5, day: 7, days })))
    const together = estimated(times(days, (index) => ({ surplus: 0.5, day: 7 + index, days })))
    const apart = estimated(times(days, (index) => ({ surplus: 0.5, day: 7 + index * days, days })))
    expect(together.evidence).toBeLessThan(1.1 * one.evidence)
    expect(apart.evidence).toBeGreaterThan(0.9 * days * one.evidence)
  })

  it('takes calls about one day and about a week for one span while they are together, and no longer', () => {
    const week = { surplus: 0.5, day: 10, days: 7 }
    const spanOf = (...all: readonly Outcome[]) => {
      const { day, days, spanSum } = after(all)
      return { day, days, spanSum: Math.round(spanSum) }
    }
    expect(spanOf({ surplus: 0.5, day: 10 }, week)).toEqual({ day: 10, days: 7, spanSum: 2 })
    expect(spanOf(week, { surplus: 0.5, day: 16 })).toEqual({ day: 10, days: 7, spanSum: 2 })
    expect(spanOf(week, { surplus: 0.5, day: 17 })).toEqual({ day: 17, days: 1, spanSum: 1 })
    // A clock that was set back starts another span.
    expect(spanOf(week, { surplus: 0.5, day: 9 })).toEqual({ day: 9, days: 1, spanSum: 1 })
  })

  it('takes calls of one day that win and lose on their own for what they are', () => {
    const mixed = times(200, (index) => ({
      surplus: index % 2 === 0 ? 0.5 : -0.5,
      day: Math.floor(index / 10),
    }))
    expect(estimated(mixed).evidence).toBeCloseTo(after(mixed).weight, 9)
  })

  it('forgets: after as many outcomes as the half-life one counts half', () => {
    const before = after([{ surplus: 0.5, day: 1 }], 8)
    const later = Array.from({ length: 8 }).reduce<Edge>(
      (edge) => edgeAfter(edge, { surplus: 0, spacing: 1, days: 1 }, 2, 8),
      before,
    )
    expect(later.sum).toBeCloseTo(0.5, 12)
    expect(later.outcomes).toBe(9)
    // All outcomes ever weigh at most 1 / (1 - 2^(-1/8)).
    expect(
      after(
        times(500, (day) => ({ surplus: 0.5, day })),
        8,
      ).weight,
    ).toBeCloseTo(12.04878, 5)
  })

  it('is lost soon with the skill, and wins nothing by a lucky streak', () => {
    const calls = (count: number, right: number, from: number): readonly Outcome[] =>
      times(count, (index) => ({ surplus: index % 5 < right ? 0.5 : -0.5, day: from + index }))
    const meanOf = (...all: readonly (readonly Outcome[])[]): number => estimated(all.flat()).mean
    const good = meanOf(calls(200, 4, 0))
    expect(good).toBeGreaterThan(0.5)
    expect(meanOf(calls(200, 4, 0), calls(40, 4, 200))).toBeGreaterThan(good)
    expect(meanOf(calls(200, 4, 0), calls(40, 3, 200))).toBeLessThan(0.75 * good)
    expect(meanOf(calls(200, 4, 0), calls(40, 2, 200))).toBeLessThan(0.4 * good)
    expect(meanOf(calls(200, 4, 0), calls(40, 1, 200))).toBe(0)
    // Twenty right calls do not make up for two hundred that were mostly wrong.
    expect(meanOf(calls(200, 2, 0), calls(20, 5, 200))).toBeLessThan(0.05)
  })

  it('is remembered no shorter, and known no sooner, of who says the same eight times a day', () => {
    const once = times(200, (day) => ({ surplus: day % 5 < 3 ? 0.5 : -0.5, day }))
    const often = times(8 * 200, (index) => {
      const day = Math.floor(index / 8)
      return { surplus: day % 5 < 3 ? 0.5 : -0.5, day, spacing: 1 / 8 }
    })
    const [slow, fast] = [after(once), after(often)]
    expect([slow.outcomes, fast.outcomes]).toEqual([200, 1600])
    expect(fast.spacings).toBeCloseTo(slow.spacings, 9)
    expect(fast.weight / (8 * slow.weight)).toBeCloseTo(1, 2)
    expect(estimated(often).mean).toBeCloseTo(estimated(once).mean, 2)
    expect(estimated(often).evidence / estimated(once).evidence).toBeCloseTo(1, 1)
  })

  const outcome = fc.record({
    // Against a strong drift a call gains more than half.
    surplus: fc.double({ min: -1, max: 1, noNaN: true }),
    pause: fc.integer({ min: 0, max: 3 }),
  })
  const history = fc.array(outcome, { maxLength: 120, size: 'max' }).map((all) => {
    let day = 0
    return all.map(({ surplus, pause }) => ({ surplus, day: (day += pause) }))
  })
  const rules = fc.record({
    prior: fc.double({ min: 0, max: 100, noNaN: true }),
    caution: fc.double({ min: 0, max: 3, noNaN: true }),
  })

  it('is never surer than its mean, and stays in its bounds', () => {
    fc.assert(
      fc.property(history, rules, (outcomes, own) => {
        const { mean, error, evidence, sure } = estimatedEdge(after(outcomes), own)
        expect(sure).toBeLessThanOrEqual(Math.max(0, mean))
        expect(sure).toBeGreaterThanOrEqual(0)
        expect(Math.abs(mean)).toBeLessThanOrEqual(1)
        expect(error).toBeGreaterThan(0)
        expect(evidence).toBeGreaterThanOrEqual(0)
        expect(evidence).toBeLessThanOrEqual(outcomes.length)
      }),
    )
  })

  it('is never more for right calls than against it for the same number of wrong ones', () => {
    fc.assert(
      fc.property(history, (outcomes) => {
        const mirrored = outcomes.map(({ surplus, day }) => ({ surplus: -surplus, day }))
        expect(estimated(mirrored).mean).toBeLessThanOrEqual(-estimated(outcomes).mean + 1e-12)
        expect(estimated(mirrored).error).toBe(estimated(outcomes).error)
      }),
    )
  })

  it('of one call a day never falls because a wrong one had been right', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 80 }), fc.nat(), (hits, nth) => {
        const sureOf = (all: readonly boolean[]) =>
          estimated(all.map((hit, day) => ({ surplus: hit ? 0.5 : -0.5, day }))).sure
        const turned = hits.map((hit, index) => hit || index === nth % hits.length)
        expect(sureOf(turned)).toBeGreaterThanOrEqual(sureOf(hits) - 1e-12)
      }),
    )
  })
})
