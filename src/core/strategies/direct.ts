import type { FeedBar } from '../market/bar.ts'
import { describeParameters, parseParameters } from './parameters.ts'
import { seriesBar } from './bar-series.ts'
import { StrategyRun, type AccountFacts, type StrategyRunOptions } from './run-strategy.ts'
import {
  StrategyError,
  type ParameterValues,
  type StrategyDefinition,
  type StrategyProposal,
} from './strategy.ts'

export const descriptionOf = ({
  name,
  description = '',
  parameters,
  timeframes = [],
}: StrategyDefinition) => ({
  name,
  description,
  parameters: describeParameters(parameters),
  timeframes: [...timeframes],
})

/** All parameters, with defaults. Throws if the strategy rejects them. */
export const checkedParameters = (
  { name, parameters }: StrategyDefinition,
  given: ParameterValues,
): ParameterValues => {
  const parsed = parseParameters(parameters, given)
  if (parsed.status === 'invalid') throw new StrategyError(`${name}: ${parsed.problems.join('; ')}`)
  return parsed.values
}

/** Runs a strategy in the current thread. Throws if the strategy rejects the parameters. */
export const openDirectly = (
  definition: StrategyDefinition,
  given: ParameterValues,
  options: StrategyRunOptions,
) => openChecked(definition, checkedParameters(definition, given), options)

/** Runs a strategy in the current thread with parameters from `checkedParameters`. */
export const openChecked = (
  definition: StrategyDefinition,
  parameters: ParameterValues,
  options: StrategyRunOptions,
) => {
  const run = new StrategyRun(definition, parameters, options)
  return {
    name: definition.name,
    parameters,
    get warmUp() {
      return run.warmUp
    },
    get isDue() {
      return run.hasPending
    },
    add: (bars: readonly FeedBar[]): void => {
      for (const bar of bars) run.add(seriesBar(bar), NO_FACTS)
    },
    decide: (facts: () => AccountFacts): readonly StrategyProposal[] => run.decide(facts),
  }
}

/** Account facts for past bars. They are not traded on, so nothing is looked up. */
export const NO_FACTS = (): AccountFacts => NOTHING_KNOWN

const NOTHING_KNOWN: AccountFacts = Object.freeze({
  positions: Object.freeze([]),
  account: Object.freeze({ equityUsd: 0, exposureUsd: 0, dayLoss: 0, drawdown: 0, killSwitchLevel: 0 }),
})
