import { describe, expect, it } from 'vitest'
import { barAt, barsFrom } from '../core/market/bars.fixture.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { DataHash } from './data-hash.ts'
import { MarketLineTracker, type FillCosts } from './market-line.ts'
import { CurveHistory, PriceHistory } from './price-history.ts'
import { randomEntriesOf } from './random-entries.ts'
import { seeded } from './seeded.fixture.ts'

const FREE: FillCosts = { feeBps: 0, slippageBps: 0 }
const BEGIN = '2026-01-01T00:00:00.000Z'
const BEGIN_MS = Date.parse(BEGIN)

const lineOf = (
  groups: readonly (readonly FeedBar[])[],
  { costs = FREE, warmUp = [] as readonly FeedBar[] } = {},
) => {
  const tracker = new MarketLineTracker(10_000, costs)
  tracker.warmUp(warmUp)
  for (const bars of groups) {
    const openMs = Date.parse(bars[0]?.open_ts ?? '')
    tracker.close(bars, openMs, openMs + 60_000)
  }
  return tracker.line()
}

describe('the market line', () => {
  it('is the price itself where nothing costs anything', () => {
    const bars = barsFrom(BEGIN, [100, 120, 157]).map((bar) => ({ ...bar, open: 100 }))
    expect(lineOf(bars.map((bar) => [bar])).days).toEqual([15_700])
  })

  it('pays slippage and one fee of all it has, and nothing later', () => {
    const line = lineOf([[barAt(BEGIN, 100)], [barAt('2026-01-01T00:01:00.000Z', 100)]], {
      costs: { feeBps: 10, slippageBps: 20 },
    })
    // 10,000 = quantity · 100 · 1.002 · 1.001
    const quantity = 10_000 / (100 * 1.002 * 1.001)
    expect(line.days[0]).toBeCloseTo(quantity * 100, 9)
    expect(line.feesUsd).toBeCloseTo(quantity * 100 * 1.002 * 0.001, 9)
    expect(line.slippageUsd).toBeCloseTo(quantity * 100 * 0.002, 9)
    expect(line.boughtUsd + line.feesUsd + line.slippageUsd).toBeCloseTo(10_000, 9)
  })

  it('has equal parts of the symbols that were there when trading began', () => {
    const eth = (minute: number, close: number) =>
      barAt(`2026-01-01T00:0${minute}:00.000Z`, close, { symbol: 'ETH' })
    const btc = (minute: number, close: number) => barAt(`2026-01-01T00:0${minute}:00.000Z`, close)
    // ETH has its first traded bar a minute later; SOL comes from nowhere.
    const line = lineOf(
      [[btc(1, 100)], [btc(2, 100), eth(2, 10)], [btc(3, 200), barAt(BEGIN, 1, { symbol: 'SOL' })]],
      {
        warmUp: [eth(0, 50)],
      },
    )
    expect(line).toMatchObject({ days: [15_000], symbols: ['BTC', 'ETH'] })
  })

  it('waits for a price', () => {
    expect(lineOf([[barAt(BEGIN, 0)], [barAt('2026-01-01T00:01:00.000Z', 5)]]).days).toEqual([10_000])
  })
})

describe('what is kept of the prices', () => {
  it('is bounded, and loses neither extremes nor ends', () => {
    const history = new PriceHistory()
    const count = 5000
    for (let index = 0; index < count; index += 1) {
      const close = index === 1234 ? 1_000_000 : index + 1
      history.add(index * 60_000, [barAt(BEGIN, close, { open: index, low: index, high: close })])
    }
    const candles = history.candles()['BTC'] ?? []
    expect(candles.length).toBeGreaterThan(300)
    expect(candles.length).toBeLessThanOrEqual(600)
    expect(Math.max(...candles.map(([, , high]) => high))).toBe(1_000_000)
    expect(candles[0]?.slice(0, 2)).toEqual([0, 0])
    expect(candles.at(-1)?.[4]).toBe(count)
    for (const [index, candle] of candles.entries()) {
      if (index > 0)
        expect(candle[1]).toBe(candles[index - 1]?.[4] === 1_000_000 ? candle[1] : candles[index - 1]?.[4])
    }
    expect(history.paths().get('BTC')).toMatchObject({ stepBars: 1 })
    expect(history.paths().get('BTC')?.opens).toHaveLength(count)
  })

  it('has opens at even steps when they are many', () => {
    const history = new PriceHistory()
    const bar = barAt(BEGIN)
    const count = 2 ** 19 + 10
    for (let index = 0; index < count; index += 1) history.add(index, [{ ...bar, open: index }])
    const { opens, stepBars } = history.paths().get('BTC') ?? { opens: [], stepBars: 0 }
    expect(stepBars).toBe(2)
    expect(opens.every((open, index) => open === 2 * index)).toBe(true)
    expect(opens).toHaveLength(count / 2)
  })

  it('has the deepest fall of every stretch of the curve', () => {
    const curve = new CurveHistory()
    for (let index = 0; index < 3000; index += 1) curve.add(index, index, 0, index === 777 ? 0.5 : 0.1)
    const points = curve.points()
    expect(points.length).toBeLessThanOrEqual(600)
    expect(Math.max(...points.map(([, , , fall]) => fall))).toBe(0.5)
    expect(points.at(-1)?.slice(0, 2)).toEqual([2999, 2999])
  })
})

