import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { BarTimes } from '../core/market/bar-times.ts'
import { nearest } from '../core/shared/nearest.ts'
import type { Direction } from '../core/shared/money.ts'
import { timestampAt } from '../core/shared/time.ts'
import { BRAIN, BUILT_IN_STRATEGIES, builtInStrategy } from '../core/strategies/built-in.ts'
import { checkedParameters, openDirectly } from '../core/strategies/direct.ts'
import { accountFacts } from '../core/strategies/facts.ts'
import type { State } from '../core/state.ts'
import { StrategyError, type ParameterValues, type StrategyProposal } from '../core/strategies/strategy.ts'
import type { Executor } from '../engine/plan.ts'
import { proposalOf } from '../engine/market/strategy-runner.ts'
import { runDueCycle } from '../engine/market/schedule.ts'
import type { RunningStrategy } from '../ports/strategy.ts'
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

/** Whether a proposal would change nothing. */
type IgnoresProposal = (symbol: string, side: Direction | 'flat') => boolean

/** Of the brain, a rule, or a strategy of the user. */
export type StrategyName = string

/** Those that need no file: the brain, and the rules it is compared with. */
export const STRATEGY_NAMES: readonly string[] = [BRAIN, ...BUILT_IN_STRATEGIES.map(({ name }) => name)]

export interface StrategyDependencies {
  readonly engine: Executor
  readonly configuration: () => Configuration
  /** As far as cycles read it; by default all of it. */
  readonly stateOfCycles?: () => State
  /** Of whoever reads the times of the same bars. */
  readonly times?: BarTimes
  /** Of a built-in rule; the brain has its settings. */
  readonly parameters?: ParameterValues
  /** A strategy of the user, if the name is not that of a built-in one. */
  readonly own?: RunningStrategy | undefined
}

export const strategyOf = (name: string, dependencies: StrategyDependencies): Strategy => {
  const { configuration, parameters = {}, own, times } = dependencies
  checkParameters(name, parameters)
  if (name === BRAIN) return brain(dependencies)
  if (own !== undefined) return traded(own, dependencies)
  const definition = builtInStrategy(name)
  if (definition === undefined) throw new StrategyError(unknownStrategy(name, STRATEGY_NAMES))
  const options = { analysisSeconds: () => configuration().ta.bar_seconds, tradesPast: true, times }
  return traded(openDirectly(definition, parameters, options), dependencies)
}

export type Parameters = ParameterValues

/** Throws for parameters that a built-in strategy does not take. Those of users say so when they are opened. */
export const checkParameters = (name: string, parameters: Parameters): void => {
  if (name === BRAIN && Object.keys(parameters).length > 0) throw new StrategyError(BRAIN_PARAMETERS)
  const definition = builtInStrategy(name)
  if (definition !== undefined) checkedParameters(definition, parameters)
}

const BRAIN_PARAMETERS =
  'the brain has no parameters: it follows the settings, such as SVC_BRAIN__MIN_DOMAINS=2 svc backtest'

/** With the name that was probably meant, or what was probably meant by a parameter that stands where names stand. */
export const unknownStrategy = (name: string, known: readonly string[]): string => {
  if (name.includes('='))
    return `no strategy is named ${name}: each parameter has a --set of its own (--set ${name})`
  const meant = nearest(name, known)
  const advice = meant === null ? '' : `, did you mean ${meant}?`
  return `no strategy is named ${name}${advice} (there are ${known.join(', ')})`
}

const brain = (dependencies: StrategyDependencies): Strategy => ({
  addBars: () => undefined,
  decide: (beforeMs, nowMs) => {
    const { engine, configuration, stateOfCycles = () => engine.state } = dependencies
    const state = stateOfCycles()
    const cycles: Executor = { state, log: engine.log, execute: (...command) => engine.execute(...command) }
    return runDueCycle({ engine: cycles, configuration }, beforeMs, nowMs, { trigger: 'backtest' })
  },
  isIdle: (beforeMs, nowMs) =>
    !isStepBetween(dependencies.configuration().brain.cycle_interval_seconds * 1000, beforeMs, nowMs),
  skip: () => undefined,
})

/** A strategy is asked once for each bar: what it said to `isIdle` is what `decide` carries out. */
const traded = (strategy: Omit<RunningStrategy, 'close'>, { engine }: StrategyDependencies): Strategy => {
  let said: readonly StrategyProposal[] | Promise<readonly StrategyProposal[]> = NOTHING
  let askedMs = 0
  const facts = () => accountFacts(engine.state.trading, timestampAt(askedMs), strategy.name)
  const ask = (nowMs: number): void => {
    if (!strategy.isDue) return
    askedMs = nowMs
    said = strategy.decide(facts)
  }
  return {
    addBars: (bars) => strategy.add(bars),
    isIdle: (_, nowMs, ignores) => {
      ask(nowMs)
      if (said instanceof Promise) return false
      for (const { symbol, side } of said) if (!ignores(symbol, side)) return false
      return true
    },
    skip: () => {
      said = NOTHING
    },
    decide: async (_, nowMs) => {
      ask(nowMs)
      const proposals = said instanceof Promise ? await said : said
      said = NOTHING
      for (const proposal of proposals)
        await engine.execute({ kind: 'propose-trade', proposal: proposalOf(strategy.name, proposal) })
    },
  }
}

const NOTHING: readonly StrategyProposal[] = []
