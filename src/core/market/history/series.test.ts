import { describe, expect, it } from 'vitest'
import { parseSelector, selectSeries } from './select.ts'
import {
  historyBarFault,
  monthRange,
  seriesSymbol,
  seriesSymbols,
  timeframeSeconds,
  timeframeText,
  venueName,
  type SeriesName,
} from './series.ts'

const symbolOf = (text: string) => seriesSymbol(text, null)

describe('names of series', () => {
  it('have one spelling per market, and keep spot and perpetual apart', () => {
    expect(['BTC/USDT', 'btcusdt', 'BTC-USDT', 'BTC_USDT'].map(symbolOf)).toEqual(
      Array.from({ length: 4 }, () => 'BTC-USDT'),
    )
    expect(symbolOf('BTC/USDT:USDT')).toBe('BTC-USDT-USDT')
    expect(['BTC/FDUSD', 'BTCFDUSD'].map(symbolOf)).toEqual(['BTC-FDUSD', 'BTC-FDUSD'])
    expect(['BTC', 'W', '1000PEPE/USDT'].map(symbolOf)).toEqual(['BTC', 'W', '1000PEPE-USDT'])
    expect(['BTC-USDT', 'BTC-USDT-USDT'].map(symbolOf)).toEqual(['BTC-USDT', 'BTC-USDT-USDT'])
  })

  it('end with the whole quote currency where they are written without a separator', () => {
    expect(
      ['BTCBUSD', 'BTCTUSD', 'BTCGUSD', 'ETHPYUSD', 'XRPRLUSD', 'BTCAEUR', 'BNBBUSD'].map(symbolOf),
    ).toEqual(['BTC-BUSD', 'BTC-TUSD', 'BTC-GUSD', 'ETH-PYUSD', 'XRP-RLUSD', 'BTC-AEUR', 'BNB-BUSD'])
    expect(['BNBUSD', 'SHIBUSD', 'DOTUSD', 'USDTUSD', 'ADAEUR', 'BTCBUSDT'].map(symbolOf)).toEqual([
      'BNB-USD',
      'SHIB-USD',
      'DOT-USD',
      'USDT-USD',
      'ADA-EUR',
      'BTCB-USDT',
    ])
    expect(['BUSD', 'FDUSD', 'PYUSD', 'BTC-BUSD', 'BTCB-USD'].map(symbolOf)).toEqual([
      'BUSD',
      'FDUSD',
      'PYUSD',
      'BTC-BUSD',
      'BTCB-USD',
    ])
  })

  it('can be two markets, of which the venue has one', () => {
    for (const [name, busd, usd] of [
      ['ARBUSD', 'AR-BUSD', 'ARB-USD'],
      ['xyztusd', 'XYZ-TUSD', 'XYZT-USD'],
    ] as const) {
      expect(seriesSymbols(name, null)).toEqual([busd, usd])
      expect(seriesSymbols(name, 'elsewhere')).toEqual([busd, usd])
      expect(symbolOf(name)).toBeNull()
      expect(seriesSymbols(name, 'binance')).toEqual([busd])
      expect(seriesSymbols(name, 'kraken')).toEqual([usd])
    }
  })

  it('never leave the folder of the store', () => {
    const tricks = ['..', '../x', 'a/../b', '', '.', '-', 'a b', 'a\u0000b', 'a'.repeat(41), '/etc']
    expect(tricks.map(symbolOf).filter((name) => name !== null)).toEqual([])
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
    { venue: 'mine', symbol: 'AR-BUSD', seconds: 60 },
    { venue: 'mine', symbol: 'ARB-USD', seconds: 60 },
    { venue: 'mine', symbol: 'XYZ-BUSD', seconds: 60 },
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

  it('finds a market that is written without a separator, unless it can be two that are stored', () => {
    expect(select('mine:XYZBUSD:1m')).toEqual({ status: 'found', source: stored[8], seconds: 60 })
    expect(select('mine:ARBUSD:1m')).toMatchObject({
      reason: 'ARBUSD can be AR-BUSD or ARB-USD of mine: name one of them',
    })
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
