import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { BBANDS, EMA, init, RSI } from 'talib-web'
import { RSI as LibraryRsi } from 'trading-signals'
import { beforeAll, describe, expect, it } from 'vitest'
import { r9 } from '../../../core/shared/numbers.ts'
import { bandPositionOf, exponentialAverageOf, ratioToMeanOf, relativeStrengthOf } from './indicators.ts'

const BANDS = { period: 20, deviations: 2 }

const pathOf = (start: number, steps: readonly number[], next: (close: number, step: number) => number) => {
  const path = [start]
  for (const step of steps) path.push(next(path.at(-1)!, step))
  return path
}

/** A path of prices: small and large moves, standstills, any price level. */
const closes = fc
  .tuple(
    fc.constantFrom(0.000_002, 0.5, 100, 60_000),
    fc.array(
      fc.oneof(
        fc.constant(0),
        fc.integer({ min: -500, max: 500 }).map((points) => points / 10_000),
      ),
      { minLength: 210, maxLength: 400 },
    ),
  )
  .map(([start, moves]) => pathOf(start, moves, (close, move) => close * (1 + move)))
  .filter((path) => new Set(path.slice(-20)).size > 1)

/** Newest value of TA-Lib's output, which is as long as its input: values come first, zeros fill the end. */
const newest = (output: readonly number[], lookback: number): number => output.at(-1 - lookback)!

const RUNS = { seed: 20, numRuns: 60 }

beforeAll(async () => {
  // The library fetches it, and fetch takes no path.
  const wasm = readFileSync(
    createRequire(import.meta.url)
      .resolve('talib-web')
      .replace(/[^/]+$/, 'talib.wasm'),
  )
  await init(`data:application/wasm;base64,${wasm.toString('base64')}`)
})

describe('against TA-Lib', () => {
  it('gives the same relative strength', () => {
    fc.assert(
      fc.property(closes, (path) => {
        expect(relativeStrengthOf(path, 14)).toBeCloseTo(
          newest(RSI({ inReal: path, timePeriod: 14 }).output, 14),
          6,
        )
      }),
      RUNS,
    )
  })

  it.each([20, 50, 200])('gives the same average over %i', (period) => {
    fc.assert(
      fc.property(closes, (path) => {
        const expected = newest(EMA({ inReal: path, timePeriod: period }).output, period - 1)
        expect(exponentialAverageOf(path, period)! / expected).toBeCloseTo(1, 9)
      }),
      RUNS,
    )
  })

  it('gives the same bands', () => {
    fc.assert(
      fc.property(closes, (path) => {
        // TA-Lib sums squares of prices, which loses the digits that a narrow band is made of.
        const scaled = path.slice(-20).map((close, _, [first]) => close / first!)
        // Its wrapper loses all but the first bands.
        const bands = BBANDS({ inReal: scaled, timePeriod: 20, nbDevUp: 2, nbDevDn: 2 })
        const [lower, upper] = [bands.lowerBand[0]!, bands.upperBand[0]!]
        fc.pre(upper - lower > 1e-3)
        const expected = Math.min(1, Math.max(0, (scaled.at(-1)! - lower) / (upper - lower)))
        expect(bandPositionOf(path, BANDS)).toBeCloseTo(expected, 6)
      }),
      RUNS,
    )
  })
})

describe('the relative strength', () => {
  const afterChanges = (changes: readonly number[]) => pathOf(100, changes, (close, change) => close + change)

  it('is that of the golden numbers', () => {
    const path = afterChanges([1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, -1])
    expect(r9(relativeStrengthOf(path.slice(0, 15), 14)!)).toBe(71.428571429)
    expect(r9(relativeStrengthOf(path, 14)!)).toBe(66.326530612)
  })

  it('is 100 without a loss, 0 without a gain, 50 without a change', () => {
    const steps = Array.from({ length: 30 }, () => 0.1)
    expect(relativeStrengthOf(afterChanges(steps), 14)).toBe(100)
    expect(relativeStrengthOf(afterChanges(steps.map((step) => -step)), 14)).toBe(0)
    expect(relativeStrengthOf(afterChanges(steps.map(() => 0)), 14)).toBe(50)
  })

  it('agrees with the library of indicators where that has an answer', () => {
    fc.assert(
      fc.property(closes, (path) => {
        const indicator = new LibraryRsi(14)
        for (const close of path) indicator.add(close)
        expect(relativeStrengthOf(path, 14)).toBeCloseTo(indicator.getResultOrThrow(), 6)
      }),
      RUNS,
    )
  })

  it('needs as many changes as its period', () => {
    expect(relativeStrengthOf(afterChanges(Array.from({ length: 13 }, () => 1)), 14)).toBeNull()
    expect(relativeStrengthOf([], 14)).toBeNull()
  })
})

describe('the other indicators', () => {
  it('begin an average with the mean', () => {
    expect(exponentialAverageOf([1, 2, 3], 3)).toBe(2)
    expect(exponentialAverageOf([1, 2, 3, 6], 3)).toBe(4)
    expect(exponentialAverageOf([1, 2], 3)).toBeNull()
  })

  it('have no place between bands without width', () => {
    const flat = Array.from({ length: 20 }, () => 0.1)
    expect(bandPositionOf(flat, BANDS)).toBeNull()
    expect(bandPositionOf(flat.slice(1), BANDS)).toBeNull()
    expect(bandPositionOf([...flat.slice(1), 0.2], BANDS)).toBe(1)
    expect(bandPositionOf([...flat.slice(1), 0.05], BANDS)).toBe(0)
  })

  it('compare with a mean that is something', () => {
    expect(ratioToMeanOf([1, 1, 4], 3)).toBe(2)
    expect(ratioToMeanOf([0, 0, 0], 3)).toBeNull()
    expect(ratioToMeanOf([1, 1], 3)).toBeNull()
  })
})
