import { describe, expect, it } from 'vitest'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { DAY_MS } from '../core/vocabulary/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { figuresOf, meanOf } from './figures.ts'
import { RecordedTime } from './recorded-time.ts'
import { WARM_UP_BARS } from './run-settings.ts'
import { backtest } from './run.ts'
import type { StrategyName } from './strategies.ts'

const PATHS = 100
const DAYS = 30
const BAR_SECONDS = 14_400
const BEGIN_MS = Date.UTC(2026, 0, 1)

/** A market that nobody can predict, once with this seed. */
const walked = async (seed: number, strategy: StrategyName, costs: { readonly bps: number }) => {
  const market = {
    ...DEFAULT_CONFIGURATION.market,
    feed: 'simulated',
    profile: 'walk',
    seed,
    tick_seconds: 3600,
    bar_seconds: BAR_SECONDS,
    warmup_hours: 0,
  } as const
  const { account } = await backtest({
    strategy,
    feed: createSimulatedFeed({ settings: market, timer: new RecordedTime(BEGIN_MS), sha256Hex }),
    producers: [],
    settings: {
      ...DEFAULT_CONFIGURATION,
      market,
      universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC'] },
      ta: { ...DEFAULT_CONFIGURATION.ta, bar_seconds: BAR_SECONDS },
      execution: {
        ...DEFAULT_CONFIGURATION.execution,
        paper_slippage_bps: costs.bps,
        paper_fee_bps: costs.bps,
        apply_funding: false,
      },
    },
    version: 'test',
    fromMs: null,
    toMs: BEGIN_MS + WARM_UP_BARS * BAR_SECONDS * 1000 + DAYS * DAY_MS,
    resetsDaily: true,
    onTrouble: (message) => {
      throw new Error(message)
    },
  })
  return { ...figuresOf(account, () => 0), trades: account.trades }
}

const overPaths = async (strategy: StrategyName, costs: { readonly bps: number }) => {
  const runs: Awaited<ReturnType<typeof walked>>[] = []
  for (let seed = 1; seed <= PATHS; seed += 1) runs.push(await walked(seed, strategy, costs))
  return {
    totalReturn: summaryOf(runs.map(({ totalReturn }) => totalReturn)),
    sharpe: summaryOf(runs.map(({ sharpe }) => sharpe)),
    trades: meanOf(runs.map(({ trades }) => trades)),
  }
}

const summaryOf = (values: readonly number[]) => {
  const mean = meanOf(values)
  const variance = meanOf(values.map((value) => (value - mean) ** 2))
  return { mean, errors3: 3 * Math.sqrt(variance / (values.length - 1)) }
}

describe(`over ${PATHS} markets that nobody can predict`, () => {
  it('who holds wins nothing', async () => {
    const { totalReturn, sharpe } = await overPaths('hold', { bps: 0 })
    expect(Math.abs(totalReturn.mean)).toBeLessThan(totalReturn.errors3)
    expect(Math.abs(sharpe.mean)).toBeLessThan(sharpe.errors3)
  })

  // Of few large wins among many small losses the Sharpe ratio of a short run is below zero in the mean, though
  // nothing is lost: so it is bounded on one side here.
  it('who follows the last move wins nothing, and pays for it', async () => {
    const free = await overPaths('momentum', { bps: 0 })
    expect(free.trades).toBeGreaterThan(5)
    expect(Math.abs(free.totalReturn.mean)).toBeLessThan(free.totalReturn.errors3)
    expect(free.sharpe.mean).toBeLessThan(free.sharpe.errors3)
    const paid = await overPaths('momentum', { bps: 10 })
    expect(paid.totalReturn.mean).toBeLessThan(free.totalReturn.mean)
    expect(paid.sharpe.mean).toBeLessThan(paid.sharpe.errors3)
  })
})
