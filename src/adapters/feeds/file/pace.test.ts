import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

it('tells the first at once and the others at their distance, by the speed', () => {
  const pace = createPace(10)
  expect(pace.waitMs(5_000_000, 100)).toBe(0)
  expect(pace.waitMs(5_060_000, 100)).toBe(6000)
  expect(pace.waitMs(5_120_000, 6100)).toBe(6000)
})

it('makes up for small delays', () => {
  const pace = createPace(1)
  pace.waitMs(0, 0)
  expect(pace.waitMs(60_000, 3000)).toBe(57_000)
  expect(pace.waitMs(61_000, 62_000)).toBe(0)
  expect(pace.waitMs(120_000, 62_500)).toBe(57_500)
})

it.each([
  ['slept', 10_000_000],
  ['was set back', -10_000_000],
])('goes on from here when the clock %s', (_name, shiftMs) => {
  const pace = createPace(1)
  pace.waitMs(0, 20_000_000)
  pace.waitMs(60_000, 20_000_000)
  const nowMs = 20_060_000 + shiftMs
  expect(pace.waitMs(120_000, nowMs)).toBe(0)
  expect(pace.waitMs(180_000, nowMs)).toBe(60_000)
})
