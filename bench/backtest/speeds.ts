import assert from 'node:assert/strict'
import { BUILT_IN_PRODUCERS } from '../../src/adapters/producers/all.ts'
import { RecordedBarsFeed, type BarGroups } from '../../src/backtest/recorded-feed.fixture.ts'
import { backtest } from '../../src/backtest/run.ts'
import type { BacktestResult } from '../../src/backtest/run-dependencies.ts'
import type { StrategyName } from '../../src/backtest/strategies.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { interleave } from '../harness.ts'
import { peerBarsOf, peerTrades, type PeerBar, type PlainTrade } from './grademark.ts'
import { minutesOf } from './minutes.ts'

const SYMBOLS = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA', 'DOGE', 'DOT', 'LTC', 'LINK', 'AVAX'] as const

export interface SpeedPlan {
  readonly group: keyof typeof GROUPS
  readonly rounds: number
  readonly bars: number
}

/** Bars per second of each case, round by round, and how many trades one of them had. */
export interface Speeds {
  readonly measured: Readonly<Record<string, readonly number[]>>
  readonly trades: number
}

export const measure = ({ group, rounds, bars }: SpeedPlan): Promise<Speeds> => GROUPS[group](rounds, bars)

/** Twice: what is measured is code that is compiled. */
const warmUp = async (run: () => Promise<unknown>): Promise<void> => {
  await run()
  await run()
}

/** Cases that are held against each other run in one thread, one after the other. */
const GROUPS = {
  peer: async (rounds: number, bars: number): Promise<Speeds> => {
    const minutes = [...minutesOf(SYMBOLS.slice(0, 1), bars / 5)]
    const peerBars = peerBarsOf(minutes)
    const costless = () => speedOf('ma_crossover', minutes, COSTLESS)
    await warmUp(costless)
    const trades = await sameTrades(minutes, peerTrades(peerBars))
    return { measured: await interleave(rounds, { peer: () => peerSpeed(peerBars), costless }), trades }
  },
  cross: async (rounds: number, bars: number): Promise<Speeds> => {
    const one = [...minutesOf(SYMBOLS.slice(0, 1), bars)]
    const short = one.slice(0, bars / 10)
    const ten = [...minutesOf(SYMBOLS, bars / 10)]
    await warmUp(() => speedOf('ma_crossover', one.slice(0, bars / 5)))
    const measured = await interleave(rounds, {
      quarters: () => speedOf('ma_crossover', one, { ta: { bar_seconds: 900 } }),
      cross: () => speedOf('ma_crossover', one),
      crossShort: () => speedOf('ma_crossover', short),
      crossTen: () => speedOf('ma_crossover', ten),
      withEvents: () => speedOf('ma_crossover', short, {}, true),
    })
    return { measured, trades: (await run('ma_crossover', one)).account.trades.length }
  },
  brain: async (rounds: number, bars: number): Promise<Speeds> => {
    const brief = [...minutesOf(SYMBOLS.slice(0, 1), bars / 5)]
    const ten = [...minutesOf(SYMBOLS, WEEKS)]
    const brain = () => speedOf('brain', brief)
    await warmUp(brain)
    const measured = await interleave(rounds, {
      brain,
      brainShort: () => speedOf('brain', brief.slice(0, WEEKS)),
      brainTen: () => speedOf('brain', ten),
    })
    return { measured, trades: (await run('brain', brief)).account.trades.length }
  },
}

/** A third of them warms up, as many with one symbol as with ten. */
const WEEKS = 9000

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

export const run = (
  strategy: StrategyName,
  minutes: BarGroups,
  changes: Changes = {},
  hasEvents = false,
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
    ...(hasEvents ? { onEvents: () => undefined } : {}),
    onError: (message) => {
      throw new Error(message)
    },
  })
}

const speedOf = async (
  strategy: StrategyName,
  minutes: readonly (readonly FeedBar[])[],
  changes: Changes = {},
  hasEvents = false,
): Promise<number> => {
  const start = process.cpuUsage()
  await run(strategy, minutes, changes, hasEvents)
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
