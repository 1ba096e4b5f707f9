import { r9 } from '../../core/shared/numbers.ts'
import { sharpeOf } from '../statistics.ts'
import type { Parameters } from '../strategies.ts'
import { deflatedSharpe, falseDiscoveryRates, pValueOf } from './correction.ts'
import { purged, rungsOf, type WalkForwardStep, type Window } from './splits.ts'
import type { Trials, TrialResult } from './trials.ts'

export const METRICS = ['sharpe', 'total_return'] as const

/** What the best parameters have most of. */
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
  /** Of the discoveries that are accepted, the share that may be false. */
  readonly falseDiscoveryRate: number
}

/** A result with what is left of it after the correction for so many trials. */
export type CorrectedResult = Omit<TrialResult, 'returns'> & {
  /** The share of false discoveries that has to be accepted with it. */
  readonly q_value: number
  /** The probability that it is better than the best of as many trials without an edge; null where too little is known. */
  readonly deflated_sharpe: number | null
  readonly survives: boolean
}

/** One window or fold: what was chosen without it, and how that did in it. */
export type TestedChoice = ReturnType<typeof choiceOf>

/** The tests of all windows or folds put together. Nothing in them was seen by the choice. */
export type OutOfSample = ReturnType<typeof together>

export interface SweepOutcome {
  /** Best first; those of one parameter set tried on all of the time, or on the last rung. */
  readonly results: readonly CorrectedResult[]
  readonly outOfSample: OutOfSample | null
}

/** How many runs a plan needs. */
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
  /** What it was chosen for. */
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
    // One test of one procedure: there is nothing to correct.
    survives: pValue <= falseDiscoveryRate,
  }
}

const compounded = (returns: readonly number[]): number =>
  returns.reduce((equity, value) => equity * (1 + value), 1) - 1

/** `tried` is how all of them did, also those that were given up: how far apart trials lie is seen in them alone. */
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

/** Best first; of equals, the one that stands first in the plan. */
const sorted = <Item extends Readonly<Record<Metric, number>>>(
  items: readonly Item[],
  metric: Metric,
): readonly Item[] => items.toSorted((one, other) => other[metric] - one[metric])
