import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { timestampAt } from '../../../core/shared/time.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

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
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout)
}

const WEEK = ['--symbol', 'BTC', '--from', '2026-01-05', '--to', '2026-01-11'] as const

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
    expect(document).toMatchObject({ sharpe: null, p_value: null, hold: { cagr: null, sharpe: null } })
    const { stdout } = await backtest(...WEEK, 'ma_crossover')
    for (const name of ['Sharpe', 'Chance']) expect(stdout).toMatch(new RegExp(`^${name} +N/A$`, 'm'))
  })

  it('a parameter that a strategy does not have is refused', async () => {
    const { exitCode, stderr } = await backtest('momentum', ...WEEK, '--set', 'fast=5')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/momentum: no parameter is named fast.*bars 20, 1 to 1000/)
  })
})

describe('files of a run', () => {
  it('are a page that needs nothing else, and never replace others unasked', async () => {
    const page = join(folder, 'report.html')
    const words = ['momentum', ...WEEK, '--html', page] as const
    expect(await backtest(...words)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(page) })
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

  it('are refused before the run where they cannot be written', async () => {
    const path = join(folder, 'nowhere', 'report.html')
    const { exitCode, stderr, stdout } = await backtest('momentum', ...WEEK, '--html', path)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/cannot write .*report\.html: ENOENT/)
  })

  it('are not left behind by a run that fails', async () => {
    const path = join(folder, 'events.jsonl')
    const { exitCode } = await backtest('momentum', '--file', join(folder, 'none.csv'), '--events', path)
    expect(exitCode).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('own producers', () => {
  const DAY = ['--symbol', 'BTC', '--from', '2026-01-05', '--to', '2026-01-05'] as const

  const write = async (name: string, run: string): Promise<void> => {
    await mkdir(join(home.folder, 'producers'), { recursive: true })
    const text = `export default { name: '${name}', domain: 'technical', schedule: '0 * * * *', run: () => { ${run} } }`
    await writeFile(join(home.folder, 'producers', `${name}.js`), text)
  }

  it('take part in a run of the brain and are named, also those that fail', async () => {
    expect(await documentOf(...DAY)).toMatchObject({ own_producers: [], code_hash: null })
    await home.run(['new', 'producer', 'day-move'])
    await write('broken', "throw new Error('no idea')")
    const document = await documentOf(...DAY)
    expect(document.own_producers).toMatchObject([
      {
        name: 'broken',
        runs: 5,
        failures: 5,
        last_error: expect.stringContaining('no idea'),
        set_aside_at: expect.any(String),
      },
      { name: 'day-move', failures: 0, set_aside_at: null },
    ])
    expect(document.own_producers[1].signals).toBeGreaterThan(10)
    expect(document.code_hash).toMatch(/^[0-9a-f]{64}$/)
    // A rule uses none.
    expect(await documentOf('momentum', ...DAY)).toMatchObject({ own_producers: [], code_hash: null })
    await write('broken', "return { status: 'degraded', reason: 'still none' }")
    const after = await documentOf(...DAY)
    expect(after.own_producers[0]).toMatchObject({ failures: 0, last_error: 'still none' })
    expect(after.code_hash).not.toBe(document.code_hash)
    expect(after.data_hash).toBe(document.data_hash)
    const { stdout } = await backtest(...DAY)
    expect(stdout).toMatch(/Own producer +day-move: \d+ runs, \d+ signals/)
  })
})
