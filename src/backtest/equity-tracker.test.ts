import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../core/shared/time.ts'
import { EquityTracker } from './equity-tracker.ts'

const HOUR_MS = 3_600_000

/** The values of hours one behind the other, from midnight. */
const after = (start: number, values: readonly number[], stepMs = HOUR_MS) => {
  const tracker = new EquityTracker(start)
  for (const [index, value] of values.entries()) tracker.close(value, index * stepMs, (index + 1) * stepMs)
  return tracker.tracked()
}

describe('the deepest fall', () => {
  it('goes from its peak to where it was reached again', () => {
    expect(after(100, [100, 110, 99, 105, 110, 120, 119]).drawdown).toEqual({
      depth: expect.closeTo(0.1, 12),
      peakMs: 2 * HOUR_MS,
      troughMs: 3 * HOUR_MS,
      recoveredMs: 5 * HOUR_MS,
      lengthMs: 3 * HOUR_MS,
      longestMs: 3 * HOUR_MS,
    })
  })

  it('may last to the end, and need not be the longest', () => {
    const { drawdown } = after(100, [100, 99, 99, 99, 99, 101, 50])
    expect(drawdown).toMatchObject({ recoveredMs: null, lengthMs: HOUR_MS, longestMs: 5 * HOUR_MS })
    expect(after(100, [100, 90, 80]).drawdown).toMatchObject({
      lengthMs: 2 * HOUR_MS,
      longestMs: 2 * HOUR_MS,
    })
  })

  it('is none where nothing falls', () => {
    expect(after(100, [100, 100, 101]).drawdown).toEqual({
      depth: 0,
      peakMs: null,
      troughMs: null,
      recoveredMs: null,
      lengthMs: 0,
      longestMs: 0,
    })
  })

  it('is what comparing all pairs of values finds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 40 }), (values) => {
        const all = [100, ...values]
        const falls = all.flatMap((peak, index) => all.slice(index).map((value) => 1 - value / peak))
        expect(after(100, values).drawdown.depth).toBeCloseTo(Math.max(0, ...falls), 12)
      }),
    )
  })
})

it('keeps the last value of each day, also of one without bars: a year has 365', () => {
  const { days, dayNumbers } = after(100, [101, 102, 103, 104, 105], DAY_MS / 2)
  expect({ days, dayNumbers }).toEqual({ days: [102, 104, 105], dayNumbers: [0, 1, 2] })
  const tracker = new EquityTracker(100)
  tracker.close(101, 0, HOUR_MS)
  tracker.close(102, 9 * DAY_MS, 9 * DAY_MS + HOUR_MS)
  // A late bar of another symbol.
  tracker.close(103, HOUR_MS, 2 * HOUR_MS)
  expect(tracker.tracked()).toMatchObject({
    days: [101, 101, 101, 101, 101, 101, 101, 101, 101, 103],
    dayNumbers: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    daysWithBars: 2,
  })
})
