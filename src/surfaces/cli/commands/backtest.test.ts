import { timestampOf } from '../../../core/shared/brand.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EMPTY_HEAD, type LogRecord } from '../../../core/log/event.ts'
import { chain } from '../../../core/log/hash-chain.ts'
import { barsFrom } from '../../../core/market/bars.fixture.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { sparkline } from '../backtest-text.ts'

let home: TestHome
let folder: string

beforeEach(async () => {
  home = await openTestHome()
  folder = await mkdtemp(join(tmpdir(), 'backtest-'))
})
afterEach(async () => {
  await home.close()
  await rm(folder, { recursive: true, force: true })
})

const backtest = (...words: readonly string[]) => home.run(['backtest', ...words])

const documentOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await backtest('--json', ...words)
  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
  return JSON.parse(stdout)
}

const WEEK = ['--symbol', 'BTC', '--from', '2026-01-05', '--to', '2026-01-11'] as const

/** Bars of an hour that rise and fall, in the long form. */
const fileOf = async (hours: number): Promise<string> => {
  const rows = Array.from({ length: hours }, (_, index) => {
    const price = 100 + 10 * Math.sin(index / 20)
    const ts = timestampAt(Date.UTC(2026, 0, 1, index))
    return `${ts},BTC,${price},${price + 1},${price - 1},${price + 0.5},1000`
  })
  const path = join(folder, 'bars.csv')
  await writeFile(path, `ts,symbol,open,high,low,close,volume\n${rows.join('\n')}\n`)
  return path
}

const recordedBars = (hours: number): readonly LogRecord[] => {
  const begin = timestampAt(Date.UTC(2026, 0, 1))
  const bars = barsFrom(
    begin,
    Array.from({ length: hours }, () => 100),
    { resolution_s: 3600 },
  )
  const events = bars.map((bar, index) => ({
    seq: index + 1,
    id: `bar-${index}`,
    type: 'market.bar.v1',
    ts: timestampOf(bar.close_ts),
    source: 'feed',
    traceId: null,
    dedupeKey: null,
    payload: { feed: 'file', ...bar },
    recordedAt: timestampOf(bar.close_ts),
  }))
  return chain(events, EMPTY_HEAD, sha256Hex).map((record) => ({
    ...record,
    signature: null,
    signer: null,
    batchSignature: null,
  }))
}

