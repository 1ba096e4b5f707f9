import { describe, expect, it } from 'vitest'
import { parseSelector, selectSeries } from './select.ts'
import {
  historyBarFault,
  monthRange,
  seriesSymbol,
  timeframeSeconds,
  timeframeText,
  venueName,
  type SeriesName,
} from './series.ts'

describe('names of series', () => {
  it('have one spelling per market, and keep spot and perpetual apart', () => {
    expect(['BTC/USDT', 'btcusdt', 'BTC-USDT', 'BTC_USDT'].map(seriesSymbol)).toEqual(
      Array.from({ length: 4 }, () => 'BTC-USDT'),
    )
    expect(seriesSymbol('BTC/USDT:USDT')).toBe('BTC-USDT-USDT')
    expect(['BTC/FDUSD', 'BTCFDUSD'].map(seriesSymbol)).toEqual(['BTC-FDUSD', 'BTC-FDUSD'])
    expect(['BTC', 'W', '1000PEPE/USDT'].map(seriesSymbol)).toEqual(['BTC', 'W', '1000PEPE-USDT'])
    expect(['BTC-USDT', 'BTC-USDT-USDT'].map(seriesSymbol)).toEqual(['BTC-USDT', 'BTC-USDT-USDT'])
  })

  it('never leave the folder of the store', () => {
    const tricks = ['..', '../x', 'a/../b', '', '.', '-', 'a b', 'a\u0000b', 'a'.repeat(41), '/etc']
    expect(tricks.map(seriesSymbol).filter((name) => name !== null)).toEqual([])
    expect(tricks.map(venueName).filter((name) => name !== null)).toEqual([])
  })

  it('have lengths that divide a day, under their shortest name', () => {
    expect(['1m', '60m', '1440m', '1d', '15s', '4h'].map(timeframeSeconds)).toEqual([
      60, 3600, 86_400, 86_400, 15, 14_400,
    ])
    expect([60, 3600, 86_400, 15, 14_400].map(timeframeText)).toEqual(['1m', '1h', '1d', '15s', '4h'])
    expect(['7m', '1w', '2d', '1M', '0m', 'm', '5', '-1m', ''].map(timeframeSeconds)).toEqual(
      Array.from({ length: 9 }, () => null),
    )
  })

  it('know their months', () => {
    const { fromMs, toMs } = monthRange('2024-12')
    expect([fromMs, toMs].map((ms) => new Date(ms).toISOString())).toEqual([
      '2024-12-01T00:00:00.000Z',
      '2025-01-01T00:00:00.000Z',
    ])
  })
})

describe('a bar of history', () => {
  const bar = { openMs: 0, open: 2, high: 3, low: 1, close: 2, volume: 0 }
  it.each([
    [{}, null],
    [{ high: 1.5 }, /enclose/],
    [{ low: 2.5 }, /enclose/],
    [{ open: 0 }, /above 0/],
    [{ close: Number.NaN }, /above 0/],
    [{ high: Infinity }, /above 0/],
    [{ volume: -1 }, /volume/],
    [{ volume: Number.NaN }, /volume/],
  ])('with %j is judged by its values', (changes, fault) => {
    const found = historyBarFault({ ...bar, ...changes })
    if (fault === null) expect(found).toBeNull()
    else expect(found).toMatch(fault)
  })
})

describe('a selector', () => {
  const stored: readonly SeriesName[] = [
    { venue: 'binance', symbol: 'BTC-USDT', seconds: 60 },
    { venue: 'binance', symbol: 'BTC-USDT', seconds: 900 },
    { venue: 'binance', symbol: 'ETH-USDT', seconds: 60 },
    { venue: 'binance', symbol: 'ETH-USDT-USDT', seconds: 60 },
    { venue: 'binance', symbol: 'SOL', seconds: 60 },
    { venue: 'binance', symbol: 'SOL-USDT', seconds: 300 },
  ]
  const select = (text: string) => {
    const selector = parseSelector(text)
    return selector === null ? null : selectSeries(stored, selector)
  }

  it('finds a market by its coin, and the longest bars that others can be made of', () => {
    expect(select('binance:BTC:1m')).toEqual({ status: 'found', source: stored[0], seconds: 60 })
    expect(select('binance:BTC/USDT:1h')).toEqual({ status: 'found', source: stored[1], seconds: 3600 })
    expect(select('binance:BTC:5m')).toEqual({ status: 'found', source: stored[0], seconds: 300 })
    expect(select('Binance:btc')).toEqual({ status: 'found', source: stored[0], seconds: 60 })
    expect(select('binance:ETH/USDT:USDT:1m')).toEqual({ status: 'found', source: stored[3], seconds: 60 })
  })

  it('finds what is named as it is listed, also where another market is of the same coin', () => {
    expect(select('binance:SOL:1m')).toEqual({ status: 'found', source: stored[4], seconds: 60 })
    expect(select('binance:SOL:5m')).toEqual({ status: 'found', source: stored[4], seconds: 300 })
    expect(select('binance:SOL-USDT:5m')).toEqual({ status: 'found', source: stored[5], seconds: 300 })
  })

  it('does not guess', () => {
    expect(select('binance:ETH:1m')).toMatchObject({
      reason: expect.stringMatching(/ETH-USDT or ETH-USDT-USDT/),
    })
    expect(select('kraken:BTC:1m')).toMatchObject({
      reason: expect.stringMatching(/no bars of BTC of kraken/),
    })
    expect(select('binance:BTC:30s')).toMatchObject({ status: 'missing' })
    expect(select('binance:BTC/EUR:1m')).toMatchObject({ status: 'missing' })
    expect(['', 'BTC', 'binance:', ':BTC', '../x:BTC:1m'].map(select)).toEqual([null, null, null, null, null])
  })
})
