import { r9 } from '../../core/shared/numbers.ts'
import { sharpeOf } from '../statistics.ts'
import type { Parameters } from '../strategies.ts'
import { deflatedSharpe, falseDiscoveryRates, pValueOf } from './correction.ts'
import { purged, rungsOf, type WalkForwardStep, type Window } from './splits.ts'
import type { Trials, TrialResult } from './trials.ts'

export const METRICS = ['sharpe', 'total_return'] as const

/** Figure by which the best parameters are chosen. */
export type Metric = (typeof METRICS)[number]

/** How the time is divided. */
export type Split =
  | { readonly kind: 'none'; readonly window: Window | null }
  | { readonly kind: 'halving'; readonly range: Window }
  | { readonly kind: 'walk_forward'; readonly steps: readonly WalkForwardStep[] }
  | { readonly kind: 'folds'; readonly blocks: readonly Window[]; readonly embargoMs: number }

export interface SweepPlan {
  readonly combinations: readonly Parameters[]
  readonly split: Split
  readonly metric: Metric
  /** Accepted share of false discoveries among the discoveries. */
  readonly falseDiscoveryRate: number
}

/** A result after the correction for the number of trials. */
export type CorrectedResult = Omit<TrialResult, 'returns'> & {
  /** Smallest false discovery rate at which this result is accepted. */
  readonly q_value: number
  /**
   * The probability that the result is better than the best of as many trials without an edge. Null if there are too
   * few data.
   */
  readonly deflated_sharpe: number | null
  readonly survives: boolean
}

/** One window or fold: the parameters chosen without it, and their result in it. */
export type TestedChoice = ReturnType<typeof choiceOf>

/** The tests of all windows or folds together. The choice of parameters saw none of them. */
export type OutOfSample = ReturnType<typeof together>

export interface SweepOutcome {
  /** Results of each parameter set over the whole time, or on the last rung. Best first. */
  readonly results: readonly CorrectedResult[]
  readonly outOfSample: OutOfSample | null
}

/** Number of runs that a plan needs. */
export const runsOf = ({ combinations: { length }, split }: SweepPlan): number => {
  switch (split.kind) {
    case 'none':
      return length
    case 'halving':
      return rungsOf(split.range, length).reduce(
        ({ runs, left }, { keep }) => ({ runs: runs + left, left: keep }),
        { runs: 0, left: length },
      ).runs
    case 'walk_forward':
      return split.steps.length * (length + 1)
    case 'folds':
      return split.blocks.length * length
  }
}

export const runSweep = async (
  plan: SweepPlan,
  trials: Trials,
  uniform: () => number,
): Promise<SweepOutcome> => {
  const { split } = plan
  switch (split.kind) {
    case 'none': {
      const { window } = split
      const results = await trials.run(plan.combinations.map((parameters) => ({ parameters, window })))
      return { results: corrected(results, results, plan), outOfSample: null }
    }
    case 'halving': {
      const { first, last } = await halve(plan, split.range, trials)
      return { results: corrected(last, first, plan), outOfSample: null }
    }
    case 'walk_forward':
      return walk(plan, split.steps, trials, uniform)
    case 'folds':
      return fold(plan, split, trials, uniform)
  }
}

const halve = async (
  { combinations, metric }: SweepPlan,
  range: Window,
  trials: Trials,
): Promise<{ readonly first: readonly TrialResult[]; readonly last: readonly TrialResult[] }> => {
  let left = combinations
  let first: readonly TrialResult[] | null = null
  let last: readonly TrialResult[] = []
  for (const { window, keep } of rungsOf(range, combinations.length)) {
    last = await trials.run(left.map((parameters) => ({ parameters, window })))
    first ??= last
    left = sorted(last, metric)
      .slice(0, keep)
      .map(({ parameters }) => parameters)
  }
  return { first: first ?? last, last }
}

