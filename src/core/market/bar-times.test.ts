import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timestampAt } from '../shared/time.ts'
import { BarTimes } from './bar-times.ts'

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

it('reads every timestamp as the clock wrote it', () => {
  const times = new BarTimes()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: LAST_MS }), (ms) => {
      expect(times.msOf(timestampAt(ms))).toBe(ms)
      // A repeated text, and another one of the same day.
      expect(times.msOf(timestampAt(ms))).toBe(ms)
      const midnight = ms - (ms % 86_400_000)
      expect(times.msOf(timestampAt(midnight))).toBe(midnight)
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
  const times = new BarTimes()
  expect(times.msOf('2026-02-03T00:01:00.000Z')).toBe(Date.UTC(2026, 1, 3, 0, 1))
  expect(times.msOf(text)).toBeNaN()
})

it('reads other forms as the clock does', () => {
  const times = new BarTimes()
  for (const text of ['2026-02-20T00:29:58Z', '2026-02-20', '2026-02-20T01:00:00.000+01:00'])
    expect(times.parse(text)).toBe(Date.parse(text))
  expect(times.parse('2026-02-20T00:29:58.123Z')).toBe(Date.parse('2026-02-20T00:29:58.123Z'))
  expect(times.parse('never')).toBeNaN()
})
