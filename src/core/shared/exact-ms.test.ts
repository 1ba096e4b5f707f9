import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timestampOf } from './brand.ts'
import { exactMs, msOf, timestampAt } from './time.ts'

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

it('reads every timestamp as the clock wrote it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: LAST_MS }), (ms) => {
      expect(timestampAt(ms)).toBe(new Date(ms).toISOString())
      expect(exactMs(timestampAt(ms))).toBe(ms)
      const midnight = ms - (ms % 86_400_000)
      expect(exactMs(timestampAt(midnight))).toBe(midnight)
    }),
  )
})

it.each([
  '',
  '2026-02-30T00:00:00.000Z',
  '2026-02-03T24:00:00.000Z',
  '2026-02-03T00:60:00.000Z',
  '2026-02-03T00:00:61.000Z',
  '2026-02-03T00:00:00.0x0Z',
  '2026-02-03 00:00:00.000Z',
  '2026-02-03T00:00:00Z',
  '2026-02-03T00:00:00.000+00:00',
  '+026-02-03T00:00:00.000Z',
])('reads no other text: %s', (text) => {
  expect(exactMs(text)).toBeNaN()
})

it('reads other forms as the clock does', () => {
  for (const text of ['2026-02-20T00:29:58Z', '2026-02-20', '2026-02-20T01:00:00.000+01:00'])
    expect(msOf(timestampOf(text))).toBe(Date.parse(text))
  expect(msOf(timestampOf('2026-02-20T00:29:58.123Z'))).toBe(Date.parse('2026-02-20T00:29:58.123Z'))
  expect(msOf(timestampOf('never'))).toBeNaN()
})

it('writes the first and last day of every year as the clock does', () => {
  const years = Array.from({ length: 9999 - 1969 }, (_, index) => 1970 + index)
  const times = years.flatMap((year) => [
    Date.UTC(year, 0, 1),
    Date.UTC(year, 2, 1) - 1,
    Date.UTC(year, 2, 1),
    Date.UTC(year, 11, 31),
  ])
  expect(times.filter((ms) => timestampAt(ms) !== new Date(ms).toISOString())).toEqual([])
})
