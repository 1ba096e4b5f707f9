import { afterEach, describe, expect, it, vi } from 'vitest'
import { isFull } from '../../test/generated.fixture.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { orderbookDepth } from '../adapters/producers/orderbook-depth/orderbook-depth.ts'
import { priceAlerts } from '../adapters/producers/price-alerts/price-alerts.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { EMPTY_HEAD, type Stamped } from '../core/log/event.ts'
import { chain } from '../core/log/hash-chain.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { priceNumber } from '../core/shared/money.ts'
import type { JsonObject } from '../core/shared/json.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import type { Producer, ProducerRun } from '../ports/producer.ts'
import { BacktestEngine } from './backtest-engine.ts'
import { LogFeed } from './log-feed.ts'
import { minuteBars } from './minute-bars.fixture.ts'
import { RecordedBarsFeed } from './recorded-feed.fixture.ts'
import { LENIENT, runCase, type Case } from './recorded-runs.fixture.ts'
import type { BacktestDependencies } from './run-dependencies.ts'
import { STRATEGY_NAMES } from './strategies.ts'

/** Result of a run with its last state and its commands. */
const runOf = async (feed: MarketFeed, given: Case, more: Partial<BacktestDependencies>) => {
  const moving = vi.spyOn(BacktestEngine.prototype, 'moveTo')
  const executing = vi.spyOn(BacktestEngine.prototype, 'execute')
  const { result, errors } = await runCase(given, feed, more)
  const { state } = moving.mock.contexts[0] as BacktestEngine
  const commands = executing.mock.calls.map(([command]) => command)
  vi.restoreAllMocks()
  return { result, errors, commands, state }
}

const comparedRuns = async (given: Case, feedOf: () => MarketFeed) => {
  const without = await runOf(feedOf(), given, {})
  let bars = 0
  const withEvents = await runOf(feedOf(), given, {
    onEvents: (events) => {
      for (const { type } of events) if (type === 'market.bar.v1') bars += 1
    },
  })
  expect(bars).toBeGreaterThan(100)
  expect([without.result, without.errors]).toEqual([withEvents.result, withEvents.errors])
  expect(without.state).toEqual(withEvents.state)
  return without
}

const compared = async (given: Case, groups: readonly (readonly FeedBar[])[] = minuteBars(given.bars)) =>
  comparedRuns(given, () => new RecordedBarsFeed(groups))

/**
 * A producer that fails, returns nothing, repeats itself or reports a forbidden signal, depending on the time of its
 * bars.
 */
const ERRATIC: Producer = {
  name: orderbookDepth.name,
  run: (view) => {
    const [one] = view.symbols
    const symbol = one?.symbol ?? ''
    const rowsWith = (...payloads: readonly JsonObject[]): ProducerRun => ({
      status: 'ran',
      rows: payloads.map((payload) => ({ type: 'signal.orderbook.v1', payload })),
    })
    switch (Math.floor(view.asOfMs / 300_000) % 9) {
      case 0:
      case 1:
        throw new Error('no depth')
      case 2:
        return { status: 'degraded', reason: 'no depth now' }
      case 3:
        return rowsWith({ symbol, imbalance: 'much' }, { symbol: 'ETH', imbalance: 0.5 })
      case 4:
        return rowsWith({ symbol, imbalance: 0.5 }, { symbol, imbalance: -0.5 })
      case 5:
        return { status: 'ran', rows: [{ type: 'signal.etf.v1', payload: { symbol } }] }
      default:
        return orderbookDepth.run(view)
    }
  },
}

