import { appendFile, mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHistoryCommands } from '../../../compose/history.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { timeLeft } from './sweep.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await storeBars()
})
afterEach(() => home.close())

const HOUR = 3_600_000

/** 20 days of hourly bars that rise and fall. */
const storeBars = async (): Promise<void> => {
  const { store } = createHistoryCommands(home.folder, home.clock)
  const bars = Array.from({ length: 20 * 24 }, (_, hour) => {
    const price = 100 + 10 * Math.sin(hour / 20) + Math.sin(hour * 12.9898)
    return {
      openMs: Date.UTC(2024, 0, 1) + hour * HOUR,
      open: price,
      high: price + 0.5,
      low: price - 0.5,
      close: price + 0.1,
      volume: 10,
    }
  })
  await store.merge({ venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }, bars, { replaces: false })
}

const GRID = ['--data', 'binance:BTC:1h', '--set', 'fast=2,5', '--set', 'slow=10,20'] as const

const sweep = (...words: readonly string[]) => home.run(['sweep', 'ma_crossover', ...words])

const documentOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await sweep(...words, '--json')
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { reused_runs: reused, file, ...document } = JSON.parse(stdout)
  return { reused, file, document }
}

describe('svc sweep', () => {
  it('takes bars from a file, and costs, as a backtest does', async () => {
    const rows = Array.from({ length: 320 }, (_, hour) => {
      const price = 100 + 10 * Math.sin(hour / 20) + Math.sin(hour * 12.9898)
      const ts = new Date(Date.UTC(2024, 0, 1) + hour * HOUR).toISOString()
      return `${ts},BTC,${price},${price + 0.5},${price - 0.5},${price + 0.1},10`
    })
    const file = join(home.folder, 'bars.csv')
    await writeFile(file, `ts,symbol,open,high,low,close,volume\n${rows.join('\n')}\n`)
    const words = ['--file', file, '--symbol', 'BTC', '--funding', 'off'] as const
    const costs = ['--fees', '20', '--slippage', '0'] as const
    const { document } = await documentOf(...words, ...costs, '--set', 'fast=5', '--set', 'slow=10')
    const { stdout } = await home.run([
      'backtest',
      'ma_crossover',
      ...words,
      ...costs,
      '--set',
      'fast=5',
      '--set',
      'slow=10',
      '--json',
    ])
    const { total_return, trades, costs: charged } = JSON.parse(stdout)
    expect(charged).toMatchObject({ fee_bps: 20, slippage_bps: 0, funding_bps_per_8h: 'off' })
    expect(trades).toBeGreaterThan(0)
    expect(document.results[0]).toMatchObject({ total_return, trades })
  })

  it('gives the same with one process and with two, and goes on where it stopped', async () => {
    const one = await documentOf(...GRID, '--workers', '1')
    expect(one.document).toMatchObject({ strategy: 'ma_crossover', method: 'grid', trials: 4, runs: 4 })
    expect(one.document.results).toHaveLength(4)
    expect(one.document.results[0].trades).toBeGreaterThan(0)
    expect(one.reused).toBe(0)

    const two = await documentOf(...GRID, '--workers', '2', '--fresh')
    expect(two).toEqual(one)

    // Truncates the file as a crash in the middle of a line would.
    const lines = (await readFile(one.file, 'utf8')).split('\n')
    await writeFile(one.file, `${lines.slice(0, 2).join('\n')}\n${lines[2]?.slice(0, 50)}`)
    expect(await documentOf(...GRID)).toEqual({ ...one, reused: 2 })
    expect(await documentOf(...GRID)).toEqual({ ...one, reused: 4 })

    // With more values in the same sweep, only the new sets are run.
    const { reused, document } = await documentOf(...GRID.slice(0, -1), 'slow=10..30:10')
    expect({ reused, runs: document.runs }).toEqual({ reused: 4, runs: 6 })
  })

  it('keeps as many results as configured, and removes those of sweeps that nobody used for longest', async () => {
    const folder = join(home.folder, 'data', 'sweeps')
    await mkdir(folder, { recursive: true })
    const names = [2, 3].map((days) => `old-${String(days).repeat(16)}.jsonl`)
    for (const [index, name] of names.entries()) {
      await writeFile(join(folder, name), '')
      const at = new Date(Date.now() - (index + 2) * 24 * HOUR)
      await utimes(join(folder, name), at, at)
    }
    const words = ['sweep', 'ma_crossover', '--data', 'binance:BTC:1h', '--set', 'fast=2', '--json']
    expect(await home.run(words, { environment: { SVC_BACKTESTS__KEEP: '1' } })).toMatchObject({
      exitCode: 0,
    })
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^ma_crossover-/), names[0]])
  })

  it('forgets what other bars or settings gave', async () => {
    const before = await documentOf('--data', 'binance:BTC:1h', '--set', 'fast=2')
    const { stdout } = await home.run(
      ['sweep', 'ma_crossover', '--data', 'binance:BTC:1h', '--set', 'fast=2', '--json'],
      { environment: { SVC_EXECUTION__PAPER_FEE_BPS: '1' } },
    )
    expect(JSON.parse(stdout)).toMatchObject({ reused_runs: 0 })
    const { store } = createHistoryCommands(home.folder, home.clock)
    const bar = { openMs: Date.UTC(2024, 0, 5), open: 1, high: 1, low: 1, close: 1, volume: 1 }
    await store.merge({ venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }, [bar], { replaces: true })
    const after = await documentOf('--data', 'binance:BTC:1h', '--set', 'fast=2')
    expect(after.reused).toBe(0)
    expect(after.file).not.toBe(before.file)
    expect(await readdir(join(home.folder, 'data', 'sweeps'))).toHaveLength(3)
  })

  it('tests outside the sample, in windows and in folds', async () => {
    const walked = await documentOf(...GRID, '--walk-forward', '4d:3d')
    expect(walked.document).toMatchObject({ split: { kind: 'walk_forward' }, results: [], heat_map: null })
    expect(walked.document.out_of_sample.choices.length).toBe(walked.document.split.tests)
    const folded = await documentOf(...GRID, '--folds', '3', '--embargo', '2d', '--metric', 'total_return')
    expect(folded.document).toMatchObject({ split: { kind: 'folds', tests: 3 }, runs: 12 })
    expect(folded.document.verdict).toMatch(/p = /)
  })

  it('says plainly what it found, with a heat map', async () => {
    const { stdout } = await sweep(...GRID, '--heat', 'slow,fast')
    expect(stdout).toMatch(/Found +(no edge found|\d+ of 4 parameter sets survives?)/)
    expect(stdout).toMatch(/fast \\ slow +10 +20/)
    expect(stdout).toMatch(/[█▓▒░]/)
  })

  it('leaves out what the strategy does not take, and says so', async () => {
    const words = ['--data', 'binance:BTC:1h', '--set', 'fast=2,15', '--set', 'slow=10,20'] as const
    const { document } = await documentOf(...words)
    expect(document).toMatchObject({
      trials: 3,
      runs: 3,
      sets_left_out: { count: 1, reason: 'parameters: fast must be smaller than slow' },
    })
    expect(document.heat_map.cells).toEqual([
      [expect.any(Number), null],
      [expect.any(Number), expect.any(Number)],
    ])
    const { stdout } = await sweep(...words)
    expect(stdout).toMatch(/Left out +1 parameter set: parameters: fast must be smaller than slow/)
  })

  it.each([
    [['--set', 'fast=9..5'], 2, 'It must be a name and values'],
    [['--set', 'quick=5'], 1, 'ma_crossover: no parameter is named quick'],
    [['--set', 'fast=0'], 1, '(fast 10, 1 to 1000)'],
    [
      ['--set', 'fast=60', '--set', 'slow=20,50'],
      1,
      'ma_crossover: parameters: fast must be smaller than slow',
    ],
    [['--set', 'fast=5', '--set', 'fast=6'], 1, 'fast is set twice'],
    [['--set', 'fast=1..1000', '--set', 'slow=1..1000'], 1, '1000000 combinations are too many'],
    [['--set', 'fast=5', '--walk-forward', '90d'], 2, 'two durations'],
    [['--set', 'fast=5', '--walk-forward', '90d:30d'], 1, 'hold no window of 90 days'],
    [['--set', 'fast=5', '--folds', '30'], 1, 'too few for 30 folds'],
    [['--set', 'fast=5', '--embargo', '1d'], 2, '--embargo goes with --folds'],
    [['--set', 'fast=5', '--heat', 'fast,slow'], 2, '--heat names slow'],
    [['--set', 'fast=5', '--fdr', '2'], 2, 'It must be a share'],
    [['--set', 'fast=5', '--halving', '--folds', '3'], 2, 'cannot be used with'],
    [['--set', 'fast=5', '--from', '2024-02-05', '--to', '2024-02-01'], 2, '--from comes after --to'],
    [['--set', 'fast=5', '--to', '2024-01-02'], 1, 'no bars to trade on'],
  ])('refuses %j', async (words, exitCode, message) => {
    const answer = await sweep('--data', 'binance:BTC:1h', ...words)
    expect(answer.exitCode).toBe(exitCode)
    expect(answer.stderr).toContain(message)
  })

  it('refuses series that are not there', async () => {
    const answer = await sweep('--data', 'kraken:BTC:1h', '--set', 'fast=5')
    expect(answer.exitCode).toBe(1)
    expect(answer.stderr).toContain('there are no bars of BTC of kraken')
  })

  it('reads nothing into a file that is no result', async () => {
    const first = await documentOf('--data', 'binance:BTC:1h', '--set', 'fast=3')
    await appendFile(first.file, '\nnull\n{"key":7}\n"x"\n')
    expect(await documentOf('--data', 'binance:BTC:1h', '--set', 'fast=3')).toEqual({ ...first, reused: 1 })
  })
})

describe('the time left', () => {
  it('is said once there is something to go by', () => {
    expect(timeLeft(0, 10, 5000)).toBe('')
    expect(timeLeft(1, 10, 500)).toBe('')
    expect(timeLeft(10, 90, 5000)).toBe('2.0 runs/s, 45 s left')
    expect(timeLeft(100, 6000, 5000)).toBe('20 runs/s, 5 min left')
  })
})
