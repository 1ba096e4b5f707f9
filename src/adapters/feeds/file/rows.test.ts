import { describe, expect, it } from 'vitest'
import { barAt } from '../../../core/market/bars.fixture.ts'
import { csv, FIRST_MS, HEADER, MINUTE_MS, minutes, row, tsOf, useFiles } from './file-feed.fixture.ts'

const { replayed } = useFiles()

describe('the long form', () => {
  it('is delivered in bars of one close time, with null for missing columns', async () => {
    const { calls, errors } = await replayed(
      'timestamp,symbol,open,high,low,close,volume,funding_annualized,fear_greed\n' +
        '1706745600000,BTC/USDT,10,12,9,11,3,8.5,\n1706745600,ETH,1,1,1,1,0,,44\n1706745900000,btc,11,11,11,11,0,,\n',
    )
    expect(errors).toEqual([])
    expect(calls).toEqual([
      [
        {
          ...barAt('2024-02-01T00:00:00.000Z', 11, { resolution_s: 300, funding_annualized: 8.5 }),
          open: 10,
          high: 12,
          low: 9,
          volume: 3,
          quote_volume: 33,
        },
        barAt('2024-02-01T00:00:00.000Z', 1, {
          symbol: 'ETH',
          resolution_s: 300,
          volume: 0,
          quote_volume: 0,
          fear_greed: 44,
        }),
      ],
      [barAt('2024-02-01T00:05:00.000Z', 11, { resolution_s: 300, volume: 0, quote_volume: 0 })],
    ])
  })

  it('may be written by a spreadsheet: byte order mark, CRLF, quotes, empty lines, a comma too many', async () => {
    const { short, errors } = await replayed(
      `\uFEFF"TS","Symbol",open , high,low,close,volume\r\n\r\n"${tsOf(0)}", "BTC","1","1",1,1,0\r\n${tsOf(1)},BTC,2,2,2,2,0,\r\n`,
    )
    expect(short).toEqual(['00:00 BTC 1', '00:01 BTC 2'])
    expect(errors).toEqual(['FILE: no bars of ETH'])
  })

  it('needs no end of line at its end', async () => {
    const { short } = await replayed(`${HEADER}\n${row(0)}\n${row(1)}`)
    expect(short).toEqual(['00:00 BTC 100', '00:01 BTC 101'])
  })
})

describe('the wide form', () => {
  it('has a column per venue, pair and field', async () => {
    const fields = ['open', 'high', 'low', 'close', 'volume']
    const columns = [
      'binance:BTC/USDT',
      'kraken:BTC/USD',
      'binance:ETH/USDT:USDT',
      'binance:DOGE/USDT',
    ].flatMap((pair) => fields.map((field) => `${pair}:${field}`))
    const { short, errors } = await replayed(
      `timestamp,${columns.join()}\n` +
        `${FIRST_MS},1,1,1,1,0,9,9,9,9,0,2,2,2,2,0,7,7,7,7,0\n` +
        `${FIRST_MS + MINUTE_MS},3,3,3,3,0,9,9,9,9,0,,,,,,7,7,7,7,0\n` +
        `${FIRST_MS + 2 * MINUTE_MS},4,4,4,4,0,9,9,9,9,0,5,nan,5,5,0,7,7,7,7,0\n`,
    )
    expect(short).toEqual(['00:00 BTC 1, 00:00 ETH 2', '00:01 BTC 3', '00:02 BTC 4'])
    expect(errors).toEqual([
      'FILE line 4: ETH: open, high, low and close must be numbers above 0',
      'FILE: ignored, since another venue has the same symbol: kraken:BTC/USD',
    ])
  })
})