/** A producer that reports prices, which trading reads. */
const PRICING: Producer = {
  name: priceAlerts.name,
  run: (view) => {
    const [one] = view.symbols
    if (one === undefined || view.asOfMs % 420_000 !== 0) return priceAlerts.run(view)
    const payload = { symbol: one.symbol, price: priceNumber(one.close) }
    return { status: 'ran', rows: [{ type: 'signal.price_ws.v1', payload }] }
  },
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a run that makes no events of bars', () => {
  it.each(STRATEGY_NAMES)('comes to the same as one that makes them: %s', async (strategy) => {
    for (const seed of isFull ? [1, 2] : [1]) await compared({ strategy, bars: { seed, count: 1700 } })
  })

  it.each(['ma_crossover', 'momentum', 'always_long'] as const)(
    'trades all the time: %s',
    async (strategy) => {
      const { result } = await compared({
        strategy,
        bars: { seed: 3, count: 3300, sigma: 0.004 },
        changes: LENIENT,
      })
      expect(result.account.trades.length).toBeGreaterThan(10)
    },
  )

  it('ends trades by stop, target and time alike', async () => {
    const { result } = await compared({
      strategy: 'always_long',
      bars: { seed: 5, count: 4000, sigma: 0.003 },
      changes: {
        ...LENIENT,
        execution: { time_stop_hours: 3, time_stop_loss_pct: 0.005, max_holding_hours: 9 },
      },
    })
    const reasons = new Set(result.account.trades.map(({ exit_reason }) => exit_reason))
    expect(reasons).toEqual(new Set(['stop_loss', 'take_profit', 'time_stop']))
  })

  it('has the same kill switch, lowered every midnight or not', async () => {
    const bars = { seed: 7, count: 4500, sigma: 0.004 }
    const changes = {
      kill_switch: { l1_daily_loss_pct: 0.002, l2_portfolio_heat_pct: 0.02, rearm_step: 0.001 },
    }
    for (const resetsDaily of [false, true]) {
      const { result } = await compared({ strategy: 'ma_crossover', bars, resetsDaily, changes })
      expect(result.account.killSwitch.stops).toBeGreaterThan(0)
    }
  })

  it('sees the same drawdown where positions are large', async () => {
    const changes = {
      kill_switch: {
        l2_loss_streak: 0,
        l1_daily_loss_pct: 0.01,
        l3_max_drawdown_pct: 0.02,
        rearm_step: 0.002,
      },
    }
    for (const seed of isFull ? [11, 12, 13] : [11]) {
      const bars = { seed, count: 3000, sigma: 0.005 }
      const { result } = await compared({ strategy: 'always_long', bars, changes, resetsDaily: true })
      expect(result.account.maxDrawdown).toBeGreaterThan(0.005)
    }
  })

  it('does so with several symbols, with gaps, and with an end', async () => {
    const symbols = ['BTC', 'ETH', 'SOL']
    for (const strategy of ['ma_crossover', 'brain'] as const) {
      await compared({ strategy, bars: { seed: 21, count: 1200, symbols }, changes: LENIENT })
      const toMs = Date.UTC(2026, 0, 1, 18)
      await compared({
        strategy,
        bars: { seed: 22, count: 1200, symbols, gaps: 0.02 },
        changes: LENIENT,
        toMs,
      })
    }
  })

  it.each([
    ['of the bars', true, {}, true],
    ['that is fixed', false, { paper_funding_bps: 1 }, true],
    ['that nobody knows', false, {}, false],
    ['that is not applied', true, { apply_funding: false }, false],
  ])('pays the same funding at a rate %s', async (_, hasSideValues, execution, isPaid) => {
    // Nothing else is due at the hours of funding.
    const changes = { ...LENIENT, learning: { enabled: false }, execution }
    const bars = { seed: 31, count: 1300, hasSideValues }
    const { result, commands } = await compared({ strategy: 'always_long', bars, changes })
    expect(result.account.funding !== 0).toBe(isPaid)
    expect(commands.some(({ kind }) => kind === 'apply-funding')).toBe(true)
  })

  it('does so with depth and open interest, learning now and then', async () => {
    const bars = { seed: 32, count: 1500, hasSideValues: true }
    const changes = { ...LENIENT, learning: { interval_seconds: 3600 } }
    await compared({ strategy: 'brain', bars, changes })
  })

  it('settles the calls that bars decide', async () => {
    const bars = { seed: 35, count: 900, hasSideValues: true }
    const { state } = await compared({ strategy: 'brain', bars, changes: LENIENT })
    const settled = state.reputation.outcomes.edges.reduce((sum, { outcomes }) => sum + outcomes, 0)
    expect(settled).toBeGreaterThan(5)
  })

  it('does so with producers that fail, rest, and report what is wrong or sets a price', async () => {
    const bars = { seed: 34, count: 1500, symbols: ['BTC', 'ETH'], hasSideValues: true }
    const changes = {
      ...LENIENT,
      producers: { ...DEFAULT_CONFIGURATION.producers, quarantine_after: 2, quarantine_seconds: 900 },
      market: { trusted_price_sources: ['price-alerts'] },
    }
    const producers = BUILT_IN_PRODUCERS.map((producer) =>
      producer === orderbookDepth ? ERRATIC : producer,
    ).map((producer) => (producer === priceAlerts ? PRICING : producer))
    const { state } = await compared({ strategy: 'brain', bars, changes, producers })
    expect(state.market.quotes.size).toBeGreaterThan(0)
    expect(state.signals.producers.runs.get('orderbook-depth')?.lastError).not.toBeNull()
  })

  it('does so with analysis bars of several minutes, and a cycle now and then', async () => {
    const bars = { seed: 41, count: 1900 }
    const changes = { ...LENIENT, ta: { bar_seconds: 300 }, brain: { cycle_interval_seconds: 900 } }
    for (const strategy of ['ma_crossover', 'brain'] as const) await compared({ strategy, bars, changes })
  })

  it('does so with bars that are damaged, repeated, late or far off', async () => {
    const groups = minuteBars({ seed: 51, count: 1500, symbols: ['BTC', 'ETH'] }).map((group, index) => {
      if (index % 97 === 5) return [...group, ...group.slice(0, 1)]
      if (index % 89 === 7) return group.map((bar) => ({ ...bar, low: bar.high * 2 }))
      if (index % 83 === 11) return group.slice(1)
      if (index % 131 === 3)
        return group.map((bar) => ({
          ...bar,
          open: bar.open * 1.5,
          high: bar.high * 2,
          close: bar.close * 1.5,
        }))
      if (index % 71 === 2) return group.map((bar) => ({ ...bar, symbol: `${bar.symbol}-USD` }))
      return group
    })
    const swapped = groups.map((group, index) => (index % 101 === 50 ? (groups[index - 1] ?? group) : group))
    const given = { strategy: 'ma_crossover', bars: { seed: 51, count: 0, symbols: ['BTC', 'ETH'] } } as const
    await compared({ ...given, changes: LENIENT }, swapped)
  })

  it('does so on a recorded log, with its signals', async () => {
    const bars = { seed: 61, count: 900, hasSideValues: true }
    for (const strategy of ['brain', 'always_long'] as const) {
      const given: Case = { strategy, bars, changes: LENIENT }
      const events: Stamped[] = []
      await runOf(new RecordedBarsFeed(minuteBars(bars)), given, {
        onEvents: (some) => void events.push(...some),
      })
      const log = new MemoryLog()
      const unsigned = { signature: null, signer: null, batchSignature: null, commands: null }
      await log.append(
        chain(events, EMPTY_HEAD, sha256Hex).map((record) => ({ ...record, ...unsigned })),
        EMPTY_HEAD,
      )
      await comparedRuns(given, () => new LogFeed(log))
    }
  })

  it('gives every event to a run that asks for events', async () => {
    const given: Case = { strategy: 'always_long', bars: { seed: 71, count: 500 } }
    const events: Stamped[] = []
    await runOf(new RecordedBarsFeed(minuteBars(given.bars)), given, {
      onEvents: (some) => void events.push(...some),
    })
    expect(events.filter(({ type }) => type === 'market.bar.v1')).toHaveLength(500)
  })
})
