import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationMs, foldsOf, purged, rungsOf, SplitError, walkForward } from './splits.ts'

const DAY = 86_400_000

describe('walk-forward windows', () => {
  it('test what follows what was learned from, each time once', () => {
    const steps = walkForward({ fromMs: 0, toMs: 10 * DAY }, 4 * DAY, 2 * DAY)
    expect(steps.map(({ train, test }) => [train.fromMs, train.toMs, test.fromMs, test.toMs])).toStrictEqual([
      [0, 4 * DAY, 4 * DAY, 6 * DAY],
      [2 * DAY, 6 * DAY, 6 * DAY, 8 * DAY],
      [4 * DAY, 8 * DAY, 8 * DAY, 10 * DAY],
    ])
  })

  it('need a range that holds one of them', () => {
    expect(() => walkForward({ fromMs: 0, toMs: 5 * DAY }, 4 * DAY, 2 * DAY)).toThrow(SplitError)
  })

  it('are bounded in number', () => {
    expect(() => walkForward({ fromMs: 0, toMs: 4000 * DAY }, DAY, DAY)).toThrow('3999 windows are too many')
    // Minutes of a thousand centuries: more than any machine can hold.
    expect(() => walkForward({ fromMs: 0, toMs: 36_525_000 * DAY }, 60_000, 60_000)).toThrow('too many')
  })
})

describe('folds', () => {
  it('cover whole days once, in order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 }), fc.integer({ min: 0, max: 300 }), (count, extraDays) => {
        const days = 2 * count + extraDays
        const blocks = foldsOf({ fromMs: 3, toMs: DAY + days * DAY + 5 }, count)
        expect(blocks).toHaveLength(count)
        expect(blocks[0]?.fromMs).toBe(DAY)
        expect(blocks.at(-1)?.toMs).toBe(DAY + days * DAY)
        for (const [index, { fromMs, toMs }] of blocks.entries()) {
          expect(toMs - fromMs).toBeGreaterThanOrEqual(2 * DAY)
          if (index > 0) expect(fromMs).toBe(blocks[index - 1]?.toMs)
        }
      }),
    )
  })

  it('need days', () => {
    expect(() => foldsOf({ fromMs: 0, toMs: 5 * DAY }, 3)).toThrow('5 whole days are too few for 3 folds')
  })

  it('learn nothing from closer to the tested block than the embargo', () => {
    const tested = { fromMs: 10 * DAY, toMs: 20 * DAY }
    const returns = [1, 2, 3, 4, 5]
    const before = { fromMs: 5 * DAY, toMs: 10 * DAY }
    const after = { fromMs: 20 * DAY, toMs: 25 * DAY }
    expect(purged(returns, before, tested, 2 * DAY)).toStrictEqual([1, 2, 3])
    expect(purged(returns, after, tested, 1.5 * DAY)).toStrictEqual([3, 4, 5])
    expect(purged(returns, after, tested, 0)).toStrictEqual(returns)
    expect(purged(returns, before, tested, 9 * DAY)).toStrictEqual([])
    // A block farther away is reached by a long embargo alone.
    const far = { fromMs: 0, toMs: 5 * DAY }
    expect(purged(returns, far, tested, 5 * DAY)).toStrictEqual(returns)
    expect(purged(returns, far, tested, 6 * DAY)).toStrictEqual([1, 2, 3, 4])
  })
})

describe('successive halving', () => {
  it('keeps a third, for three times the time, up to all of it', () => {
    const rungs = rungsOf({ fromMs: 0, toMs: 27 * DAY }, 27)
    expect(rungs.map(({ window, keep }) => [window.toMs / DAY, keep])).toStrictEqual([
      [1, 9],
      [3, 3],
      [9, 1],
      [27, 1],
    ])
  })

  it('has one rung where there is little to choose from', () => {
    expect(rungsOf({ fromMs: 0, toMs: 9 }, 2)).toStrictEqual([{ window: { fromMs: 0, toMs: 9 }, keep: 1 }])
  })
})

describe('a duration', () => {
  it.each([
    ['30d', 30 * DAY],
    ['12h', DAY / 2],
    ['2w', 14 * DAY],
    ['90m', 5_400_000],
    ['0d', null],
    ['d', null],
    ['1y', null],
  ])('%s is %j', (text, ms) => {
    expect(durationMs(text)).toBe(ms)
  })
})