describe('svc backtest', () => {
  it('tells what came of a simulated week, and the same again when asked again', async () => {
    const document = await documentOf(...WEEK, '--strategy', 'ma_crossover', '--seed', '3')
    expect(document).toMatchObject({
      strategy: 'ma_crossover',
      market: 'simulated',
      symbols: ['BTC'],
      seed: 3,
      from: '2026-01-05T00:00:00.000Z',
      to: '2026-01-12T00:00:00.000Z',
      bar_seconds: 900,
      bars: 672,
      days: 7,
      trades: expect.any(Number),
      total_return: expect.any(Number),
      sharpe: expect.any(Number),
      max_drawdown: expect.any(Number),
      p_value: expect.any(Number),
      start_equity_usd: 10_000,
    })
    expect(document.trades).toBeGreaterThan(0)
    expect(document.closed_trades).toHaveLength(document.trades)
    expect(document.closed_trades[0]).toMatchObject({ symbol: 'BTC', net_usd: expect.any(Number) })
    expect(document.equity_usd_by_day).toHaveLength(7)
    expect(document.equity_usd_by_day.at(-1)).toBe(document.end_equity_usd)
    expect(document.total_return).toBeCloseTo(document.end_equity_usd / 10_000 - 1, 9)
    expect(await documentOf(...WEEK, '--strategy', 'ma_crossover', '--seed', '3')).toEqual(document)
    const other = await documentOf(...WEEK, '--strategy', 'ma_crossover', '--seed', '4')
    expect(other.total_return).not.toBe(document.total_return)
  })

  it('lets the brain decide where nobody else is named, with everything the simulated market tells', async () => {
    const document = await documentOf(...WEEK)
    expect(document).toMatchObject({ strategy: 'brain', bars: 672 })
    expect(Object.keys(document.held_back)).not.toContain('coverage')
  })

  it('reads bars from a file, and says why prices alone move nothing', async () => {
    const file = await fileOf(300)
    const { exitCode, stdout } = await backtest('--file', file, '--symbol', 'BTC')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^Market +BTC, from a file$/m)
    expect(stdout).toMatch(/^Bars +100 of 3600 seconds$/m)
    expect(stdout).toMatch(/^By day +▁{6}$/m)
    expect(stdout).toMatch(/^Held back +\d+ times by coverage; [\s\S]*SVC_BRAIN__MIN_DOMAINS=1$/m)
    expect(stdout).toMatch(/^Note +5 days are too few/m)
  })

  it('says when the kill switch ended it', async () => {
    const month = [
      '--symbol',
      'BTC',
      '--from',
      '2026-01-01',
      '--to',
      '2026-01-30',
      '--strategy',
      'momentum',
    ] as const
    const { stdout } = await backtest(...month)
    expect(stdout).toMatch(
      /^Kill switch +stopped entries once, first 2026-01-10T09:15: loss_streak=3;\s+--reset-daily lowers it/m,
    )
    expect((await backtest(...month, '--reset-daily')).stdout).toMatch(/^Kill switch [\s\S]*loss_streak=3$/m)
  })

  it('writes nothing', async () => {
    await documentOf(...WEEK, 'hold')
    expect(home.log()).toBeNull()
  })

  it.each([
    [
      'a strategy that nobody knows',
      ['--strategy', 'luck'],
      /Allowed choices are brain, momentum, ma_crossover, always_long, hold/,
    ],
    ['a seed that is none', ['--seed', '-1'], /whole number/],
    ['a seed that is too large', ['--seed', '9007199254740993'], /whole number/],
    ['a day that is none', ['--from', '2026-02-30'], /must be a date/],
    [
      'an end before the beginning',
      ['--from', '2026-02-02', '--to', '2026-02-01'],
      /--from comes after --to/,
    ],
    ['a symbol that is none', ['--symbol', 'B|C'], /symbol such as BTC/],
    ['a misspelt strategy', ['momentun'], /Allowed choices are [\w, ]+\. Did you mean momentum\?/],
    ['a strategy twice', ['momentum', 'momentum'], /momentum is named twice/],
    ['words and --strategy', ['momentum', '--strategy', 'hold'], /not both/],
    ['a setting without a value', ['momentum', '--set', 'bars'], /such as fast=10/],
    ['a setting twice', ['momentum', '--set', 'bars=1', '--set', 'bars=2'], /--set names bars twice/],
    ['a setting of nobody', ['momentum', '--set', 'hold.bars=1'], /hold is not run/],
    ['negative fees', ['--fees', '-1'], /number from 0 to 1000/],
    ['slippage that is none', ['--slippage', 'much'], /number from 0 to 1000/],
    ['funding that is none', ['--funding', 'on'], /number from -1000 to 1000/],
    ['no trials', ['--trials', '0'], /number from 1/],
    ['events of two runs', ['momentum', 'hold', '--events', 'e.jsonl'], /name one strategy/],
    ['one file for both', ['--html', 'x', '--events', 'x'], /the same file/],
  ])('refuses %s', async (_, words, message) => {
    const { exitCode, stderr, stdout } = await backtest(...words)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it.each([
    ['a file that is not there', () => join(folder, 'none.csv'), /cannot be read/],
    ['a file without the symbol', () => fileOf(300), /no bars of ETH/],
  ])('fails for %s', async (_, pathOf, message) => {
    const { exitCode, stderr } = await backtest('--json', '--symbol', 'ETH', '--file', await pathOf())
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'backtest.no_bars',
      detail: expect.stringMatching(message),
    })
  })

  it('fails for a file that is over before anything could be traded', async () => {
    const { exitCode, stderr } = await backtest('--file', await fileOf(150), '--symbol', 'BTC')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/no bars to trade on/)
    expect(stderr).toMatch(/200 analysis bars/)
  })

  it('runs through the bars of the log', async () => {
    const [missing, empty] = [await backtest('--recorded'), await home.run(['kill-switch', 'set', '1'])]
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/no event store/) })
    expect(empty.exitCode).toBe(0)
    expect((await backtest('--recorded')).stderr).toMatch(/the log has no bars/)
    await home.replaceRecords(recordedBars(300))
    const document = await documentOf('--recorded', '--strategy', 'always_long', '--symbol', 'BTC')
    expect(document).toMatchObject({ market: 'log', bars: 100, bar_seconds: 3600, open_positions: 1 })
    const unknown = await backtest('--recorded', '--symbol', 'BTX')
    expect(unknown).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/the log has no bars of BTX; it has BTC/),
    })
    expect(await home.records()).toHaveLength(300)
    expect((await backtest('--recorded', '--file', 'bars.csv')).exitCode).toBe(2)
  })

  it('counts what it could not read', async () => {
    const file = await fileOf(300)
    await writeFile(file, 'not a row\n', { flag: 'a' })
    const document = await documentOf('--file', file, '--symbol', 'BTC', 'hold')
    expect(document.left_out).toEqual([expect.stringMatching(/line 302/)])
  })
})