describe('JSONL', () => {
  it('is read in the long form, whose members may come and go', async () => {
    const bar = { symbol: 'BTC', open: 1, high: 1, low: 1, close: 1, volume: 0 }
    const lines = [
      { ts: tsOf(0), ...bar },
      { ts: FIRST_MS + MINUTE_MS, ...bar, funding_annualized: 7, fear_greed: null },
      { ts: tsOf(2), ...bar, close: '1.0' },
    ]
    const { calls, errors } = await replayed(
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"ts":`,
      {
        symbols: ['BTC'],
      },
    )
    expect(calls.map(([first]) => first?.funding_annualized)).toEqual([null, 7, null])
    expect(errors).toEqual(['FILE line 4: not a JSON object'])
  })

  it('is read in the wide form', async () => {
    const fields = ['open', 'high', 'low', 'close', 'volume'].map((field) => [`binance:BTC/USDT:${field}`, 5])
    const { short } = await replayed(JSON.stringify({ timestamp: FIRST_MS, ...Object.fromEntries(fields) }))
    expect(short).toEqual(['00:00 BTC 5'])
  })
})

describe('a file with faults', () => {
  it('is reported line by line, and its valid rows are replayed', async () => {
    const { short, errors } = await replayed(
      csv(
        row(0),
        'yesterday,BTC,1,1,1,1,1',
        `${tsOf(1)},BTC,1,1,1`,
        `${tsOf(1)},BTC,5,4,3,4,1`,
        `${tsOf(1)},BTC,0,1,0,1,1`,
        `${tsOf(1)},BTC,1,1,1,x,1`,
        `${tsOf(1)},BTC,1,1,1,1,-1`,
        `"${tsOf(1)},BTC,1,1,1,1,1`,
        `${tsOf(1)},BTC,1,1,1,1,`,
        row(1),
      ),
      { symbols: ['BTC'] },
    )
    expect(short).toEqual(['00:00 BTC 100', '00:01 BTC 101'])
    expect(errors).toEqual([
      'FILE line 3: "yesterday" is not a time',
      'FILE line 4: 5 fields where the header has 7',
      'FILE line 5: BTC: open and close must lie between low and high',
      'FILE line 6: BTC: open, high, low and close must be numbers above 0',
      'FILE line 7: BTC: open, high, low and close must be numbers above 0',
      'FILE line 8: BTC: volume must be a number of 0 or more',
      'FILE line 9: a quote is not closed',
      'FILE line 10: BTC: volume must be a number of 0 or more',
    ])
  })

  it('names side values that are out of range', async () => {
    const { short, errors } = await replayed(
      `${HEADER},fear_greed,open_interest_usd\n${row(0)},101,\n${row(1)},,-1\n${row(2)},1,x\n${row(3)},100,0\n`,
      { symbols: ['BTC'] },
    )
    expect(short).toEqual(['00:03 BTC 103'])
    expect(errors).toEqual([
      'FILE line 2: BTC: fear_greed is out of range',
      'FILE line 3: BTC: open_interest_usd is out of range',
      'FILE line 4: BTC: open_interest_usd is out of range',
    ])
  })

  it('does not flood the log', async () => {
    const { errors } = await replayed(csv(row(0), ...minutes(500).map(() => 'x'), row(1)), {
      symbols: ['BTC'],
    })
    expect(errors).toHaveLength(11)
    expect(errors.at(-1)).toBe('FILE: 490 more faults like these')
  })

  it('may have overlong lines', async () => {
    const { short, errors } = await replayed(csv(row(0), 'x'.repeat(3_000_000), row(1)), {
      symbols: ['BTC'],
    })
    expect(short).toEqual(['00:00 BTC 100', '00:01 BTC 101'])
    expect(errors).toEqual(['FILE line 3: the line is too long'])
  })

  it('may have misaligned rows', async () => {
    const late = `${new Date(FIRST_MS + 90_500).toISOString()},BTC,1,1,1,1,1`
    const { short, errors } = await replayed(csv(row(0), row(1), late, row(2), row(3)), {
      symbols: ['BTC'],
    })
    expect(short).toHaveLength(4)
    expect(errors).toEqual(['FILE line 4: 2024-02-01T00:01:30.500Z is not a multiple of 60 seconds'])
  })

  it('may repeat rows; of two that differ the first is used', async () => {
    const { short, errors } = await replayed(csv(row(0), row(1), row(0), row(1, 'BTC', 7), row(2)), {
      symbols: ['BTC'],
    })
    expect(short).toEqual(['00:00 BTC 100', '00:01 BTC 101', '00:02 BTC 102'])
    expect(errors).toEqual(['FILE line 5: BTC: differs from line 3, which is used'])
  })
})
