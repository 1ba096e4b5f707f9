import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { pValueOf } from '../backtest/sweep/correction.ts'
import type { BacktestTask, TaskReport } from '../backtest/sweep/task.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { prepareSweep } from './sweep.ts'

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sweep-'))
})
afterAll(() => rm(home, { recursive: true }))

const FROM_MS = Date.UTC(2026, 0, 1)
const DAYS = 60

/** Daily return of a day: noise around a small gain. */
const returnOf = (day: number): number => ((day * 7919) % 101) / 5000 - 0.0094

/** A run whose daily returns are known. */
const reportOf = ({ fromMs, toMs }: BacktestTask): TaskReport => {
  const first = Math.round(((fromMs ?? 0) - FROM_MS) / DAY_MS)
  const days = Math.round(((toMs ?? 0) - (fromMs ?? 0)) / DAY_MS)
  let equity = 10_000
  const equities = Array.from({ length: days }, (_, index) => (equity *= 1 + returnOf(first + index)))
  return {
    start_equity_usd: 10_000,
    equity_usd_by_day: equities,
    days,
    trades: days,
    from: null,
    to: null,
    total_return: equity / 10_000 - 1,
    ranking: { sharpe: 1, p_value: 0.5 },
    max_drawdown: 0.1,
    kill_switch: { stops: 0 },
  } as unknown as TaskReport
}

const sweepWith = async (seed: number) => {
  const base: BacktestTask = {
    strategy: 'ma_crossover',
    parameters: {},
    fromMs: FROM_MS,
    toMs: FROM_MS + DAYS * DAY_MS,
    seed,
    data: [],
    isFromLog: false,
    resetsDaily: true,
  }
  const sweep = await prepareSweep(
    {
      base,
      space: [{ name: 'fast', values: [5, 6] }],
      random: null,
      halving: false,
      walkForward: null,
      folds: { count: 3, embargoMs: 0 },
      metric: 'sharpe',
      falseDiscoveryRate: 0.05,
    },
    { home, version: 'test', configuration: DEFAULT_CONFIGURATION },
  )
  const runner = { width: 1, run: async (task: BacktestTask) => reportOf(task), close: async () => undefined }
  const { signal } = new AbortController()
  const work = { workers: 1, startsAnew: true, heat: null, onProgress: () => undefined }
  return sweep.run({ ...work, runner, signal })
}

it('the signs of a sweep are drawn with its seed', async () => {
  const returns = Array.from({ length: DAYS }, (_, day) => returnOf(day))
  const expected = (seed: number): number => {
    const draws = createDraws(seed, 0, 'sweep:signs', sha256Hex)
    return pValueOf(returns, () => draws.uniform())
  }
  // Two seeds draw other signs, and so another share of them.
  expect(expected(7)).not.toBe(expected(8))
  for (const seed of [7, 8]) {
    const { out_of_sample: outside } = await sweepWith(seed)
    expect(outside?.days).toBe(DAYS)
    expect(outside?.p_value).toBe(expected(seed))
  }
})
