import fc from 'fast-check'
import { expect, it } from 'vitest'
import { millisOf, textOfMillis } from './time-text.ts'

const MS_MAX = Date.parse('9999-12-31T23:59:59.999Z')

it('reads back every timestamp it takes', () => {
  const times = fc.integer({ min: 0, max: MS_MAX })
  fc.assert(
    fc.property(fc.array(fc.oneof(times, fc.integer({ min: 0, max: 200_000_000 }))), (list) => {
      for (const ms of list) {
        expect(millisOf(new Date(ms).toISOString())).toBe(ms)
        expect(textOfMillis(ms)).toBe(new Date(ms).toISOString())
      }
    }),
  )
})

it.each([
  [''],
  ['2026-01-01'],
  ['2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00.000'],
  ['2026-01-01T00:00:00.000+00:00'],
  ['2026-01-01 00:00:00.000Z'],
  ['2026-02-30T00:00:00.000Z'],
  ['2026-13-01T00:00:00.000Z'],
  ['2026-01-01T24:00:00.000Z'],
  ['2026-01-01T00:60:00.000Z'],
  ['2026-01-01T00:00:60.000Z'],
  [' 2026-01-01T00:00:00.000Z'],
  ['1767225600000'],
])('takes no other form: %j', (text) => {
  expect(millisOf(text)).toBeNull()
})
