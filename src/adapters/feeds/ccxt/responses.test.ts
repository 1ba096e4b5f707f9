import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BACKFILL_BARS_MAX, earliestMs, holesIn, planBackfill, readCandles } from './candles.ts'
import { chooseMarkets } from './markets.ts'
import {
  basisAnnualized,
  createRunningMean,
  depthOf,
  fundingAnnualized,
  openInterestUsd,
  readFundingIntervalMs,
  readPerpetualQuote,
} from './side-values.ts'

const BAR_MS = 60_000
const row = (openMs: number, close = '1.5') => [openMs, '1', '2', '0.5', close, '10']

describe('candles', () => {
  it('are read oldest first, each time once, aligned to the bar length', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 })), (places) => {
        const candles = readCandles(
          places.flatMap((place) => [row(place * BAR_MS), row(place * BAR_MS + 1)]),
          BAR_MS,
        )
        const expected = [...new Set(places)].sort((left, right) => left - right)
        expect(candles.map(({ openMs }) => openMs / BAR_MS)).toEqual(expected)
        const holes = holesIn(candles, 0, BAR_MS)
        const missing = holes.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs) / BAR_MS, 0)
        expect(missing + candles.length).toBe((candles.at(-1)?.openMs ?? -BAR_MS) / BAR_MS + 1)
      }),
    )
  })

  it('keep the later of two with the same time, and the digits of the exchange', () => {
    expect(readCandles([row(0, '1.1'), row(0, '1.23456789')], BAR_MS)).toMatchObject([
      { close: 1.234_567_89 },
    ])
  })

  it.each([
    ['no list', '<html>'],
    ['a missing row', [null]],
    ['a short row', [[0, '1', '2']]],
    ['a price that is not a number', [[0, '1', 'two', '0.5', '1', '1']]],
    ['a price that is empty', [[0, '1', '', '0.5', '1', '1']]],
    ['an infinite price', [[0, '1', 'Infinity', '0.5', '1', '1']]],
    ['an invalid time', [['now', '1', '2', '0.5', '1', '1']]],
  ])('are not read from %s', (_, answer) => {
    expect(() => readCandles(answer, BAR_MS)).toThrow('the exchange returned')
  })
})

describe('depth', () => {
  it('is the volume within half a percent of the mid price, in any order', () => {
    const book = {
      // Sorted as text, these prices would have another order.
      bids: [
        ['99.6', '1'],
        ['100', '2'],
        ['99.4', '1000'],
        ['99.9', '0'],
      ],
      asks: [
        ['100.8', '1000'],
        ['100.2', '3'],
        ['bad', '1'],
        ['100.5', '1'],
      ],
    }
    expect(depthOf(book)).toEqual({ mid: 100.1, bidUsd: 299.6, askUsd: 401.1 })
  })

  it.each([[null], [{}], [{ bids: [], asks: [['1', '1']] }], [{ bids: [['1', '1']], asks: 'none' }]])(
    'is unknown for %j',
    (book) => {
      expect(depthOf(book)).toBeNull()
    },
  )
})

describe('funding, basis and open interest', () => {
  const EIGHT_HOURS_MS = 8 * 3_600_000

  it('are percent per year', () => {
    expect(fundingAnnualized(0.0001, EIGHT_HOURS_MS)).toBe(10.95)
    expect(fundingAnnualized(-0.0002, EIGHT_HOURS_MS / 2)).toBe(-43.8)
    expect(basisAnnualized(60_006, 60_000, EIGHT_HOURS_MS)).toBe(10.95)
    expect(basisAnnualized(59_994, 60_000, EIGHT_HOURS_MS)).toBe(-10.95)
  })

  it('are null where a part is unknown', () => {
    expect(fundingAnnualized(null, EIGHT_HOURS_MS)).toBeNull()
    expect(fundingAnnualized(0.0001, null)).toBeNull()
    expect(basisAnnualized(null, 1, EIGHT_HOURS_MS)).toBeNull()
    expect(basisAnnualized(1, null, EIGHT_HOURS_MS)).toBeNull()
    expect(readPerpetualQuote('<html>')).toEqual({
      fundingRate: null,
      markPrice: null,
      indexPrice: null,
      intervalMs: null,
    })
  })

  it('know the funding interval, from the response or from past payments', () => {
    expect(readPerpetualQuote({ interval: '4h' }).intervalMs).toBe(4 * 3_600_000)
    expect(readPerpetualQuote({ interval: '0h' }).intervalMs).toBeNull()
    const paid = [{ timestamp: 1_000_003 + EIGHT_HOURS_MS }, { timestamp: 1_000_000 }]
    expect(readFundingIntervalMs(paid)).toBe(EIGHT_HOURS_MS)
    expect(readFundingIntervalMs([{ timestamp: 1 }, { timestamp: 2 }])).toBeNull()
    expect(readFundingIntervalMs([{ timestamp: 1 }])).toBeNull()
    expect(readFundingIntervalMs(null)).toBeNull()
  })

  it('count open interest in USD, or not at all', () => {
    const perpetual = { market: 'BTC/USDT:USDT', contractSize: 1 }
    expect(openInterestUsd({ openInterestValue: '5000.006' }, perpetual, 2)).toBe(5000.01)
    expect(openInterestUsd({ openInterestAmount: '10' }, perpetual, 60_000.5)).toBe(600_005)
    expect(openInterestUsd({ openInterestAmount: '10' }, perpetual, null)).toBeNull()
    expect(openInterestUsd({ openInterestAmount: '10' }, { ...perpetual, contractSize: 0.01 }, 1)).toBeNull()
    expect(openInterestUsd({ openInterestValue: '-1' }, perpetual, 1)).toBeNull()
    expect(openInterestUsd(null, perpetual, 1)).toBeNull()
  })
})

