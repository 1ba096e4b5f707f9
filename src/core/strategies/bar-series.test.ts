import { describe, expect, it } from 'vitest'
import { barsFrom } from '../market/bars.fixture.ts'
import { BarSeries, seriesBar, type ClosedBar } from './bar-series.ts'

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

  it('are the same objects each time, also when they are read after the series has dropped them', () => {
    const series = new BarSeries(60, 3)
    const closed: ClosedBar[] = []
    const bars = barsFrom(
      BEGIN,
      Array.from({ length: 2000 }, (_, index) => index + 1),
    )
    for (const bar of bars) closed.push(...series.add(seriesBar(bar)))
    expect(closed.map(({ bar }) => bar.close)).toEqual(bars.map(({ close }) => close))
    expect(closed.slice(-3).map(({ bar }) => bar)).toEqual(series.until(endOf(2000)))
    expect(series.until(endOf(2000), 1)[0]).toBe(closed.at(-1)?.bar)
    expect(closed[0]?.bar).toBe(closed[0]?.bar)
    expect(Object.isFrozen(closed[0]?.bar)).toBe(true)
  })
})
