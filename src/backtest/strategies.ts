import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { Direction } from '../core/shared/money.ts'
import type { Executor } from '../engine/plan.ts'
import { runDueCycle } from '../engine/market/schedule.ts'
import { meanOf } from './statistics.ts'

/** Decides what is traded. */
export interface Strategy {
  /** Every closed bar, also those of the warm-up. */
  addBars(bars: readonly FeedBar[]): void
  /** After all bars that closed by now were added. */
  decide(beforeMs: number, nowMs: number): Promise<void>
}

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
  decide: (beforeMs, nowMs) => runDueCycle(dependencies, beforeMs, nowMs, { trigger: 'backtest' }),
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
    const fast = meanOf(closes.slice(-FAST_BARS))
    const slow = meanOf(closes.slice(-SLOW_BARS))
    if (fast === slow) return null
    return fast > slow ? 'long' : 'short'
  },
  hold: () => 'long',
}

const CLOSES_KEPT = Math.max(MOMENTUM_BARS + 1, SLOW_BARS)

/** The conviction that the brain needs for a position of medium size. */
const RULE_CONVICTION = 75

/** A rule uses the closes of analysis bars, as the indicators do. */
const rule = (name: string, apply: Rule, { engine, configuration }: StrategyDependencies): Strategy => {
  const closes = new Map<string, number[]>()
  const fresh = new Set<string>()
  return {
    addBars: (bars) => {
      const barMs = configuration().ta.bar_seconds * 1000
      for (const { symbol, close, close_ts: closeTs } of bars) {
        if (Date.parse(closeTs) % barMs !== 0) continue
        closes.set(symbol, [...(closes.get(symbol) ?? []), close].slice(-CLOSES_KEPT))
        fresh.add(symbol)
      }
    },
    decide: async () => {
      for (const symbol of fresh) {
        const direction = apply(closes.get(symbol) ?? [])
        if (direction === null) continue
        const proposal = { rule: name, symbol, direction, conviction: RULE_CONVICTION }
        await engine.execute({ kind: 'propose-trade', proposal })
      }
      fresh.clear()
    },
  }
}
