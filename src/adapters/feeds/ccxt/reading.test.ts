import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  basisAnnualized,
  fundingAnnualized,
  openInterestUsd,
  readFundingIntervalMs,
  readPerpetualQuote,
} from './carry.ts'
import { holesIn, readCandles } from './candles.ts'
import { depthOf } from './depth.ts'
import { chooseMarkets } from './markets.ts'
import { BACKFILL_BARS_MAX, earliestMs, planPast } from './plan.ts'
import { messageOf, numberOf } from './values.ts'

const BAR_MS = 60_000
const row = (openMs: number, close = '1.5') => [openMs, '1', '2', '0.5', close, '10']

describe('candles', () => {
  it('are told oldest first, each time once, on the grid', () => {
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

  it('keep the later of two with the same time, and the digits of the venue', () => {
    expect(readCandles([row(0, '1.1'), row(0, '1.23456789')], BAR_MS)).toMatchObject([
      { close: 1.234_567_89 },
    ])
  })

  it.each([
    ['no list', '<html>'],
    ['no row', [null]],
    ['a row that is short', [[0, '1', '2']]],
    ['a price that is no number', [[0, '1', 'two', '0.5', '1', '1']]],
    ['a price that is empty', [[0, '1', '', '0.5', '1', '1']]],
    ['a price that has no end', [[0, '1', 'Infinity', '0.5', '1', '1']]],
    ['a time that is no time', [['now', '1', '2', '0.5', '1', '1']]],
  ])('are not read from %s', (_, answer) => {
    expect(() => readCandles(answer, BAR_MS)).toThrow('the venue told')
  })
})

describe('depth', () => {
  it('is what stands within half a percent of the middle, in whatever order', () => {
    const book = {
      // As text these would stand in another order.
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

  it('know how often is paid, from the answer or from the past', () => {
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

  it('are found by the base, against the first dollar of the list', () => {
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

describe('the past', () => {
  const nowMs = Date.parse('2026-02-20T12:34:56Z')
  const situation = { nowMs, barMs: BAR_MS, lastCloseMs: null, warmupHours: 2, warmupBarMs: 900_000 }

  it('begins with coarse bars that end where the fine ones begin', () => {
    expect(planPast(situation)).toEqual({
      warmup: { fromMs: Date.parse('2026-02-20T10:30:00Z'), toMs: Date.parse('2026-02-20T12:30:00Z') },
      nextMs: Date.parse('2026-02-20T12:30:00Z'),
    })
    const fine = { warmup: null, nextMs: Date.parse('2026-02-20T10:34:00Z') }
    expect(planPast({ ...situation, warmupBarMs: null })).toEqual(fine)
    expect(planPast({ ...situation, warmupHours: 0 }).nextMs).toBe(Date.parse('2026-02-20T12:34:00Z'))
  })

  it('goes on behind what is stored, on the grid', () => {
    const lastCloseMs = Date.parse('2026-02-20T12:00:05Z')
    expect(planPast({ ...situation, lastCloseMs })).toEqual({
      warmup: null,
      nextMs: Date.parse('2026-02-20T12:01:00Z'),
    })
  })

  it('has an end', () => {
    expect(earliestMs(nowMs, BAR_MS)).toBe(nowMs - BACKFILL_BARS_MAX * BAR_MS)
  })
})

describe('values', () => {
  it('are numbers or nothing', () => {
    expect(['1.5', 2, '', ' ', 'x', null, undefined, {}, Number.NaN].map(numberOf)).toEqual([
      1.5,
      2,
      ...Array.from({ length: 7 }, () => null),
    ])
  })

  it('keep messages short', () => {
    expect(messageOf(new Error(`a\n b ${'c'.repeat(1000)}`))).toMatch(/^a b c{296}…$/)
  })
})
