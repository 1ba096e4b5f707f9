import { createHash } from 'node:crypto'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Stamped } from '../core/log/event.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'
import { minuteBars, type MinuteBars } from './minute-bars.fixture.ts'
import { RecordedBarsFeed } from './recorded-feed.fixture.ts'
import { backtest } from './run.ts'
import type { BacktestDependencies, BacktestResult } from './run-dependencies.ts'
import type { StrategyName } from './strategies.ts'

export type Changes = {
  readonly [Section in keyof Configuration]?: Partial<Configuration[Section]>
}

/** A run on random minutes. */
export interface Case {
  readonly strategy: StrategyName
  readonly bars: MinuteBars
  readonly changes?: Changes
  readonly resetsDaily?: boolean
  readonly toMs?: number
  readonly producers?: readonly Producer[]
}

/** Settings with analysis bars of a minute, so that little warm-up is needed. */
const settingsWith = (symbols: readonly string[], changes: Changes): Configuration => {
  const base = DEFAULT_CONFIGURATION
  return {
    ...base,
    ...changes,
    universe: { ...base.universe, symbols: [...symbols] },
    ta: { ...base.ta, bar_seconds: 60, ...changes.ta },
    brain: { ...base.brain, min_domains: 1, ...changes.brain },
    kill_switch: { ...base.kill_switch, ...changes.kill_switch },
    execution: { ...base.execution, ...changes.execution },
    risk: { ...base.risk, ...changes.risk },
    learning: { ...base.learning, ...changes.learning },
    market: { ...base.market, ...changes.market },
  } as Configuration
}

/** A kill switch with limits so wide that trading never stops. */
export const LENIENT: Changes = {
  kill_switch: { l2_loss_streak: 0, l1_daily_loss_pct: 0.9, l3_max_drawdown_pct: 0.95 },
  risk: { max_drawdown_pct: 0.95 },
}

/** Runs a case on a feed. */
export const runCase = async (
  { strategy, bars, changes = {}, resetsDaily = false, toMs, producers = BUILT_IN_PRODUCERS }: Case,
  feed: MarketFeed,
  more: Partial<BacktestDependencies>,
): Promise<{ readonly result: BacktestResult; readonly errors: readonly string[] }> => {
  const errors: string[] = []
  const result = await backtest({
    strategy,
    feed,
    producers,
    settings: settingsWith(bars.symbols ?? ['BTC'], changes),
    version: 'test',
    fromMs: null,
    toMs: toMs ?? null,
    resetsDaily,
    onError: (message) => errors.push(message),
    ...more,
  })
  return { result, errors }
}

/** Figures of a run, small enough to be stored. */
const summaryOf = ({ account, openPositions, signalDomains }: BacktestResult) => {
  const { trades } = account
  return {
    trades: trades.length,
    trades_sha256: sha256Of(
      trades.map(({ why, ...trade }) => ({ ...trade, why: why === null ? null : { ...why, signals: null } })),
    ),
    first_trades: trades.slice(0, 2).map(({ why: _why, ...trade }) => trade),
    exits: countOf(trades.map(({ exit_reason }) => exit_reason)),
    equity_usd: account.curve.at(-1) ?? null,
    curve_sha256: sha256Of([account.curve, account.exposure]),
    fees: account.fees,
    funding: account.funding,
    held_back: account.heldBack,
    proposed: account.proposed,
    kill_switch: account.killSwitch,
    max_drawdown: account.maxDrawdown,
    open_positions: openPositions,
    signal_domains: signalDomains,
  }
}

/** Counts of all events of a run, and a hash of their types, times and payloads. */
const eventsOf = (events: readonly Stamped[]) => ({
  counts: countOf(events.map(({ type }) => type)),
  sha256: sha256Of(events),
})

const countOf = (names: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const sha256Of = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

const LIVELY = { kill_switch: { l1_daily_loss_pct: 0.002, l2_portfolio_heat_pct: 0.02, rearm_step: 0.001 } }
const FALLING = {
  kill_switch: { l2_loss_streak: 0, l1_daily_loss_pct: 0.01, l3_max_drawdown_pct: 0.02, rearm_step: 0.002 },
}
const TIMED = { execution: { time_stop_hours: 3, time_stop_loss_pct: 0.005, max_holding_hours: 9 } }
const THREE = ['BTC', 'ETH', 'SOL']

/** Runs whose results are stored in `recorded-runs.json`. */
export const RECORDED_CASES: Readonly<Record<string, Case>> = {
  hold: { strategy: 'hold', bars: { seed: 101, count: 1700 } },
  'stops, targets and times': {
    strategy: 'always_long',
    bars: { seed: 102, count: 4000, sigma: 0.003 },
    changes: { ...LENIENT, ...TIMED },
  },
  'a kill switch that stays': {
    strategy: 'ma_crossover',
    bars: { seed: 103, count: 4500, sigma: 0.004 },
    changes: LIVELY,
  },
  'a kill switch lowered at midnight': {
    strategy: 'ma_crossover',
    bars: { seed: 103, count: 4500, sigma: 0.004 },
    changes: LIVELY,
    resetsDaily: true,
  },
  'a deep drawdown': {
    strategy: 'always_long',
    bars: { seed: 104, count: 3000, sigma: 0.005 },
    changes: FALLING,
    resetsDaily: true,
  },
  'several symbols with gaps': {
    strategy: 'ma_crossover',
    bars: { seed: 105, count: 1200, symbols: THREE, gaps: 0.02 },
    changes: LENIENT,
  },
  'funding of the bars': {
    strategy: 'always_long',
    bars: { seed: 106, count: 1300, hasSideValues: true },
    changes: { ...LENIENT, learning: { enabled: false } },
  },
  'momentum on bars of five minutes': {
    strategy: 'momentum',
    bars: { seed: 107, count: 3300, sigma: 0.004 },
    changes: { ...LENIENT, ta: { bar_seconds: 300 } },
  },
  brain: { strategy: 'brain', bars: { seed: 108, count: 1500, hasSideValues: true }, changes: LENIENT },
  'brain, several symbols, learning': {
    strategy: 'brain',
    bars: { seed: 109, count: 1000, symbols: THREE, hasSideValues: true, gaps: 0.01, sigma: 0.004 },
    changes: { ...LENIENT, learning: { interval_seconds: 3600 } },
  },
  'brain, a cycle every quarter of an hour': {
    strategy: 'brain',
    bars: { seed: 110, count: 2400, hasSideValues: true, sigma: 0.004 },
    changes: { ...LENIENT, ta: { bar_seconds: 300 }, brain: { cycle_interval_seconds: 900 } },
  },
}

/** Result of one of them, with the events that it makes if `hasEvents`. */
export const recordedRun = async (name: string, hasEvents: boolean) => {
  const given = RECORDED_CASES[name]
  if (given === undefined) throw new Error(`no recorded run is named ${name}`)
  const events: Stamped[] = []
  const more = hasEvents ? { onEvents: (some: readonly Stamped[]) => void events.push(...some) } : {}
  const { result, errors } = await runCase(given, new RecordedBarsFeed(minuteBars(given.bars)), more)
  return { summary: { ...summaryOf(result), errors }, events: eventsOf(events) }
}
