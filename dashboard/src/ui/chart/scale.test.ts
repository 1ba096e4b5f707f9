import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatPercent, formatPrice, formatUsd } from '../format.ts'
import { widened } from './scale.ts'

const rangeOf = (minValue: number, maxValue: number, format: (value: number) => string) => {
  const range = widened({ priceRange: { minValue, maxValue } }, format)?.priceRange
  if (range === null || range === undefined) throw new Error('there was a range')
  return range
}

describe('the scale of a chart', () => {
  it('has different labels, however flat the line is', () => {
    const formats = [formatUsd, formatPrice, (value: number) => formatPercent(value)]
    const flat = fc.double({ min: 0, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(flat, fc.constantFrom(...formats), (value, format) => {
        const { minValue, maxValue } = rangeOf(value, value, format)
        const labels = Array.from({ length: 6 }, (_, index) =>
          format(minValue + ((maxValue - minValue) * index) / 5),
        )
        expect(new Set(labels).size).toBe(labels.length)
      }),
    )
  })

  it('is left as it is where the line moves', () => {
    expect(rangeOf(9000, 11_000, formatUsd)).toEqual({ minValue: 9000, maxValue: 11_000 })
    expect(widened(null, formatUsd)).toBeNull()
  })
})