describe('a sparkline', () => {
  describe('a line of heights', () => {
    it('goes from the lowest to the highest of it', () => {
      expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8], 60)).toBe('▁▂▃▄▅▆▇█')
      expect(sparkline([10_000, 9_900, 10_100], 60)).toBe('▅▁█')
    })

    it('lies low where nothing moves', () => {
      expect(sparkline([5, 5, 5], 60)).toBe('▁▁▁')
      expect(sparkline([], 60)).toBe('')
    })

    it('is no longer than asked for, and ends with its end', () => {
      const line = sparkline(
        Array.from({ length: 1000 }, (_, index) => (index === 999 ? 2 : 1)),
        60,
      )
      expect(line).toHaveLength(60)
      expect(line).toMatch(/^▁+█$/)
    })
  })
})

describe('recorded bars of the home', () => {
  const store = async (): Promise<string> => {
    const path = await fileOf(300)
    await home.run(['data', 'import', path, '--exchange', 'x'])
    return path
  }

  it('give the same figures as the file they were imported from', async () => {
    const path = await store()
    const words = ['--strategy', 'momentum', '--json']
    const [ofFile, ofData] = [
      await backtest(...words, '--file', path, '--symbol', 'BTC'),
      await backtest(...words, '--data', 'x:BTC'),
    ].map(({ stdout }) => JSON.parse(stdout))
    expect(ofData).toEqual({ ...ofFile, market: 'data' })
    expect(ofData.bars).toBeGreaterThan(0)
  })

  it.each([
    ['a series that is not stored', ['--data', 'y:BTC'], /no bars of BTC of y/],
    ['a coin twice', ['--data', 'x:BTC', '--data', 'x:BTC'], /each coin may be there once/],
    ['what is no series', ['--data', 'BTC'], /binance:BTC:1h/],
  ])('refuse %s', async (_what, words, message) => {
    await store()
    const { exitCode, stderr } = await backtest(...words)
    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(message)
  })
})

it('refuses to simulate a symbol that is not in the universe', async () => {
  const { exitCode, stderr } = await backtest('--symbol', 'BTX')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/BTX is not in universe\.symbols; did you mean BTC\?/)
})

