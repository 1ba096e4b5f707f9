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

/** Buys the whole market once: see `MarketLineTracker`. The engine itself has nothing to decide then. */
export const HOLD = 'hold'

export const STRATEGY_NAMES = ['brain', 'momentum', 'ma_crossover', 'always_long', HOLD] as const

export type StrategyName = (typeof STRATEGY_NAMES)[number]

export type StrategyParameters = Readonly<Record<string, string | number | boolean>>

/** A parameter that a strategy does not have, or a value that it cannot take. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError'
}

export interface StrategyDependencies {
  readonly engine: Executor
  readonly configuration: () => Configuration
  readonly parameters: StrategyParameters
}

export const strategyOf = (name: StrategyName, dependencies: StrategyDependencies): Strategy => {
  const parameters = parametersOf(name, dependencies.parameters)
  return name === 'brain' ? brain(dependencies) : rule(name, RULES[name](parameters), dependencies)
}

/** All parameters of a strategy, as given or by default. */
export const parametersOf = (
  name: StrategyName,
  given: StrategyParameters,
): Readonly<Record<string, number>> => {
  const known = DEFAULTS[name]
  const all: Record<string, number> = { ...known }
  for (const [key, value] of Object.entries(given)) {
    const fallback = known[key]
    if (fallback === undefined) {
      const names = Object.keys(known)
      throw new ParameterError(
        `${name} has no parameter ${key}; ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}`,
      )
    }
    if (typeof value !== 'number' || !(value > 0) || (Number.isInteger(fallback) && !isBars(value)))
      throw new ParameterError(
        `${key} of ${name} must be ${Number.isInteger(fallback) ? `a whole number from 1 to ${BARS_MAX}` : 'a number above 0'}`,
      )
    all[key] = value
  }
  return all
}

const BARS_MAX = 10_000

const isBars = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= BARS_MAX

const brain = (dependencies: StrategyDependencies): Strategy => ({
  addBars: () => undefined,
  decide: (beforeMs, nowMs) => runDueCycle(dependencies, beforeMs, nowMs, 'backtest'),
})

/** The direction for these closes, newest last; null for no trade. */
type Rule = (closes: readonly number[]) => Direction | null

const DEFAULTS: Readonly<Record<StrategyName, Readonly<Record<string, number>>>> = {
  brain: {},
  momentum: { bars: 20, threshold: 0.02 },
  ma_crossover: { fast: 10, slow: 50 },
  always_long: {},
  hold: {},
}

/** A rule and how many closes it looks at. */
interface RuleOf {
  readonly closesKept: number
  readonly apply: Rule
}

const RULES: Readonly<
  Record<Exclude<StrategyName, 'brain'>, (parameters: Readonly<Record<string, number>>) => RuleOf>
> = {
  momentum: ({ bars = 0, threshold = 0 }) => ({
    closesKept: bars + 1,
    apply: (closes) => {
      const before = closes.at(-1 - bars)
      const now = closes.at(-1)
      if (before === undefined || now === undefined) return null
      const move = now / before - 1
      if (Math.abs(move) < threshold) return null
      return move > 0 ? 'long' : 'short'
    },
  }),
  ma_crossover: ({ fast: fastBars = 0, slow: slowBars = 0 }) => ({
    closesKept: Math.max(fastBars, slowBars),
    apply: (closes) => {
      if (closes.length < Math.max(fastBars, slowBars)) return null
      const fast = meanOf(closes.slice(-fastBars))
      const slow = meanOf(closes.slice(-slowBars))
      if (fast === slow) return null
      return fast > slow ? 'long' : 'short'
    },
  }),
  always_long: () => ({ closesKept: 1, apply: () => 'long' }),
  hold: () => ({ closesKept: 1, apply: () => null }),
}

/** The conviction that the brain needs for a position of medium size. */
const RULE_CONVICTION = 75

/** A rule uses the closes of analysis bars, as the indicators do. */
const rule = (
  name: string,
  { closesKept, apply }: RuleOf,
  { engine, configuration }: StrategyDependencies,
): Strategy => {
  const closes = new Map<string, number[]>()
  const fresh = new Set<string>()
  return {
    addBars: (bars) => {
      const barMs = configuration().ta.bar_seconds * 1000
      for (const { symbol, close, close_ts: closeTs } of bars) {
        if (Date.parse(closeTs) % barMs !== 0) continue
        closes.set(symbol, [...(closes.get(symbol) ?? []), close].slice(-closesKept))
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
