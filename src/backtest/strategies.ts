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

/** What a strategy can be told, by name. */
export type Parameters = Readonly<Record<string, string | number | boolean>>

export interface StrategyDependencies {
  readonly engine: Executor
  readonly configuration: () => Configuration
  readonly parameters?: Parameters
}

export const strategyOf = (name: StrategyName, dependencies: StrategyDependencies): Strategy => {
  const parameters = parametersOf(name, dependencies.parameters ?? {})
  return name === 'brain' ? brain(dependencies) : rule(name, RULES[name](parameters), dependencies)
}

/** The strategy has no such parameter, or not with this value; the message lists what there is. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError'
}

/** All parameters of a strategy: those that are given, the others as they are without a word. */
export const parametersOf = (strategy: StrategyName, given: Parameters): Readonly<Record<string, number>> => {
  const known: Readonly<Record<string, ParameterRule>> = PARAMETERS[strategy]
  const names = Object.keys(known)
  const all = Object.fromEntries(Object.entries(known).map(([name, { fallback }]) => [name, fallback]))
  for (const [name, value] of Object.entries(given)) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined
    if (parameter === undefined) {
      const there = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
      throw new ParameterError(`${strategy} has no parameter ${name}: ${there}`)
    }
    const { min, max, isWhole } = parameter
    const fits = typeof value === 'number' && value >= min && value <= max
    if (!fits || (isWhole && !Number.isInteger(value))) {
      throw new ParameterError(
        `${name} of ${strategy} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`,
      )
    }
    all[name] = value
  }
  return all
}

interface ParameterRule {
  readonly fallback: number
  readonly min: number
  readonly max: number
  readonly isWhole: boolean
}

/** More bars than that are kept for no rule. */
const BARS_MAX = 1000

const barCount = (fallback: number): ParameterRule => ({ fallback, min: 1, max: BARS_MAX, isWhole: true })

const PARAMETERS: Readonly<Record<StrategyName, Readonly<Record<string, ParameterRule>>>> = {
  brain: {},
  momentum: { bars: barCount(20), threshold: { fallback: 0.02, min: 0, max: 10, isWhole: false } },
  ma_crossover: { fast: barCount(10), slow: barCount(50) },
  hold: {},
}

const brain = (dependencies: StrategyDependencies): Strategy => ({
  addBars: () => undefined,
  decide: (beforeMs, nowMs) => runDueCycle(dependencies, beforeMs, nowMs, 'backtest'),
})

/** The direction for these closes, newest last; null for no trade. */
type Rule = (closes: readonly number[]) => Direction | null

/** A rule, and how many closes it looks at. */
interface ParameterizedRule {
  readonly closes: number
  readonly apply: Rule
}

type RuleParameters = Readonly<Record<string, number>>

const RULES: Readonly<
  Record<Exclude<StrategyName, 'brain'>, (parameters: RuleParameters) => ParameterizedRule>
> = {
  momentum: ({ bars = 0, threshold = 0 }) => ({
    closes: bars + 1,
    apply: (closes) => {
      const before = closes.at(-1 - bars)
      const now = closes.at(-1)
      if (before === undefined || now === undefined) return null
      const move = now / before - 1
      if (Math.abs(move) < threshold) return null
      return move > 0 ? 'long' : 'short'
    },
  }),
  ma_crossover: ({ fast = 0, slow = 0 }) => ({
    closes: Math.max(fast, slow),
    apply: (closes) => {
      if (closes.length < Math.max(fast, slow)) return null
      const fastMean = meanOf(closes.slice(-fast))
      const slowMean = meanOf(closes.slice(-slow))
      if (fastMean === slowMean) return null
      return fastMean > slowMean ? 'long' : 'short'
    },
  }),
  hold: () => ({ closes: 1, apply: () => 'long' }),
}

/** The conviction that the brain needs for a position of medium size. */
const RULE_CONVICTION = 75

/** A rule uses the closes of analysis bars, as the indicators do. */
const rule = (
  name: string,
  { apply, closes: closesKept }: ParameterizedRule,
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
