import { describe, expect, it } from 'vitest'
import { courseLine } from './course-line.ts'

describe('a course in a line', () => {
  it('goes from the lowest to the highest of it', () => {
    expect(courseLine([1, 2, 3, 4, 5, 6, 7, 8], 60)).toBe('▁▂▃▄▅▆▇█')
    expect(courseLine([10_000, 9_900, 10_100], 60)).toBe('▅▁█')
  })

  it('lies low where nothing moves', () => {
    expect(courseLine([5, 5, 5], 60)).toBe('▁▁▁')
    expect(courseLine([], 60)).toBe('')
  })

  it('is no longer than asked for, and ends with its end', () => {
    const line = courseLine(
      Array.from({ length: 1000 }, (_, index) => (index === 999 ? 2 : 1)),
      60,
    )
    expect(line).toHaveLength(60)
    expect(line).toMatch(/^▁+█$/)
  })
})