describe('markets', () => {
  const spot = (base: string, quote: string, more = {}) => ({
    symbol: `${base}/${quote}`,
    base,
    quote,
    spot: true,
    ...more,
  })
  const swap = (base: string, quote: string, more = {}) => ({
    symbol: `${base}/${quote}:${quote}`,
    base,
    quote,
    spot: false,
    swap: true,
    linear: true,
    contractSize: '1',
    ...more,
  })

  it('are found by base, in the preferred dollar coin', () => {
    const listed = {
      a: spot('BTC', 'EUR'),
      b: spot('BTC', 'USDC'),
      c: spot('BTC', 'USDT'),
      d: swap('BTC', 'USDT'),
    }
    expect(chooseMarkets(listed, ['btc-perp']).watched).toEqual([
      {
        symbol: 'btc-perp',
        market: 'BTC/USDT',
        isSpot: true,
        perpetual: { market: 'BTC/USDT:USDT', contractSize: 1 },
      },
    ])
  })

  it('that are closed, inverse or of another kind do not count', () => {
    const listed = {
      a: spot('BTC', 'USDT', { active: false }),
      b: swap('BTC', 'USDT', { linear: false }),
      c: { symbol: 'BTC/USDT:USDT-260327', base: 'BTC', quote: 'USDT', future: true },
      d: spot('ETH', 'USDT'),
    }
    expect(chooseMarkets(listed, ['BTC', 'ETH'])).toMatchObject({
      missing: ['BTC'],
      watched: [{ symbol: 'ETH' }],
    })
  })

  it.each([[null], ['<html>'], [{}], [{ a: 7 }]])('are not read from %j', (listed) => {
    expect(() => chooseMarkets(listed, ['BTC'])).toThrow('lists no market')
  })
})

describe('the backfill', () => {
  const nowMs = Date.parse('2026-02-20T12:34:56Z')
  const input = { nowMs, barMs: BAR_MS, lastCloseMs: null, warmupHours: 2, warmupBarMs: 900_000 }

  it('starts with coarse bars that end where the fine ones begin', () => {
    expect(planBackfill(input)).toEqual({
      warmup: { fromMs: Date.parse('2026-02-20T10:30:00Z'), toMs: Date.parse('2026-02-20T12:30:00Z') },
      nextMs: Date.parse('2026-02-20T12:30:00Z'),
    })
    const fine = { warmup: null, nextMs: Date.parse('2026-02-20T10:34:00Z') }
    expect(planBackfill({ ...input, warmupBarMs: null })).toEqual(fine)
    expect(planBackfill({ ...input, warmupHours: 0 }).nextMs).toBe(Date.parse('2026-02-20T12:34:00Z'))
  })

  it('continues after the last stored bar, aligned to the bar length', () => {
    const lastCloseMs = Date.parse('2026-02-20T12:00:05Z')
    expect(planBackfill({ ...input, lastCloseMs })).toEqual({
      warmup: null,
      nextMs: Date.parse('2026-02-20T12:01:00Z'),
    })
  })

  it('is limited', () => {
    expect(earliestMs(nowMs, BAR_MS)).toBe(nowMs - BACKFILL_BARS_MAX * BAR_MS)
  })
})

const WINDOW_MS = 8 * 60 * BAR_MS
const BEGIN_MS = Date.UTC(2026, 1, 20)

const meansOf = (values: readonly (number | null)[]) => {
  const mean = createRunningMean()
  return values.map((value, minute) => mean(value, { atMs: BEGIN_MS + minute * BAR_MS, windowMs: WINDOW_MS }))
}

describe('the running mean', () => {
  it('is a plain mean while the window fills', () => {
    expect(meansOf([10, 20, 60])).toEqual([10, 15, 30])
  })

  it('smooths a single value once the window is full, and follows a lasting change', () => {
    const calm = Array.from({ length: 480 }, () => 5)
    expect(meansOf([...calm, 200]).at(-1)).toBeCloseTo(5 + 195 / 480, 0)
    expect(meansOf([...calm, ...calm.map(() => 20), ...calm.map(() => 20)]).at(-1)).toBeCloseTo(20, -1)
  })

  it('is null for an unknown value, and continues after it', () => {
    expect(meansOf([10, null, 20])).toEqual([10, null, 15])
  })

  it('starts anew after a gap of a whole window', () => {
    const mean = createRunningMean()
    expect(mean(10, { atMs: BEGIN_MS, windowMs: WINDOW_MS })).toBe(10)
    expect(mean(50, { atMs: BEGIN_MS + WINDOW_MS, windowMs: WINDOW_MS })).toBe(50)
    expect(mean(60, { atMs: BEGIN_MS + WINDOW_MS + BAR_MS, windowMs: WINDOW_MS })).toBe(55)
  })
})
