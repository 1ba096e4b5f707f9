import { describe, expect, it } from 'vitest'
import { barsFrom } from '../market/bars.fixture.ts'
import { BarSeries, seriesBar } from './bar-series.ts'

const BEGIN = '2026-01-01T00:00:00.000Z'

const seriesOf = (closes: readonly number[]): BarSeries => {
  const series = new BarSeries(60, 3)
  for (const bar of barsFrom(BEGIN, closes)) series.add(seriesBar(bar))
  return series
}

describe('the bars until a moment', () => {
  const endOf = (minute: number): number => Date.parse(BEGIN) + minute * 60_000
  const closesOf = (minute: number, count?: number): readonly number[] =>
    seriesOf([1, 2, 3, 4])
      .until(endOf(minute), count)
      .map(({ close }) => close)

  it('are the last closed ones, as many as are kept', () => {
    expect(closesOf(4)).toEqual([2, 3, 4])
    expect(closesOf(3, 2)).toEqual([2, 3])
    expect(closesOf(4, 100)).toEqual([2, 3, 4])
  })

  it('are none for a count that is none', () => {
    for (const count of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(closesOf(4, count)).toEqual([])
  })
})
