import { describe, expect, it } from 'vitest'
import type { FeedBar } from '../../../core/market/bar.ts'
import { barsOf, pathOf } from './path.fixture.ts'

const returnsOf = (bars: readonly (readonly FeedBar[])[], place: number): readonly number[] =>
  bars.slice(1).map((group) => (group[place]?.close ?? 0) / (group[place]?.open ?? 1) - 1)

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const momentOf = (values: readonly number[], power: number): number => {
  const mean = meanOf(values)
  return meanOf(values.map((value) => (value - mean) ** power))
}

const deviationOf = (values: readonly number[]): number => Math.sqrt(momentOf(values, 2))

const kurtosisOf = (values: readonly number[]): number => momentOf(values, 4) / momentOf(values, 2) ** 2 - 3

const correlation = (first: readonly number[], second: readonly number[]): number => {
  const [meanOfFirst, meanOfSecond] = [meanOf(first), meanOf(second)]
  const products = first.map((value, index) => (value - meanOfFirst) * ((second[index] ?? 0) - meanOfSecond))
  return meanOf(products) / (deviationOf(first) * deviationOf(second))
}

const lagged = (values: readonly number[], lag: number): number =>
  correlation(values.slice(lag), values.slice(0, -lag))

/**
 * Bands around what real minutes of BTC look like (deviation .00099, excess kurtosis 23, correlation of sizes .33 at
 * one minute, .24 at ten, .18 at an hour, .12 at four hours; of size with log volume .52; .0038 beyond five
 * deviations; BTC with ETH .80). The seeds are fixed: a change of any bit shows.
 */
describe('minutes of the simulated market', () => {
  const bars = barsOf(pathOf({ tick_seconds: 60 }), 100_000)
  const [btc, eth] = [returnsOf(bars, 0), returnsOf(bars, 1)]
  const sizes = btc.map(Math.abs)
  const deviation = deviationOf(btc)

  it('vary as much as real ones', () => {
    expect(deviation).toBeGreaterThan(0.0007)
    expect(deviation).toBeLessThan(0.0013)
  })

  it('have fat tails', () => {
    expect(kurtosisOf(btc)).toBeGreaterThan(5)
    const beyond = sizes.filter((size) => size > 5 * deviation).length / sizes.length
    expect(beyond).toBeGreaterThan(0.0025)
    expect(beyond).toBeLessThan(0.0055)
  })

  it('cannot be predicted from the one before, but their size can', () => {
    expect(Math.abs(lagged(btc, 1))).toBeLessThan(0.02)
    expect(lagged(sizes, 1)).toBeGreaterThan(0.2)
    expect(lagged(sizes, 1)).toBeLessThan(0.4)
    expect(lagged(sizes, 10)).toBeGreaterThan(0.15)
    expect(lagged(sizes, 60)).toBeGreaterThan(0.1)
    expect(lagged(sizes, 240)).toBeGreaterThan(0.06)
    expect(lagged(sizes, 1440)).toBeGreaterThan(0.02)
  })

  it('trade more when they move more', () => {
    const volumes = bars.slice(1).map(([bar]) => Math.log(bar?.quote_volume ?? 1))
    expect(correlation(volumes, sizes)).toBeGreaterThan(0.4)
    expect(correlation(volumes, sizes)).toBeLessThan(0.65)
  })

  it('move together', () => {
    expect(correlation(btc, eth)).toBeGreaterThan(0.65)
    expect(correlation(btc, eth)).toBeLessThan(0.85)
  })
})

describe('minutes of steps of five seconds', () => {
  const bars = barsOf(pathOf({ tick_seconds: 5 }, { symbols: ['BTC'] }), 20_000, 12)
  const returns = returnsOf(bars, 0)

  it('reach as far inside as real ones', () => {
    const ranges = bars.map(([bar]) => ((bar?.high ?? 0) - (bar?.low ?? 0)) / (bar?.open ?? 1))
    const reach = meanOf(ranges) / deviationOf(returns)
    expect(reach).toBeGreaterThan(0.95)
    expect(reach).toBeLessThan(1.25)
  })

  it('have fat tails and clusters', () => {
    expect(kurtosisOf(returns)).toBeGreaterThan(5)
    expect(lagged(returns.map(Math.abs), 1)).toBeGreaterThan(0.2)
  })
})

describe('profile walk', () => {
  const bars = barsOf(pathOf({ tick_seconds: 60, profile: 'walk' }), 50_000)
  const btc = returnsOf(bars, 0)

  it('is plain chance: no tails, no clusters, no drift', () => {
    expect(Math.abs(kurtosisOf(btc))).toBeLessThan(0.3)
    expect(Math.abs(lagged(btc.map(Math.abs), 1))).toBeLessThan(0.02)
    expect(deviationOf(btc)).toBeCloseTo(0.6 * Math.sqrt(1 / 525_600), 5)
    expect(Math.abs(meanOf(btc))).toBeLessThan((3 * deviationOf(btc)) / Math.sqrt(btc.length))
  })

  it('has no information in its side values or its other symbols', () => {
    const next = btc.slice(1)
    for (const member of ['funding_annualized', 'basis_annualized', 'fear_greed', 'bid_depth_usd'] as const) {
      const values = bars.slice(1, -1).map(([bar]) => bar?.[member] ?? 0)
      expect(Math.abs(correlation(values, next))).toBeLessThan(0.02)
      expect(deviationOf(values)).toBeGreaterThan(0)
    }
    expect(Math.abs(correlation(btc, returnsOf(bars, 1)))).toBeLessThan(0.02)
  })
})
