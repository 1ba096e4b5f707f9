import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { Direction } from '../core/shared/money.ts'
import type { Executor } from '../engine/plan.ts'
import { runDueCycle } from '../engine/market/schedule.ts'
import { BarTimes } from './bar-times.ts'
import { isStepBetween } from './due-times.ts'

/** Decides what is traded. */
export interface Strategy {
  /** Every closed bar, also those of the warm-up. */
  addBars(bars: readonly FeedBar[]): void
  /** After all bars that closed by now were added. */
  decide(beforeMs: number, nowMs: number): Promise<void>
  /** Whether `decide` would change nothing, given which proposals would not. */
  isIdle(beforeMs: number, nowMs: number, ignores: IgnoresProposal): boolean
  /** Instead of `decide`, where that would change nothing. */
  skip(): void
}

type IgnoresProposal = (symbol: string, direction: Direction) => boolean

export const STRATEGY_NAMES = ['brain', 'momentum', 'ma_crossover', 'hold'] as const

export type StrategyName = (typeof STRATEGY_NAMES)[number]

export interface StrategyDependencies {
  readonly engine: Executor
  readonly configuration: () => Configuration
}

export const strategyOf = (name: StrategyName, dependencies: StrategyDependencies): Strategy =>
  name === 'brain' ? brain(dependencies) : rule(name, RULES[name], dependencies)

const brain = (dependencies: StrategyDependencies): Strategy => ({
  addBars: () => undefined,
  decide: (beforeMs, nowMs) => runDueCycle(dependencies, beforeMs, nowMs, 'backtest'),
  isIdle: (beforeMs, nowMs) =>
    !isStepBetween(dependencies.configuration().brain.cycle_interval_seconds * 1000, beforeMs, nowMs),
  skip: () => undefined,
})

/** The direction for these closes, newest last; null for no trade. */
type Rule = (closes: readonly number[]) => Direction | null

const MOMENTUM_BARS = 20
const MOMENTUM_MIN = 0.02
const FAST_BARS = 10
const SLOW_BARS = 50

const RULES: Readonly<Record<Exclude<StrategyName, 'brain'>, Rule>> = {
  momentum: (closes) => {
    const before = closes.at(-1 - MOMENTUM_BARS)
    const now = closes.at(-1)
    if (before === undefined || now === undefined) return null
    const move = now / before - 1
    if (Math.abs(move) < MOMENTUM_MIN) return null
    return move > 0 ? 'long' : 'short'
  },
  ma_crossover: (closes) => {
    if (closes.length < SLOW_BARS) return null
    const fast = meanOfLast(closes, FAST_BARS)
    const slow = meanOfLast(closes, SLOW_BARS)
    if (fast === slow) return null
    return fast > slow ? 'long' : 'short'
  },
  hold: () => 'long',
}

/** In the order of time, so that every run rounds alike. */
const meanOfLast = (values: readonly number[], count: number): number => {
  let sum = 0
  for (let index = values.length - count; index < values.length; index += 1) sum += values[index] ?? 0
  return sum / count
}

const CLOSES_KEPT = Math.max(MOMENTUM_BARS + 1, SLOW_BARS)

/** The conviction that the brain needs for a position of medium size. */
const RULE_CONVICTION = 75

interface Track {
  readonly symbol: string
  /** Newest last. */
  readonly closes: number[]
  /** Whether there is a close that was not decided on. */
  isFresh: boolean
}

/** A rule uses the closes of analysis bars, as the indicators do. */
const rule = (name: string, apply: Rule, { engine, configuration }: StrategyDependencies): Strategy => {
  const tracks = new Map<string, Track>()
  const fresh: Track[] = []
  const times = new BarTimes()
  const skip = (): void => {
    for (const track of fresh) track.isFresh = false
    fresh.length = 0
  }
  return {
    addBars: (bars) => {
      const barMs = configuration().ta.bar_seconds * 1000
      for (const { symbol, close, close_ts: closeTs } of bars) {
        if (times.msOf(closeTs) % barMs !== 0) continue
        const track = tracks.get(symbol) ?? { symbol, closes: [], isFresh: false }
        if (track.closes.length === 0) tracks.set(symbol, track)
        track.closes.push(close)
        // Many at a time: taking away the first one moves all others.
        if (track.closes.length >= 4 * CLOSES_KEPT) track.closes.splice(0, track.closes.length - CLOSES_KEPT)
        if (!track.isFresh) fresh.push(track)
        track.isFresh = true
      }
    },
    isIdle: (_beforeMs, _nowMs, ignores) => {
      for (const { symbol, closes } of fresh) {
        const direction = apply(closes)
        if (direction !== null && !ignores(symbol, direction)) return false
      }
      return true
    },
    skip,
    decide: async () => {
      for (const { symbol, closes } of fresh) {
        const direction = apply(closes)
        if (direction === null) continue
        const proposal = { rule: name, symbol, direction, conviction: RULE_CONVICTION }
        await engine.execute({ kind: 'propose-trade', proposal })
      }
      skip()
    },
  }
}
