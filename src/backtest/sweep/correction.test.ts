import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dailyReturnsOf, normalCdf, normalQuantile, shapeOf } from '../statistics.ts'
import { deflatedSharpe, falseDiscoveryRates, sharpened } from './correction.ts'

describe('false discovery rates', () => {
  it('are those of the example of Benjamini and Hochberg (1995)', () => {
    // Their 15 p-values: at 5 %, the four smallest are discoveries.
    const pValues = [
      0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528,
      0.759, 1,
    ]
    const rates = falseDiscoveryRates(pValues, pValues.length)
    expect(rates.filter((rate) => rate <= 0.05)).toHaveLength(4)
    expect(rates[0]).toBeCloseTo(0.0015, 10)
    expect(rates[3]).toBeCloseTo(0.035625, 10)
    expect(rates.at(-1)).toBe(1)
  })

  it('keep the order of the p-values, and are never below them', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }), (pValues) => {
        const rates = falseDiscoveryRates(pValues, pValues.length)
        for (const [index, rate] of rates.entries()) {
          expect(rate).toBeGreaterThanOrEqual(pValues[index] ?? 0)
          expect(rate).toBeLessThanOrEqual(1)
          for (const [other, otherRate] of rates.entries()) {
            if ((pValues[index] ?? 0) < (pValues[other] ?? 0)) expect(rate).toBeLessThanOrEqual(otherRate)
          }
        }
      }),
    )
  })

  it('count trials that were given up', () => {
    expect(falseDiscoveryRates([0.01], 100)).toStrictEqual([1])
    expect(falseDiscoveryRates([0.01], 4)).toStrictEqual([0.04])
  })
})

describe('the normal distribution', () => {
  it.each([
    [0, 0.5],
    [1.959964, 0.975],
    [-1.959964, 0.025],
    [3, 0.998650102],
  ])('has below %d the share %d', (z, share) => {
    expect(normalCdf(z)).toBeCloseTo(share, 6)
    expect(normalQuantile(share)).toBeCloseTo(z, 4)
  })
})

describe('the deflated Sharpe ratio', () => {
  // Bailey and López de Prado (2014), numerical example: 5 years of daily returns, annual Sharpe 2.5 of 250 days,
  // skewness -3, kurtosis 10, 100 trials with a variance of 1/2 of annual ratios: 0.9004.
  const shape = { days: 1250, sharpe: 2.5 / Math.sqrt(250), skewness: -3, kurtosis: 10 }
  const spread = Math.sqrt(0.5 / 250)

  it('is that of the paper', () => {
    expect(deflatedSharpe(shape, [-spread, spread], 100)).toBeCloseTo(0.9004, 2)
  })

  it('falls with the number of trials, and says nothing of a single day', () => {
    const few = deflatedSharpe(shape, [-spread, spread], 10) ?? 0
    const many = deflatedSharpe(shape, [-spread, spread], 10_000) ?? 1
    expect(few).toBeGreaterThan(many)
    expect(deflatedSharpe({ ...shape, days: 1 }, [0], 1)).toBeNull()
  })
})

describe('a p-value', () => {
  it('is left alone above what draws can show, and bounded below', () => {
    const rising = Array.from({ length: 100 }, () => 0.01)
    expect(sharpened(0.01, rising)).toBe(0.01)
    expect(sharpened(1 / 2001, rising)).toBeCloseTo(Math.exp(-50), 30)
    // A bound that says less than the draws does not count.
    expect(sharpened(1 / 2001, [0.01, 0.01])).toBe(1 / 2001)
    expect(sharpened(1 / 2001, [0, 0])).toBe(1 / 2001)
  })
})

describe('shape', () => {
  it('are those of the returns', () => {
    expect(dailyReturnsOf({ start: 100, days: [110, 99, 99] })).toStrictEqual([
      expect.closeTo(0.1, 12),
      expect.closeTo(-0.1, 12),
      0,
    ])
    expect(shapeOf([1, 1])).toStrictEqual({ days: 2, sharpe: 0, skewness: 0, kurtosis: 3 })
    // Their mean is rounded to another number than they are.
    expect(shapeOf(Array.from({ length: 40 }, () => -0.001))).toMatchObject({ sharpe: 0, kurtosis: 3 })
    const { sharpe, skewness, kurtosis } = shapeOf([1, 2, 3])
    expect(sharpe).toBeCloseTo(2 / Math.sqrt(2 / 3), 12)
    expect(skewness).toBeCloseTo(0, 12)
    expect(kurtosis).toBeCloseTo(1.5, 12)
  })
})
