import { gzipSync } from 'node:zlib'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBarStore } from '../../../adapters/history/bar-files/bar-store.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const START_MS = Date.UTC(2024, 0, 1)
const MINUTE_MS = 60_000
/** Without a header, as exchanges dump them. */
const dump = (minutes: number, { price = 100, scale = 1, fromMinute = 0 } = {}): string =>
  Array.from({ length: minutes }, (_, index) => {
    const ms = START_MS + (fromMinute + index) * MINUTE_MS
    const base = price + (index % 5) / 10
    return `${ms * scale},${base},${base + 1},${base - 1},${base + 0.5},7,${ms + 59_999},0,1`
  }).join('\n')

const file = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(home.folder, name)
  await writeFile(path, content)
  return path
}
const importing = async (path: string, ...words: readonly string[]) => {
  const { exitCode, stdout } = await home.run(['data', 'import', path, '--json', ...words])
  return { exitCode, file: JSON.parse(stdout).files[0] }
}
const list = async () => JSON.parse((await home.run(['data', 'list', '--json'])).stdout).series

describe('svc data import', () => {
  it('reads the dump of an exchange, and the same again changes nothing', async () => {
    const path = await file('BTCUSDT-1m-2024-01.csv', dump(120))
    const first = await importing(path, '--exchange', 'binance')
    expect(first).toMatchObject({
      exitCode: 0,
      file: { format: 'CSV, no header', skipped: 0, series: [{ series: 'binance:BTC-USDT:1m', added: 120 }] },
    })
    const again = await importing(path, '--exchange', 'binance')
    expect(again.file.series).toMatchObject([{ added: 0, repeated: 120, conflicts: [] }])
    expect(await list()).toMatchObject([
      {
        series: 'binance:BTC-USDT:1m',
        bars: 120,
        from: '2024-01-01T00:00:00.000Z',
        to: '2024-01-01T02:00:00.000Z',
      },
    ])
    expect(await readdir(join(home.folder, 'data/bars/binance/BTC-USDT/1m'))).toEqual(['2024-01.parquet'])
  })

  it('takes the whole quote currency of the name of a dump, and refuses a name that can be two markets', async () => {
    const busd = await importing(await file('BTCBUSD-1m-2022-01.csv', dump(3)), '--exchange', 'binance')
    expect(busd.file.series).toMatchObject([{ series: 'binance:BTC-BUSD:1m' }])
    const path = await file('ARBUSD-1m-2022-01.csv', dump(3))
    expect(await importing(path, '--exchange', 'mine')).toMatchObject({
      exitCode: 1,
      file: {
        error: `${path}: ARBUSD can be AR/BUSD or ARB/USD: add --symbol AR/BUSD or --symbol ARB/USD`,
      },
    })
    const named = await importing(path, '--exchange', 'mine', '--symbol', 'AR/BUSD')
    expect(named.file.series).toMatchObject([{ series: 'mine:AR-BUSD:1m' }])
    expect((await list()).map(({ series }: { series: string }) => series)).toEqual([
      'binance:BTC-BUSD:1m',
      'mine:AR-BUSD:1m',
    ])
  })

  it('reads gzip, microseconds, JSON lines and Parquet alike', async () => {
    const words = ['--exchange', 'x', '--symbol', 'BTC']
    await importing(await file('a.csv.gz', gzipSync(dump(50, { scale: 1000 }))), ...words)
    const lines = dump(50)
      .split('\n')
      .map((line) => {
        const [ts, open, high, low, close, volume] = line.split(',').map(Number)
        return JSON.stringify({ ts, symbol: 'BTC', open, high, low, close, volume })
      })
    const json = await importing(await file('a.jsonl', lines.join('\n')), ...words)
    expect(json.file).toMatchObject({ format: 'JSON lines, header', series: [{ added: 0, repeated: 50 }] })
    await home.run(['data', 'export', 'x:BTC:1m', '--output', join(home.folder, 'a.parquet')])
    const parquet = await importing(join(home.folder, 'a.parquet'))
    expect(parquet.file).toMatchObject({ format: 'Parquet, header', series: [{ added: 0, repeated: 50 }] })
  })

  it('keeps the stored bar where another differs, reports it, and replaces it only when asked to', async () => {
    const words = ['--exchange', 'x', '--symbol', 'BTC']
    await importing(await file('a.csv', dump(3)), ...words)
    const other = await file('b.csv', dump(3, { price: 200 }))
    const kept = await importing(other, ...words)
    expect(kept.file.series[0].conflicts).toHaveLength(3)
    expect(kept.file.series[0].conflicts[0]).toMatchObject({ kept: { open: 100 }, dropped: { open: 200 } })
    const replaced = await importing(other, ...words, '--replace')
    expect(replaced.file.series[0]).toMatchObject({ replaced: 3 })
    expect((await home.run(['data', 'export', 'x:BTC:1m'])).stdout).toContain('x,BTC,200,201,199,200.5,7')
  })

  it('skips rows that make no sense, with their lines, and takes the rest', async () => {
    const lines = dump(100).split('\n')
    lines[3] = 'broken'
    lines[10] = lines[10]?.replace(/^\d+/, String(START_MS + 10 * MINUTE_MS + 1)) ?? ''
    const { exitCode, file: imported } = await importing(
      await file('a.csv', lines.join('\r\n')),
      '--exchange',
      'x',
      '--symbol',
      'BTC',
    )
    expect(exitCode).toBe(0)
    expect(imported).toMatchObject({ skipped: 2, series: [{ added: 98 }] })
    expect(imported.faults).toEqual([
      expect.stringMatching(/^line 4: 1 fields/),
      expect.stringMatching(/^line 11: .* not on the UTC grid of 1m/),
    ])
  })

  it.each([
    ['nothing', '', [], /is empty/],
    ['a zip archive', 'PK\u0003\u0004', [], /unpack it first/],
    ['no bars', 'a,b,c\n1,2,3', [], /no columns of bars/],
    ['no venue', dump(3), ['--symbol', 'BTC'], /add --exchange/],
    ['no market', dump(3), ['--exchange', 'x'], /add --symbol/],
    ['one bar of no length', dump(1), ['--exchange', 'x', '--symbol', 'BTC'], /add --timeframe/],
    [
      'another length',
      dump(3),
      ['--exchange', 'x', '--symbol', 'BTC', '--timeframe', '1h'],
      /bars of 1m, not of 1h/,
    ],
    [
      'columns in another order',
      dump(30).replaceAll(/^(\d+),([\d.]+),([\d.]+)/gm, '$1,$3,$2'),
      ['--exchange', 'x', '--symbol', 'BTC'],
      /another order/,
    ],
    [
      'half a gzip',
      gzipSync(dump(30)).subarray(0, 60),
      ['--exchange', 'x', '--symbol', 'BTC'],
      /cannot read/,
    ],
    ['half a Parquet file', 'PAR1xxxx', ['--exchange', 'x', '--symbol', 'BTC'], /cannot read/],
  ] as const)('refuses a file with %s', async (_what, content, words, reason) => {
    const { exitCode, file: imported } = await importing(await file('a.csv', content), ...words)
    expect(exitCode).toBe(1)
    expect(imported).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) })
    expect(await list()).toEqual([])
  })

  it('reads the other files when one fails, and ends with an error', async () => {
    const good = await file('good.csv', dump(3))
    const { exitCode, stdout } = await home.run([
      'data',
      'import',
      join(home.folder, 'none.csv'),
      good,
      '--exchange',
      'x',
      '--symbol',
      'BTC',
    ])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/cannot read .*none\.csv/)
    expect(stdout).toMatch(/x:BTC:1m\s+3 new/)
  })

  it('lists what is wrong with a file line by line', async () => {
    const path = await file('wrong.csv', dump(20).replaceAll(/^\d+/gm, 'yesterday'))
    const header = 'time,open,high,low,close,volume,end,x,y'
    await writeFile(path, `${header}\n${await readFile(path, 'utf8')}`)
    const { stdout } = await home.run(['data', 'import', path, '--exchange', 'x', '--symbol', 'BTC'])
    const lines = stdout.split('\n').map((line) => line.trim())
    expect(lines).toContain('line 2: "yesterday" is not a time')
    expect(lines).toContain('line 3: "yesterday" is not a time')
  })

  it('leaves out a bar that has not closed', async () => {
    const nowMs = Math.floor(home.clock.now() / MINUTE_MS) * MINUTE_MS
    const rows = [-2, -1, 0, 1].map((minute) => `${nowMs + minute * MINUTE_MS},1,1,1,1,1`)
    const { file: imported } = await importing(
      await file('a.csv', rows.join('\n')),
      '--exchange',
      'x',
      '--symbol',
      'BTC',
    )
    expect(imported).toMatchObject({
      series: [{ added: 2 }],
      skipped: 2,
      faults: [expect.stringMatching(/not closed/), expect.anything()],
    })
  })
})

