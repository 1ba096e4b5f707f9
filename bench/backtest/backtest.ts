import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BUILT_IN_PRODUCERS } from '../../src/adapters/producers/all.ts'
import { RecordedBarsFeed, type BarGroups } from '../../src/backtest/recorded-feed.fixture.ts'
import { backtest } from '../../src/backtest/run.ts'
import type { BacktestResult } from '../../src/backtest/run-dependencies.ts'
import type { StrategyName } from '../../src/backtest/strategies.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { peerBarsOf, peerTrades, type PeerBar, type PlainTrade } from './grademark.ts'
import { minutesOf } from './minutes.ts'
import { benchSweep } from './sweep.ts'

const SYMBOLS = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA', 'DOGE', 'DOT', 'LTC', 'LINK', 'AVAX'] as const
const FIVE_YEARS = 2_628_000

/**
 * Bars per second of processor time of whole runs, with all that collects garbage and compiles beside them, on bars in
 * memory: what a feed takes to read its files is not in it.
 */
export const benchBacktest = async (rounds: number, quick: boolean): Promise<readonly BenchRow[]> => {
  const bars = quick ? 100_000 : 300_000
  const one = [...minutesOf(SYMBOLS.slice(0, 1), bars)]
  const short = one.slice(0, bars / 10)
  const ten = [...minutesOf(SYMBOLS, bars / 10)]
  const brief = one.slice(0, bars / 5)
  // A third of them warms up, as many with one symbol as with ten.
  const weeks = 9000
  // Twice: what is measured is code that is compiled.
  for (let warmUp = 0; warmUp < 2; warmUp += 1) {
    await speedOf('ma_crossover', brief)
    await speedOf('brain', brief)
  }
  const peerBars = peerBarsOf(brief)
  const same = await sameTrades(brief, peerTrades(peerBars))
  const measured = await interleave(rounds, {
    peer: () => peerSpeed(peerBars),
    costless: () => speedOf('ma_crossover', brief, COSTLESS),
    quarters: () => speedOf('ma_crossover', one, { ta: { bar_seconds: 900 } }),
    cross: () => speedOf('ma_crossover', one),
    crossShort: () => speedOf('ma_crossover', short),
    crossTen: () => speedOf('ma_crossover', ten),
    thorough: () => speedOf('ma_crossover', short, {}, true),
    brain: () => speedOf('brain', brief),
    brainShort: () => speedOf('brain', one.slice(0, weeks)),
    brainTen: () => speedOf('brain', ten.slice(0, weeks)),
  })
  const trades = (await run('ma_crossover', one)).account.trades.length
  return [
    {
      id: 'cross',
      what: `bars/s, moving-average cross on every minute, ${bars} bars, ${trades} trades`,
      value: median(measured.cross),
      target: '>= 300000 (100000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'quarters',
      what: `bars/s, moving-average cross on quarters of an hour, ${bars} bars`,
      value: median(measured.quarters),
      target: '>= 300000 (100000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'peer',
      what: `bars/s, long and short, with account, limits and stops; ${same} long trades are the same`,
      value: medianRatio(measured.costless, measured.peer),
      target: '>= 1',
      baseline: `grademark 0.3.0, long only (${median(measured.peer).toFixed(0)} bars/s)`,
    },
    {
      id: 'brain',
      what: `bars/s, the brain with all producers, a cycle every 15 of ${bars / 5} bars`,
      value: median(measured.brain),
      target: '>= 100000 (30000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'cross-10',
      what: 'the cross on ten symbols, bars/s',
      value: medianRatio(measured.crossTen, measured.cross),
      target: '>= 0.7',
      baseline: 'on one symbol',
    },
    {
      id: 'brain-10',
      what: 'the brain on ten symbols, bars/s',
      value: medianRatio(measured.brainTen, measured.brainShort),
      target: '>= 0.7',
      baseline: 'on one symbol',
    },
    {
      id: 'linear',
      what: `the cross on ${bars} bars, bars/s`,
      value: medianRatio(measured.cross, measured.crossShort),
      target: '>= 0.9',
      baseline: `on ${bars / 10} bars`,
    },
    {
      id: 'quiet',
      what: 'the cross, bars/s',
      value: medianRatio(measured.crossShort, measured.thorough),
      target: 'plain figure',
      baseline: 'every bar the long way',
    },
    await memory(quick ? FIVE_YEARS / 10 : FIVE_YEARS),
    ...(await benchSweep(quick ? 1 : 3, quick)),
  ]
}