describe('the hash of the data', () => {
  const bars = [
    barAt(BEGIN, 100.5, { open: 100, high: 101, low: 99, volume: 12, quote_volume: 1206 }),
    barAt(BEGIN, 10.5, {
      symbol: 'ETH-LONG',
      open: 10,
      high: 11,
      low: 9,
      volume: 1,
      quote_volume: 10.5,
      funding_annualized: 5.5,
      bid_depth_usd: 3,
      ask_depth_usd: 4,
      fear_greed: 50,
    }),
  ]
  const hashOf = (...groups: readonly (readonly FeedBar[])[]): string => {
    const hash = new DataHash()
    for (const group of groups) hash.add(BEGIN_MS, group)
    return hash.digest()
  }

  it('is what struct.pack and hashlib of Python make of the same bars', () => {
    expect(hashOf(bars)).toBe('01d27c3132c57190760b1dd5bcd6d30ea045a9ab840de2d92c45aac5dee5efd7')
  })

  it('does not depend on how the bars arrive, and on every number of them', () => {
    expect(hashOf(bars.slice(0, 1), bars.slice(1))).toBe(hashOf(bars))
    const many = Array.from({ length: 3000 }, () => bars).flat()
    expect(hashOf(many)).toBe(hashOf(...Array.from({ length: 3000 }, () => bars)))
    const [first, second] = bars
    if (first === undefined || second === undefined) throw new Error('two bars')
    expect(hashOf([second, first])).not.toBe(hashOf(bars))
    for (const member of [
      'open',
      'high',
      'low',
      'close',
      'volume',
      'quote_volume',
      'resolution_s',
    ] as const) {
      expect(hashOf([{ ...first, [member]: first[member] + 1 }, second])).not.toBe(hashOf(bars))
    }
    for (const member of [
      'funding_annualized',
      'basis_annualized',
      'open_interest_usd',
      'fear_greed',
    ] as const) {
      expect(hashOf([{ ...first, [member]: 0 }, second])).not.toBe(hashOf(bars))
    }
  })
})

describe('random entries', () => {
  const rising = { opens: Array.from({ length: 1000 }, (_, index) => 100 * 1.001 ** index), stepBars: 1 }
  const trade = {
    symbol: 'BTC',
    direction: 'long',
    equity_share: 0.1,
    size_usd: 1000,
    net_usd: 5,
    funding_usd: 0,
    heldBars: 10,
  } as const
  const trades = Array.from({ length: 20 }, () => trade)
  const of = (given: readonly Parameters<typeof randomEntriesOf>[0][number][], costs = FREE) =>
    randomEntriesOf(given, new Map([['BTC', rising]]), costs, seeded(1))

  it('earn what any time would have earned, of the same size and for as long', () => {
    // Every ten bars are worth the same here: nothing is left to chance.
    const each = 0.1 * (1.001 ** 10 - 1)
    expect(of(trades)).toMatchObject({
      runs: 200,
      mean_return: expect.closeTo((1 + each) ** 20 - 1, 8),
      low_return: expect.closeTo((1 + each) ** 20 - 1, 8),
      strategy_return: expect.closeTo((1 + 0.1 * 0.005) ** 20 - 1, 8),
      percentile: 0,
    })
    expect(of(trades.map((one) => ({ ...one, net_usd: 50 })))?.percentile).toBe(1)
  })

  it('have the same sides and costs', () => {
    const short = of(trades.map((one) => ({ ...one, direction: 'short' as const })))
    expect(short?.mean_return).toBeCloseTo((1 - 0.1 * (1.001 ** 10 - 1)) ** 20 - 1, 8)
    const costs = { feeBps: 10, slippageBps: 5 }
    const ratio = (1.001 ** 10 * (1 - 0.0005)) / (1 + 0.0005)
    const each = 0.1 * (ratio - 1 - 0.001 * (1 + ratio) - 0.002)
    const paid = of(
      trades.map((one) => ({ ...one, funding_usd: 2 })),
      costs,
    )
    expect(paid?.mean_return).toBeCloseTo((1 + each) ** 20 - 1, 8)
  })

  it('are the same again with the same seed, and none for a handful of trades', () => {
    expect(of(trades)).toEqual(of(trades))
    expect(of(trades.slice(0, 9))).toBeNull()
    expect(of(trades.map((one) => ({ ...one, symbol: 'ETH' })))).toBeNull()
  })

  it('stay within the prices, however long a trade was', () => {
    const long = of(trades.map((one) => ({ ...one, heldBars: 1e9 })))
    expect(long?.mean_return).toBeCloseTo((1 + 0.1 * (1.001 ** 999 - 1)) ** 20 - 1, 6)
  })

  it('put a strategy that trades at random in the middle, over many paths', () => {
    const draw = seeded(9)
    let percentiles = 0
    const paths = 40
    for (let path = 0; path < paths; path += 1) {
      let price = 100
      const opens = Array.from({ length: 500 }, () => (price *= 1 + 0.02 * (draw() - 0.5)))
      const own = Array.from({ length: 20 }, () => {
        const from = Math.floor(draw() * 490)
        const net = 1000 * ((opens[from + 10] ?? 0) / (opens[from] ?? 1) - 1)
        return { ...trade, net_usd: net }
      })
      percentiles +=
        randomEntriesOf(own, new Map([['BTC', { opens, stepBars: 1 }]]), FREE, draw)?.percentile ?? 0
    }
    // Uniform percentiles: three standard errors around the middle.
    expect(Math.abs(percentiles / paths - 0.5)).toBeLessThan((3 * Math.sqrt(1 / 12)) / Math.sqrt(paths))
  })
})
