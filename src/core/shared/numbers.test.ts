import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clamp, clamp01, r9 } from './numbers.ts'

describe('r9', () => {
  it.each([
    [2 / 3, 0.666666667],
    [-2 / 3, -0.666666667],
    [1.0000000005, 1.000000001],
    [-1.0000000005, -1.000000001],
    [1e-12, 0],
    [-1e-12, 0],
    [12_345_678.123, 12_345_678.123],
    [1e300, 1e300],
  ])('rounds %d to %d', (value, rounded) => {
    expect(r9(value)).toBe(rounded)
  })

  it('negates exactly, stays near, and changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(r9(-value)).toBe(r9(value) === 0 ? 0 : -r9(value))
        expect(r9(r9(value))).toBe(r9(value))
        expect(Math.abs(r9(value) - value)).toBeLessThanOrEqual(2e-9)
      }),
    )
  })
})

describe('clamp', () => {
  it('keeps the inside and cuts the outside', () => {
    expect([-Infinity, -1.5, -0.5, 0.5, 1.5].map(clamp)).toStrictEqual([-1, -1, -0.5, 0.5, 1])
    expect([-1.5, 0.5, Infinity].map(clamp01)).toStrictEqual([0, 0.5, 1])
  })
})
