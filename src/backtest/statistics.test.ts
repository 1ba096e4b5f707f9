import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { statisticsOf, sharpeOf, signFlipPValue } from './statistics.ts'

/** Signs in turn. */
const inTurn = () => {
  let count = 0
  return () => (count++ % 2) / 2
}

/** A small generator: what matters is that it repeats itself. */
const seeded = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('a run in numbers', () => {
  it('has the total return', () => {
    expect(statisticsOf({ start: 10_000, days: [10_100, 9_900, 10_500] }, inTurn()).totalReturn).toBeCloseTo(
      0.05,
    )
    expect(statisticsOf({ start: 10_000, days: [] }, inTurn())).toEqual({
      totalReturn: 0,
      sharpe: 0,
      pValue: 1,
    })
  })

  it('does not divide by an account that is empty', () => {
    const { totalReturn, sharpe } = statisticsOf({ start: 100, days: [50, 0, 0] }, inTurn())
    expect(totalReturn).toBe(-1)
    expect(Number.isFinite(sharpe)).toBe(true)
  })

  it('takes the Sharpe ratio of a year from days, with the deviation of the whole', () => {
    // Mean 0.01, deviation 0.01.
    expect(sharpeOf([0, 0.02])).toBeCloseTo(Math.sqrt(365), 12)
    expect(sharpeOf([0, -0.02])).toBeCloseTo(-Math.sqrt(365), 12)
    expect(sharpeOf([0.01, 0.01])).toBe(0)
    expect(sharpeOf([])).toBe(0)
  })
})

describe('the p-value', () => {
  it('is one where nothing moved, or everything was lost', () => {
    expect(signFlipPValue([0, 0, 0], seeded(1))).toBe(1)
    expect(signFlipPValue([-0.01, -0.02, -0.03], seeded(1))).toBe(1)
  })

  it('is about the share of signs that do as well', () => {
    // Of 16 ways only one reaches what four wins reached.
    expect(signFlipPValue([0.01, 0.01, 0.01, 0.01], seeded(1))).toBeCloseTo(1 / 16, 1)
    expect(
      signFlipPValue(
        Array.from({ length: 30 }, () => 0.01),
        seeded(1),
      ),
    ).toBe(1 / 2001)
  })

  it('is a share, and the same again with the same signs', () => {
    const returns = fc.array(fc.double({ min: -0.5, max: 0.5, noNaN: true }), { maxLength: 40 })
    fc.assert(
      fc.property(returns, fc.nat(), (values, seed) => {
        const value = signFlipPValue(values, seeded(seed))
        expect(value).toBeGreaterThan(0)
        expect(value).toBeLessThanOrEqual(1)
        expect(signFlipPValue(values, seeded(seed))).toBe(value)
      }),
    )
  })
})