const walk = async (
  plan: SweepPlan,
  steps: readonly WalkForwardStep[],
  trials: Trials,
  uniform: () => number,
): Promise<SweepOutcome> => {
  const { combinations, metric } = plan
  const tested: TrialResult[] = []
  const choices: TestedChoice[] = []
  for (const { train, test } of steps) {
    const trained = await trials.run(combinations.map((parameters) => ({ parameters, window: train })))
    const [best] = sorted(trained, metric)
    if (best === undefined) continue
    const [result] = await trials.run([{ parameters: best.parameters, window: test, keepsReturns: true }])
    if (result === undefined) continue
    tested.push(result)
    choices.push(choiceOf(best.parameters, best[metric], result))
  }
  return { results: [], outOfSample: together(choices, tested, plan, uniform) }
}

const fold = async (
  plan: SweepPlan,
  { blocks, embargoMs }: Extract<Split, { kind: 'folds' }>,
  trials: Trials,
  uniform: () => number,
): Promise<SweepOutcome> => {
  const { combinations, metric } = plan
  const all = blocks.flatMap((window) =>
    combinations.map((parameters) => ({ parameters, window, keepsReturns: true })),
  )
  const results = await trials.run(all)
  const resultOf = (block: number, combination: number): TrialResult | undefined =>
    results[block * combinations.length + combination]
  const tested: TrialResult[] = []
  const choices: TestedChoice[] = []
  for (const [test, window] of blocks.entries()) {
    const trained = combinations.map((parameters, combination) => {
      const returns = blocks.flatMap((block, index) =>
        index === test ? [] : purged(resultOf(index, combination)?.returns ?? [], block, window, embargoMs),
      )
      return { parameters, combination, sharpe: sharpeOf(returns), total_return: compounded(returns) }
    })
    const [best] = sorted(trained, metric)
    const result = best === undefined ? undefined : resultOf(test, best.combination)
    if (best === undefined || result === undefined) continue
    tested.push(result)
    choices.push(choiceOf(best.parameters, best[metric], result))
  }
  return { results: [], outOfSample: together(choices, tested, plan, uniform) }
}

const choiceOf = (parameters: Parameters, trained: number, result: TrialResult) => ({
  from: result.from,
  to: result.to,
  parameters,
  /** The value of the metric by which the set was chosen. */
  trained: r9(trained),
  tested: {
    days: result.days,
    trades: result.trades,
    total_return: result.total_return,
    sharpe: result.sharpe,
  },
})

const together = (
  choices: readonly TestedChoice[],
  tested: readonly TrialResult[],
  { falseDiscoveryRate }: SweepPlan,
  uniform: () => number,
) => {
  const returns = tested.flatMap((result) => result.returns ?? [])
  const pValue = pValueOf(returns, uniform)
  return {
    choices,
    days: returns.length,
    trades: tested.reduce((sum, { trades }) => sum + trades, 0),
    total_return: r9(compounded(returns)),
    sharpe: r9(sharpeOf(returns)),
    p_value: pValue,
    // One test of one procedure needs no correction.
    survives: pValue <= falseDiscoveryRate,
  }
}

const compounded = (returns: readonly number[]): number =>
  returns.reduce((equity, value) => equity * (1 + value), 1) - 1

/**
 * `tried` holds the results of all sets, including those that were given up: only all of them show how far apart trials
 * lie.
 */
const corrected = (
  results: readonly TrialResult[],
  tried: readonly TrialResult[],
  { combinations: { length: trials }, metric, falseDiscoveryRate }: SweepPlan,
): readonly CorrectedResult[] => {
  const rates = falseDiscoveryRates(
    results.map(({ p_value }) => p_value),
    trials,
  )
  const sharpes = tried.map(({ daily_sharpe }) => daily_sharpe)
  const all = results.map((result, index) => {
    const { returns: _returns, ...shown } = result
    const rate = rates[index] ?? 1
    const shape = { ...result, sharpe: result.daily_sharpe }
    const deflated = result.trades === 0 ? null : deflatedSharpe(shape, sharpes, trials)
    return {
      ...shown,
      q_value: rate,
      deflated_sharpe: deflated === null ? null : r9(deflated),
      survives: rate <= falseDiscoveryRate,
    }
  })
  return sorted(all, metric)
}

/** Best first. Equal results keep the order of the plan. */
const sorted = <Item extends Readonly<Record<Metric, number>>>(
  items: readonly Item[],
  metric: Metric,
): readonly Item[] => items.toSorted((one, other) => other[metric] - one[metric])
