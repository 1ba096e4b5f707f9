import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rounded, shownPrice } from './rounding.ts'

it.each([
  [59_958.2312, 0.01, 59_958.23],
  [2.00005, 0.0001, 2.0001],
  [1234.567, 0.05, 1234.55],
  [1234.567, 5, 1235],
  [1234.567, 0.3, 1234.5],
  [1234.567, 1, 1235],
  [0.000000123, 0.0000000001, 0.00000012],
  [0.001, 0.01, 0.01],
])('%d on the grid of %d is %d', (price, tickSize, shown) => {
  expect(shownPrice(price, tickSize)).toBe(shown)
})

it('is near, positive, and has no more decimals than its tick', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.constantFrom(1, 0.1, 0.01, 0.001, 0.0001),
      (price, tickSize) => {
        const shown = shownPrice(price, tickSize)
        expect(shown).toBeGreaterThan(0)
        expect(Math.abs(shown - Math.max(price, tickSize / 2))).toBeLessThanOrEqual(tickSize * 0.500001)
        expect((String(shown).split('.')[1] ?? '').length).toBeLessThanOrEqual(4)
      },
    ),
  )
})

it('knows no negative zero', () => {
  expect(Object.is(rounded(-0.00001, 1e4), 0)).toBe(true)
})
