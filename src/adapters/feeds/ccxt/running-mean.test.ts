import { describe, expect, it } from 'vitest'
import { createRunningMean } from './running-mean.ts'

const MINUTE_MS = 60_000
const WINDOW_MS = 8 * 60 * MINUTE_MS
const BEGIN_MS = Date.UTC(2026, 1, 20)

const told = (values: readonly (number | null)[]) => {
  const mean = createRunningMean()
  return values.map((value, minute) =>
    mean(value, { atMs: BEGIN_MS + minute * MINUTE_MS, windowMs: WINDOW_MS }),
  )
}

describe('the running mean', () => {
  it('is a plain mean while the window fills', () => {
    expect(told([10, 20, 60])).toEqual([10, 15, 30])
  })

  it('hardly moves with a moment when the window is full, and follows what lasts', () => {
    const calm = Array.from({ length: 480 }, () => 5)
    expect(told([...calm, 200]).at(-1)).toBeCloseTo(5 + 195 / 480, 0)
    expect(told([...calm, ...calm.map(() => 20), ...calm.map(() => 20)]).at(-1)).toBeCloseTo(20, -1)
  })

  it('says nothing where nothing is known, and goes on behind it', () => {
    expect(told([10, null, 20])).toEqual([10, null, 15])
  })

  it('starts anew after a whole window of silence', () => {
    const mean = createRunningMean()
    expect(mean(10, { atMs: BEGIN_MS, windowMs: WINDOW_MS })).toBe(10)
    expect(mean(50, { atMs: BEGIN_MS + WINDOW_MS, windowMs: WINDOW_MS })).toBe(50)
    expect(mean(60, { atMs: BEGIN_MS + WINDOW_MS + MINUTE_MS, windowMs: WINDOW_MS })).toBe(55)
  })
})
