import { describe, expect, it } from 'vitest'
import { volume } from '../../test/generated.fixture.ts'
import { createBarMaker } from '../adapters/feeds/simulated/bars.ts'
import { createPath } from '../adapters/feeds/simulated/path.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { statisticsOf, meanOf } from './statistics.ts'
import { WARM_UP_BARS } from './run.ts'
import type { StrategyName } from './strategies.ts'
import { runBacktest } from './recorded-feed.fixture.ts'

// The traded days decide how small an edge is seen: 15,000 with `--full`. Few long paths need fewer bars for their warm-up.
const PATHS = volume({ normal: 10, full: 40 })
/** Costs are small beside the chance of a few paths. */
const PATHS_WITH_COSTS = volume({ normal: 20, full: 40 })
const DAYS = 375
/** The brain takes longer. */
const BRAIN_DAYS = 60
const STEPS_PER_DAY = 24
const BEGIN_MS = Date.UTC(2025, 0, 1)

/** Days of an unpredictable market. */
const walkOf = (seed: number): readonly (readonly FeedBar[])[] => {
  const settings = { ...DEFAULT_CONFIGURATION.market, profile: 'walk', seed, tick_seconds: 3600 } as const
  const path = createPath({ settings, segment: 1, symbols: ['BTC'], lastBars: new Map(), sha256Hex })
  const maker = createBarMaker(path)
  return Array.from({ length: WARM_UP_BARS + DAYS }, (_, day) => {
    for (let step = 0; step < STEPS_PER_DAY; step += 1) {
      path.step()
      maker.add()
    }
    return maker.close({
      openMs: BEGIN_MS + day * DAY_MS,
      resolutionSeconds: DAY_MS / 1000,
      backfill: false,
    })
  })
}

const ALL_WALKS = Array.from({ length: PATHS_WITH_COSTS }, (_, index) => walkOf(index + 1))
const WALKS = ALL_WALKS.slice(0, PATHS)

/** Trades of constant size: with smaller ones after losses days of one run would count differently. */
const STEADY = { kelly: { ...DEFAULT_CONFIGURATION.risk.kelly, prior: 10_000 } }

const overPaths = async (strategy: StrategyName, costBps: number, walks = WALKS) => {
  const execution = { paper_slippage_bps: costBps, paper_fee_bps: costBps, apply_funding: false }
  const runs: { readonly totalReturn: number; readonly sharpe: number; readonly trades: number }[] = []
  for (const bars of walks) {
    const { result } = await runBacktest(bars, {
      strategy,
      execution,
      risk: STEADY,
      resetsDaily: true,
    })
    runs.push({ ...statisticsOf(result.account, () => 0), trades: result.account.trades.length })
  }
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

describe(`over ${PATHS} unpredictable markets`, { timeout: 600_000 }, () => {
  it.each(['always_long', 'momentum', 'ma_crossover'] as const)('%s wins nothing', async (strategy) => {
    const { totalReturn, sharpe, trades } = await overPaths(strategy, 0)
    expect(trades).toBeGreaterThan(10)
    expect(Math.abs(totalReturn.mean)).toBeLessThan(totalReturn.errors3)
    expect(Math.abs(sharpe.mean)).toBeLessThan(sharpe.errors3)
  })

  it('the brain loses its costs, and nothing else', async () => {
    const costBps = 10
    const results: number[] = []
    let trades = 0
    let costs = 0
    for (const bars of WALKS) {
      const { result } = await runBacktest(bars.slice(0, WARM_UP_BARS + BRAIN_DAYS), {
        strategy: 'brain',
        // Prices alone are one domain, of this producer.
        producers: BUILT_IN_PRODUCERS.filter(({ name }) => name === 'technical-analysis'),
        brain: { min_domains: 1 },
        execution: { paper_slippage_bps: costBps, paper_fee_bps: costBps, apply_funding: false },
        risk: STEADY,
        resetsDaily: true,
      })
      const { account } = result
      // Slippage costs as much as the fee.
      const paid = (2 * account.fees) / account.start
      results.push((account.days.at(-1) ?? account.start) / account.start - 1 + paid)
      trades += account.trades.length
      costs += paid / PATHS
    }
    const { mean, errors3 } = summaryOf(results)
    expect(trades).toBeGreaterThan(PATHS)
    expect(costs).toBeGreaterThan(0)
    expect(Math.abs(mean)).toBeLessThan(errors3)
  })

  it('trading costs lose money', async () => {
    const { totalReturn, sharpe } = await overPaths('momentum', 20, ALL_WALKS)
    expect(totalReturn.mean).toBeLessThan(-totalReturn.errors3)
    expect(sharpe.mean).toBeLessThan(0)
  })
})