describe('svc data check', () => {
  it('finds nothing in sound bars, and names gaps without calling them an error', async () => {
    await importing(
      await file('a.csv', `${dump(60)}\n${dump(60, { fromMinute: 90 })}`),
      '--exchange',
      'x',
      '--symbol',
      'BTC',
    )
    const { exitCode, stdout } = await home.run(['data', 'check', 'x:BTC:1m'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/30 missing/)
    expect(stdout).toMatch(/2024-01-01T01:00\s+gap: 30 bars missing, up to 2024-01-01T01:30/)
  })

  it('finds a series whose times are in another zone, and fails', async () => {
    const rows = (shiftHours: number) =>
      Array.from({ length: 400 }, (_, hour) => {
        const base = 100 + 10 * Math.sin(hour ** 1.7)
        return `${START_MS + (hour + shiftHours) * 3_600_000},${base},${base + 1},${base - 1},${base},7`
      }).join('\n')
    await importing(await file('a.csv', rows(0)), '--exchange', 'x', '--symbol', 'BTC')
    await importing(await file('b.csv', rows(8)), '--exchange', 'y', '--symbol', 'BTC')
    const { exitCode, stdout } = await home.run(['data', 'check'])
    expect(exitCode).toBe(1)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/agrees with x:BTC:1h only when moved by -8 hours/)
  })

  it('compares two days of seconds with minutes, and exports them', async () => {
    const store = createBarStore(join(home.folder, 'data'))
    const [open, high, low, close, volume] = [100, 101, 99, 100, 1]
    for (const seconds of [1, 60]) {
      const bars = Array.from({ length: 172_800 / seconds }, (_, index) => {
        return { openMs: START_MS + index * seconds * 1000, open, high, low, close, volume }
      })
      await store.merge({ venue: 'x', symbol: 'BTC', seconds }, bars, { replaces: false })
    }
    const { exitCode, stdout } = await home.run(['data', 'check', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).series).toMatchObject([{ bars: 2880 }, { bars: 172_800 }])
    const output = join(home.folder, 'seconds.parquet')
    expect(await home.run(['data', 'export', 'x:BTC:1s', '--output', output])).toMatchObject({ exitCode: 0 })
    expect(Number((await parquetMetadataAsync(await asyncBufferFromFile(output))).num_rows)).toBe(172_800)
  })

  it('refuses a series that is not stored', async () => {
    const { exitCode, stderr } = await home.run(['data', 'check', 'x:BTC:1m'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/no bars are stored/)
  })
})

describe('svc data export', () => {
  beforeEach(async () => {
    await importing(await file('a.csv', dump(120)), '--exchange', 'x', '--symbol', 'BTC')
  })

  it('writes longer bars, as CSV that can be imported again', async () => {
    const { stdout } = await home.run(['data', 'export', 'x:BTC:1h'])
    expect(stdout.trim().split('\r\n')).toEqual([
      'ts,venue,symbol,open,high,low,close,volume',
      '2024-01-01T00:00:00.000Z,x,BTC,100,101.4,99,100.9,420',
      '2024-01-01T01:00:00.000Z,x,BTC,100,101.4,99,100.9,420',
    ])
  })

  it('writes a range as Parquet, into a new file only', async () => {
    const output = join(home.folder, 'out.parquet')
    const words = [
      'data',
      'export',
      'x:BTC:1m',
      '--output',
      output,
      '--from',
      '2024-01-01T00:10:00Z',
      '--to',
      '2024-01-01T00:19:00Z',
    ]
    expect((await home.run(words)).exitCode).toBe(0)
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(output) })
    expect(rows).toHaveLength(10)
    expect(rows[0]).toMatchObject({
      ts: new Date('2024-01-01T00:10:00Z'),
      venue: 'x',
      symbol: 'BTC',
      open: 100,
    })
    const before = await readFile(output)
    expect((await home.run(words)).stderr).toMatch(/exists already/)
    expect(await readFile(output)).toEqual(before)
  })

  it('does not write Parquet to a screen', async () => {
    const { exitCode, stderr } = await home.run(['data', 'export', 'x:BTC:1m', '--format', 'parquet'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/--output/)
  })

  it.each([
    [['data', 'export', 'BTC'], /binance:BTC:1h/],
    [['data', 'export', 'x:BTC:7m'], /length that divides a day/],
    [['data', 'download', '--exchange', 'x'], /--symbol/],
    [
      ['data', 'download', '--exchange', '../x', '--symbol', 'BTC', '--from', '2024-01-01'],
      /name of an exchange/,
    ],
    [['data', 'download', '--exchange', 'x', '--symbol', 'BTC', '--from', '2999-01-01'], /before now/],
    [
      ['data', 'download', '--exchange', 'x', '--symbol', 'BTC', '--from', '2024-01-01', '--timeframe', '1w'],
      /divides a day/,
    ],
  ])('refuses %j', async (words, message) => {
    const { exitCode, stderr } = await home.run(words)
    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(message)
  })
})