describe('what a run is compared with', () => {
  /** Hours that rise by 57 % from the open of the first traded one to the last close. */
  const risingFile = async (): Promise<string> => {
    const rows = Array.from({ length: 400 }, (_, index) => {
      const price = index < 200 ? 100 : 100 + (57 * (index - 200)) / 199
      const open = index <= 200 ? 100 : 100 + (57 * (index - 201)) / 199
      const ts = timestampAt(Date.UTC(2026, 0, 1, index))
      return `${ts},BTC,${open},${Math.max(open, price)},${Math.min(open, price)},${price},1000`
    })
    const path = join(folder, 'rising.csv')
    await writeFile(path, `ts,symbol,open,high,low,close,volume\n${rows.join('\n')}\n`)
    return path
  }

  it('holding buys once with the whole account, and keeps it', async () => {
    const file = await risingFile()
    const free = await documentOf('hold', '--file', file, '--symbol', 'BTC', '--fees', '0', '--slippage', '0')
    expect(free).toMatchObject({
      strategy: 'hold',
      trades: 0,
      open_positions: 1,
      total_return: expect.closeTo(0.57, 6),
      fees_usd: 0,
      exposure: { time_share: 1, mean: 1 },
      held_back: {},
    })
    const paid = await documentOf(
      'hold',
      '--file',
      file,
      '--symbol',
      'BTC',
      '--fees',
      '10',
      '--slippage',
      '5',
    )
    expect(paid.total_return).toBeCloseTo(1.57 / (1.001 * 1.0005) - 1, 6)
    expect(paid.hold.total_return).toBe(paid.total_return)
    expect(paid.data_hash).toBe(free.data_hash)
  })

  it('several strategies stand side by side, with the market and with random entries', async () => {
    const words = ['momentum', 'ma_crossover', ...WEEK, '--reset-daily', '--seed', '3'] as const
    const document = await documentOf(...words, '--set', 'ma_crossover.fast=5')
    expect(document.reports.map(({ strategy }: { strategy: string }) => strategy)).toEqual([
      'momentum',
      'ma_crossover',
    ])
    expect(document.reports[1].parameters).toEqual({ fast: 5, slow: 50 })
    expect(document.reports[0].figures.trials).toBe(2)
    expect(document.comparison.map(({ strategy }: { strategy: string }) => strategy)).toContain('hold')
    const alone = await documentOf('ma_crossover', ...WEEK, '--reset-daily', '--seed', '3', '--set', 'fast=5')
    expect(alone.total_return).toBe(document.reports[1].total_return)
    const { stdout } = await backtest(...words)
    expect(stdout).toMatch(/^Strategy +Return +CAGR +Sharpe +Drawdown +Trades +Beats random$/m)
    expect(stdout).toMatch(/^hold +-?[\d.]+ %/m)
    expect(stdout).toMatch(/^momentum: proposed +\d+ trades, of which \d+ were opened$/m)
    expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true)
  })

  it('costs can be changed for one run', async () => {
    const month = ['ma_crossover', '--symbol', 'BTC', '--reset-daily'] as const
    const [normal, cheap, funded] = [
      await documentOf(...month),
      await documentOf(...month, '--fees', '0', '--slippage', '0', '--funding', 'off'),
      await documentOf(...month, '--funding', '50'),
    ]
    expect(normal.costs).toMatchObject({ fee_bps: 6, slippage_bps: 5, funding_bps_per_8h: null })
    expect(cheap).toMatchObject({
      fees_usd: 0,
      funding_usd: 0,
      costs: { total_usd: 0, funding_bps_per_8h: 'off' },
    })
    expect(cheap.total_return).toBeGreaterThan(normal.total_return)
    expect(funded.costs.funding_bps_per_8h).toBe(50)
    expect(Math.abs(funded.funding_usd)).toBeGreaterThan(Math.abs(normal.funding_usd))
    // With 30 days and enough trades every figure is there.
    expect(normal.days).toBe(30)
    for (const name of [
      'cagr',
      'volatility',
      'sharpe',
      'sortino',
      'probabilistic_sharpe',
      'deflated_sharpe',
    ]) {
      expect(normal.figures[name]).toEqual(expect.any(Number))
    }
    expect(normal.random_entries).toMatchObject({ runs: 200, percentile: expect.any(Number) })
    const [trade] = normal.closed_trades
    for (const name of [
      'quantity',
      'fees_usd',
      'funding_usd',
      'max_adverse_excursion',
      'max_favorable_excursion',
    ])
      expect(trade[name]).toEqual(expect.any(Number))
    expect(trade.gross_usd - trade.fees_usd - trade.funding_usd).toBeCloseTo(trade.net_usd, 5)
    const sumOf = (groups: readonly { trades: number }[]) =>
      groups.reduce((sum, { trades }) => sum + trades, 0)
    for (const groups of Object.values(normal.by)) {
      expect(sumOf(groups as readonly { trades: number }[])).toBe(normal.trades)
    }
  })

  it('figures of a year are N/A for a week', async () => {
    const document = await documentOf(...WEEK, 'ma_crossover')
    expect(document.figures).toMatchObject({
      cagr: null,
      sharpe: null,
      deflated_sharpe: null,
      confidence: null,
    })
    expect((await backtest(...WEEK, 'ma_crossover')).stdout).toMatch(/^Sharpe +N\/A$/m)
  })

  it('a parameter that a strategy does not have is refused', async () => {
    const { exitCode, stderr } = await backtest('momentum', ...WEEK, '--set', 'fast=5')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/momentum has no parameter fast; it has bars, threshold/)
  })
})

describe('files of a run', () => {
  it('are a page that needs nothing else, and never replace others unasked', async () => {
    const page = join(folder, 'report.html')
    const words = ['momentum', ...WEEK, '--html', page] as const
    expect((await backtest(...words)).exitCode).toBe(0)
    const text = await readFile(page, 'utf8')
    expect(text).toMatch(/^<!doctype html>/)
    expect(text).not.toMatch(/<script|src=|https?:|url\(|@import/)
    const again = await backtest(...words)
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/exists already[\s\S]*--force/),
    })
    expect((await backtest(...words, '--force')).exitCode).toBe(0)
    expect(await readFile(page, 'utf8')).toBe(text)
    expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  it('have all events, as lines or as a table', async () => {
    const lines = join(folder, 'events.jsonl')
    const document = await documentOf('ma_crossover', ...WEEK, '--events', lines)
    const events = (await readFile(lines, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    const ofType = (type: string) => events.filter((event) => event.type === type)
    expect(ofType('execution.position_closed.v1')).toHaveLength(document.trades)
    expect(ofType('market.bar.v1').length).toBeGreaterThanOrEqual(document.bars)
    const table = join(folder, 'events.parquet')
    await documentOf('ma_crossover', ...WEEK, '--events', table)
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(table) })
    expect(rows).toHaveLength(events.length)
    const { payload, recorded_at, ...last } = events.at(-1)
    expect(rows.at(-1)).toMatchObject({
      seq: BigInt(last.seq),
      type: last.type,
      payload: JSON.stringify(payload),
    })
    expect(recorded_at).toMatch(/^2026-01/)
  })

  it('are not left behind by a run that fails', async () => {
    const path = join(folder, 'events.jsonl')
    const { exitCode } = await backtest('momentum', '--file', join(folder, 'none.csv'), '--events', path)
    expect(exitCode).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })
})
