import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byDomain, DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { BILLION, differenceOf, normalized, projected } from './projection.ts'

const vector = (...values: readonly number[]): DomainWeights =>
  byDomain((domain) => values[DOMAINS.indexOf(domain)] ?? 0)

const BOUNDS = { floor: 0.05, ceiling: 0.4 }
const BALANCED = vector(0.25, 0.25, 0.2, 0.15, 0.1, 0.05)

/** Exactly: in whole billionths. */
const sumOf = (weights: DomainWeights): number =>
  DOMAINS.reduce((sum, domain) => sum + Math.round(weights[domain] * BILLION), 0)

describe('golden numbers', () => {
  const correlations = [1, 0.5, -1, 0, 0.2, -1]
  const moves = (step: number): DomainWeights => vector(...correlations.map((one) => one * step))

  it('a full step', () => {
    expect(projected(BALANCED, moves(0.02), { ...BOUNDS, step: 0.02 })).toEqual(
      vector(0.2665, 0.2565, 0.18, 0.1465, 0.1005, 0.05),
    )
  })

  it('half a step', () => {
    expect(projected(BALANCED, moves(0.01), { ...BOUNDS, step: 0.01 })).toEqual(
      vector(0.25825, 0.25325, 0.19, 0.14825, 0.10025, 0.05),
    )
  })

  it('at the floor and the ceiling', () => {
    const before = vector(0.4, 0.25, 0.15, 0.1, 0.05, 0.05)
    const wished = vector(0.02, 0.02, -0.02, 0, -0.02, -0.02)
    expect(projected(before, wished, { ...BOUNDS, step: 0.02 })).toEqual(
      vector(0.4, 0.27, 0.13, 0.1, 0.05, 0.05),
    )
  })

  it('from beyond both, back', () => {
    const before = vector(0.45, 0.25, 0.15, 0.07, 0.05, 0.03)
    expect(projected(before, vector(0.02, 0, 0, 0, 0, -0.02), { ...BOUNDS, step: 0.02 })).toEqual(
      vector(0.43, 0.25, 0.15, 0.07, 0.05, 0.05),
    )
  })
})

describe('any weights', () => {
  const weights = fc
    .tuple(...DOMAINS.map(() => fc.double({ min: 0, max: 1, noNaN: true })))
    .filter((values) => values.reduce((sum, value) => sum + value, 0) > 0.01)
    .map((values) => normalized(vector(...values)))
  const step = fc.constantFrom(0, 0.01, 0.02, 0.1)
  const direction = fc.tuple(...DOMAINS.map(() => fc.double({ min: -1, max: 1, noNaN: true })))

  it('add up to exactly 1 and move by at most a step', () => {
    fc.assert(
      fc.property(weights, step, direction, (before, stepMax, deltas) => {
        const after = projected(before, vector(...deltas.map((delta) => delta * stepMax)), {
          ...BOUNDS,
          step: stepMax,
        })
        expect(sumOf(after)).toBe(BILLION)
        const moved = differenceOf(before, after)
        for (const domain of DOMAINS) expect(Math.abs(moved[domain])).toBeLessThanOrEqual(stepMax)
      }),
    )
  })

  it('stay between floor and ceiling, or do not move away from there', () => {
    const outside = (value: number): number => Math.max(BOUNDS.floor - value, value - BOUNDS.ceiling, 0)
    fc.assert(
      fc.property(weights, step, direction, (before, stepMax, deltas) => {
        const after = projected(before, vector(...deltas.map((delta) => delta * stepMax)), {
          ...BOUNDS,
          step: stepMax,
        })
        for (const domain of DOMAINS) {
          expect(outside(after[domain])).toBeLessThanOrEqual(outside(before[domain]) + 1e-12)
        }
      }),
    )
  })

  it('that cannot all move to floor and ceiling at once may stay', () => {
    const alone = vector(0, 0, 0, 1, 0, 0)
    expect(projected(alone, vector(), { ...BOUNDS, step: 0.02 })).toEqual(alone)
    expect(projected(alone, vector(0.02, 0, 0, -0.02, 0, 0), { ...BOUNDS, step: 0.02 })).toEqual(
      vector(0.02, 0, 0, 0.98, 0, 0),
    )
  })

  it('that add up to a little more or less than 1 are brought there', () => {
    const odd = vector(0.25, 0.25, 0.2, 0.15, 0.1, 0.0505)
    expect(sumOf(normalized(odd))).toBe(BILLION)
    expect(normalized(BALANCED)).toEqual(BALANCED)
  })
})
