import { describe, expect, it } from 'vitest'
import { signFlipTest, signTest } from '../../bench/learning/statistics.ts'

describe('the test of the mean gain', () => {
  it.each([
    // Two of the 32 sign combinations have a sum as far from zero.
    { gains: [1, 1, 1, 1, 1], exact: 2 / 32 },
    { gains: [-1, -1, -1, -1, -1], exact: 2 / 32 },
    // Sums of at least 10: all signs equal, or all but one of the three smallest.
    { gains: [4, 3, 2, 1, 1, -1], exact: 8 / 64 },
    { gains: [0, 0, 0], exact: 1 },
    { gains: [], exact: 1 },
  ])('counts the ways to choose signs: $gains', ({ gains, exact }) => {
    expect(signFlipTest(gains)).toBeCloseTo(exact, 2)
    expect(signFlipTest(gains)).toBe(signFlipTest(gains))
  })

  it('takes one lucky life for luck', () => {
    expect(signFlipTest([10, -1, -1, -1])).toBe(1)
  })

  it('sees large gains beside as many small losses, unlike signs alone', () => {
    const gains = Array.from({ length: 15 }, (_, index) => [2 + index / 10, -0.1]).flat()
    expect(signFlipTest(gains)).toBeLessThan(0.001)
    expect(signTest(gains)).toBe(1)
  })

  it('finds nothing where gains and losses mirror each other', () => {
    expect(signFlipTest([3, -3, 1, -1, 0.5, -0.5])).toBe(1)
  })
})
