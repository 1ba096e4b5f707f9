import { timestampOf } from '../../../core/shared/brand.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    commands: null,
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
      // A week is too short for them.
      sharpe: null,
      p_value: null,
      ranking: { sharpe: expect.any(Number), p_value: expect.any(Number) },
      max_drawdown: expect.any(Number),
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
    expect(stdout).toMatch(
      /^Held back +\d+ times by coverage \(too few domains[\s\S]*1 domain\s+\(technical\)[\s\S]*SVC_BRAIN__MIN_DOMAINS=1$/m,
    )
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
    const kept = (await backtest(...month, '--keep-kill-switch')).stdout.replaceAll(/\s+/g, ' ')
    expect(kept).toMatch(
      /^Note stopped by the kill switch on 10 January 2026 after \d+ trades: 3 losses in a row \(limit 3\); nothing was entered from then on Strategy/,
    )
    const lowered = (await backtest(...month)).stdout.replaceAll(/\s+/g, ' ')
    expect(lowered).toMatch(/^Note stopped by the kill switch .* a simulated operator lowered it at the next/)
    expect((await backtest(...month, '--reset-daily')).stdout.replaceAll(/\s+/g, ' ')).toBe(lowered)
  })

  it('refuses a misspelt strategy with the nearest name', async () => {
    const { exitCode, stderr } = await backtest('momentun')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/no strategy is named momentun, did you mean momentum\?/)
  })

  it('writes nothing', async () => {
    await documentOf(...WEEK, 'hold')
    expect(home.log()).toBeNull()
  })

  it.each([
    ['a parameter without a value', ['--set', 'fast'], /must be a name and a value/],
    ['a seed that is none', ['--seed', '-1'], /whole number/],
    ['a seed that is too large', ['--seed', '9007199254740993'], /whole number/],
    ['a day that is none', ['--from', '2026-02-30'], /must be a date/],
    [
      'an end before the beginning',
      ['--from', '2026-02-02', '--to', '2026-02-01'],
      /--from comes after --to/,
    ],
    ['a symbol that is none', ['--symbol', 'B|C'], /symbol such as BTC/],
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

it('shows progress and speed on a terminal', async () => {
  const simulated = await home.run(['backtest', 'momentum', ...WEEK], { terminal: true })
  expect(simulated.stderr).toMatch(/momentum \[#+\.*\] \d+% {2}\d+ bars, \d+ bars\/s/)
  // The end of a file is not known before it is reached.
  const words = ['backtest', 'momentum', '--file', await fileOf(600), '--symbol', 'BTC']
  expect((await home.run(words, { terminal: true })).stderr).toMatch(/\rmomentum {2}\d+ bars, \d+ bars\/s/)
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