/** A kill switch that hardly ever stops, so that there are trades all the time; the rule is asked with every minute. */
const settingsFor = (strategy: StrategyName, symbols: readonly string[], changes: Changes): Configuration => {
  const base = DEFAULT_CONFIGURATION
  return {
    ...base,
    execution: { ...base.execution, ...changes.execution },
    universe: { ...base.universe, symbols: [...symbols] },
    ta: { ...base.ta, bar_seconds: strategy === 'brain' ? 900 : 60, ...changes.ta },
    brain: { ...base.brain, cycle_interval_seconds: 900 },
    kill_switch: {
      ...base.kill_switch,
      l2_loss_streak: 0,
      l1_daily_loss_pct: 0.9,
      l3_max_drawdown_pct: 0.95,
    },
    risk: { ...base.risk, max_drawdown_pct: 0.95, ...changes.risk },
  }
}

type Changes = {
  readonly [Section in 'ta' | 'execution' | 'risk']?: Partial<Configuration[Section]>
}

/** No costs, and stops that are never reached: what is left is the rule. */
const COSTLESS: Changes = {
  execution: {
    paper_slippage_bps: 0,
    paper_fee_bps: 0,
    apply_funding: false,
    stop_loss_pct: 0.2,
    take_profit_pct: 0.5,
  },
}

const run = (
  strategy: StrategyName,
  minutes: BarGroups,
  changes: Changes = {},
  isThorough = false,
): Promise<BacktestResult> => {
  const [first = []] = minutes
  return backtest({
    strategy,
    feed: new RecordedBarsFeed(minutes),
    producers: BUILT_IN_PRODUCERS,
    settings: settingsFor(
      strategy,
      first.map(({ symbol }) => symbol),
      changes,
    ),
    version: 'bench',
    fromMs: null,
    toMs: null,
    resetsDaily: false,
    isThorough,
    onError: (message) => {
      throw new Error(message)
    },
  })
}

const speedOf = async (
  strategy: StrategyName,
  minutes: readonly (readonly FeedBar[])[],
  changes: Changes = {},
  isThorough = false,
): Promise<number> => {
  const start = process.cpuUsage()
  await run(strategy, minutes, changes, isThorough)
  return rateSince(start, minutes.length * (minutes[0]?.length ?? 0))
}

/** How many trades of the long side are the same; it fails if one is not. Those of the first day are left out. */
const sameTrades = async (
  minutes: readonly (readonly FeedBar[])[],
  theirs: readonly PlainTrade[],
): Promise<number> => {
  const { account } = await run('ma_crossover', minutes, COSTLESS)
  const ours = account.trades
    .filter(({ direction }) => direction === 'long')
    .map(({ opened_at, closed_at, entry_price: entry, exit_price: exit }) => ({
      openedMs: Date.parse(opened_at),
      closedMs: Date.parse(closed_at),
      entry,
      exit,
    }))
  const fromMs = Date.parse(minutes[1440]?.[0]?.open_ts ?? '')
  const later = (trades: readonly PlainTrade[]) => trades.filter(({ openedMs }) => openedMs >= fromMs)
  assert.deepEqual(later(ours), later(theirs))
  return later(ours).length
}

const rateSince = (start: NodeJS.CpuUsage, count: number): number => {
  const { user, system } = process.cpuUsage(start)
  return (count * 1e6) / (user + system)
}

const peerSpeed = (bars: readonly PeerBar[]): number => {
  const start = process.cpuUsage()
  peerTrades(bars)
  return rateSince(start, bars.length)
}

/** The bars are made on the way, so that only the run itself is in memory. */
const memory = async (bars: number): Promise<BenchRow> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapMb = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const heaps: number[] = []
  function* watched(): Generator<readonly FeedBar[]> {
    let index = 0
    for (const minute of minutesOf(SYMBOLS.slice(0, 1), bars)) {
      index += 1
      if (index % Math.floor(bars / 10) === 0) heaps.push(heapMb())
      yield minute
    }
  }
  // So little that the account stays of a usual size: the waves are kind to the rule, and five years compound.
  await run('ma_crossover', { [Symbol.iterator]: watched }, { risk: { max_position_pct: 0.002 } })
  const [early = Number.NaN, late = Number.NaN] = [heaps[0], heaps.at(-1)]
  return {
    id: 'memory',
    what: `heap after ${bars} minutes (${late.toFixed(0)} MB)`,
    value: late / early,
    target: '<= 1.5',
    baseline: `after a tenth of them (${early.toFixed(0)} MB)`,
  }
}
