import { describe, expect, it } from 'vitest'
import { importFormatOf, seriesInFileName, splitterOf } from './import-rows.ts'

const read = (header: string, ...lines: readonly string[]) => {
  const split = splitterOf(header)
  const format = importFormatOf(split(header) ?? [])
  if (format === null) return null
  return [...(format.startsWithData ? [header] : []), ...lines].map((line) => format.read(split(line) ?? []))
}

const BAR = { openMs: Date.UTC(2024, 0, 1), open: 2, high: 3, low: 1, close: 2.5, volume: 7 }
const one = (venue: string | null, symbol: string | null) => [
  { status: 'bars', bars: [{ venue, symbol, bar: BAR }], faults: [] },
]

describe('files with bars', () => {
  it.each([
    ['our own', 'ts,symbol,open,high,low,close,volume', '2024-01-01T00:00:00Z,BTC,2,3,1,2.5,7', null, 'BTC'],
    [
      'our export',
      'ts,venue,symbol,open,high,low,close,volume',
      '2024-01-01,kraken,BTC-USD,2,3,1,2.5,7',
      'kraken',
      'BTC-USD',
    ],
    [
      'milliseconds',
      'open_time,open,high,low,close,volume,close_time',
      '1704067200000,2,3,1,2.5,7,1704067259999',
      null,
      null,
    ],
    [
      'microseconds',
      'open_time,open,high,low,close,volume,close_time',
      '1704067200000000,2,3,1,2.5,7,0',
      null,
      null,
    ],
    [
      'a web site',
      'unix,date,symbol,open,high,low,close,Volume BTC,Volume USDT',
      '1704067200,x,BTC/USDT,2,3,1,2.5,7,9',
      null,
      'BTC-USDT',
    ],
    [
      'OKX',
      'instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm',
      'BTC-USDT,2,3,1,2.5,7,0,0,1704067200000,1',
      null,
      'BTC-USDT',
    ],
    ['semicolons', 'Date;Open;High;Low;Close;Volume', '2024-01-01;2;3;1;2.5;7', null, null],
    [
      'tabs and quotes',
      'time\topen\thigh\tlow\tclose\tvolume',
      '"2024-01-01"\t2\t3\t1\t2.5\t"7"',
      null,
      null,
    ],
  ])('of %s', (_what, header, line, venue, symbol) => {
    expect(read(header, line)).toEqual(one(venue, symbol))
  })

  it('without a header, in seconds, milli- and microseconds', () => {
    for (const time of ['1704067200', '1704067200000', '1704067200000000']) {
      expect(read(`${time},2,3,1,2.5,7,extra,0`)).toEqual(one(null, null))
    }
  })

  it('with several venues and pairs in one row, each on its own', () => {
    const fields = ['open', 'high', 'low', 'close', 'volume']
    const columns = ['binance:BTC/USDT', 'okx:BTC/USDT:USDT'].flatMap((title) =>
      fields.map((field) => `${title}:${field}`),
    )
    const rows = read(
      `timestamp,${columns.join(',')}`,
      '1704067200000,2,3,1,2.5,7,9,1,1,1,1',
      '1704067200000,,,,,,2,3,1,2.5,7',
    )
    expect(rows).toEqual([
      {
        status: 'bars',
        bars: [{ venue: 'binance', symbol: 'BTC-USDT', bar: BAR }],
        faults: ['BTC-USDT-USDT: low and high must enclose open and close'],
      },
      { status: 'bars', bars: [{ venue: 'okx', symbol: 'BTC-USDT-USDT', bar: BAR }], faults: [] },
    ])
  })

  it('leave out a bar that is still forming', () => {
    expect(read('open,high,low,close,vol,open_time,confirm', '2,3,1,2.5,7,1704067200000,0')).toEqual([
      { status: 'skipped' },
    ])
  })

  it.each([
    ['ts,symbol,open,high,low,close,volume', 'x,BTC,2,3,1,2.5,7', /not a time/],
    ['ts,symbol,open,high,low,close,volume', '2024-01-01,../etc,2,3,1,2.5,7', /not a name of a market/],
    ['ts,exchange,open,high,low,close,volume', '2024-01-01,a/b,2,3,1,2.5,7', /not a name of a venue/],
    ['ts,open,high,low,close,volume', '2024-01-01,2,1,3,2.5,7', /enclose/],
    ['ts,open,high,low,close,volume', '2024-01-01,2,3,1,,7', /above 0/],
    ['ts,open,high,low,close,volume', '2024-01-01,2,3,1', /4 fields where the first line has 6/],
  ])('%s refuse %s', (header, line, reason) => {
    expect(read(header, line)).toEqual([{ status: 'bad', reason: expect.stringMatching(reason) }])
  })

  it('are not any table', () => {
    for (const header of [
      'a,b,c',
      'close_time,open,high,low,close,volume',
      '1704067200,1,2,3',
      'x,1,2,3,4,5',
      '',
    ]) {
      expect(read(header)).toBeNull()
    }
  })

  it('name the option where a market is written so that it can be two', () => {
    const format = importFormatOf(['ts', 'symbol', 'open', 'high', 'low', 'close', 'volume'])
    const cells = ['2024-01-01', 'ARBUSD', '2', '3', '1', '2.5', '7']
    expect(format?.read(cells)).toEqual({
      status: 'bad',
      reason: 'ARBUSD can be AR/BUSD or ARB/USD: add --symbol AR/BUSD or --symbol ARB/USD',
    })
    expect([format?.read(cells, { symbol: 'ar/busd' })]).toEqual(one(null, 'AR-BUSD'))
    expect([format?.read(cells, { venue: 'kraken' })]).toEqual(one(null, 'ARB-USD'))
    expect(format?.read(cells, { symbol: 'BTC' })).toMatchObject({ status: 'bad' })
  })

  it('may say in their names what they hold', () => {
    expect(seriesInFileName('BTCUSDT-1m-2024-01.csv')).toEqual({ pair: 'BTCUSDT', timeframe: '1m' })
    expect(seriesInFileName('bars.csv')).toBeNull()
  })
})
