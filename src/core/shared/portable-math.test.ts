import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naturalLog, powerOfTwo } from './numbers.ts'

/** Tolerance: the last digit may differ from that of `Math`, and the one before it slightly. */
const DIGITS = 1e-15

describe('a power of two', () => {
  it('is what Math says, but for the last digit', () => {
    fc.assert(
      fc.property(fc.double({ min: -1000, max: 1000, noNaN: true }), (exponent) => {
        expect(Math.abs(powerOfTwo(exponent) / 2 ** exponent - 1)).toBeLessThan(DIGITS)
      }),
    )
  })

  it('is exact where the exponent is whole', () => {
    for (let exponent = -1022; exponent <= 1023; exponent += 1)
      expect(powerOfTwo(exponent)).toBe(2 ** exponent)
  })

  it('is the same on every processor, to the last digit', () => {
    expect([-1 / 3, -1 / 30, -0.7, -2.5, 0.1].map(powerOfTwo)).toEqual(GOLDEN_POWERS)
  })

  it('ends at zero on one side, and loudly on the other', () => {
    expect(powerOfTwo(-1e9)).toBe(0)
    expect(powerOfTwo(-Infinity)).toBe(0)
    for (const exponent of [1024, Infinity, Number.NaN])
      expect(() => powerOfTwo(exponent)).toThrow('must be a number')
  })
})

describe('a logarithm', () => {
  it('is what Math says, but for the last digit', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), (value) => {
        const expected = Math.log(value)
        expect(Math.abs(naturalLog(value) - expected)).toBeLessThanOrEqual(Math.abs(expected) * DIGITS)
      }),
    )
  })

  it('of one is zero', () => {
    expect(naturalLog(1)).toBe(0)
  })

  it('is the same on every processor, to the last digit', () => {
    expect([3, 10, 58, 101].map(naturalLog)).toEqual(GOLDEN_LOGARITHMS)
  })

  it('is refused where there is none', () => {
    for (const value of [0, -1, Infinity, Number.NaN])
      expect(() => naturalLog(value)).toThrow('must have a logarithm')
  })
})

const GOLDEN_POWERS = [
  0.7937005259840998, 0.9771599684342459, 0.6155722066724582, 0.17677669529663687, 1.0717734625362931,
]
const GOLDEN_LOGARITHMS = [1.0986122886681096, 2.3025850929940455, 4.060443010546419, 4.615120516841259]
