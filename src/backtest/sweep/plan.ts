import { combinationsOf, randomCombinations, type ParameterValues } from './space.ts'
import { foldsOf, SplitError, walkForward, type Window } from './splits.ts'
import type { Metric, Split, SweepPlan } from './sweep.ts'
import type { BacktestTask } from './task.ts'

/** Request of a sweep. */
export interface SweepRequest {
  /** The task without its parameters. */
  readonly base: BacktestTask
  readonly space: readonly ParameterValues[]
  /** Number of combinations to draw at random; null for all. */
  readonly random: number | null
  readonly halving: boolean
  readonly walkForward: { readonly trainMs: number; readonly testMs: number } | null
  readonly folds: { readonly count: number; readonly embargoMs: number } | null
  readonly metric: Metric
  readonly falseDiscoveryRate: number
}

/**
 * Throws `SpaceError` or `SplitError` for a request that cannot be carried out. Does not check whether the strategy
 * accepts the sets. `range` is null if it is unknown.
 */
export const planOf = (request: SweepRequest, range: Window | null, uniform: () => number): SweepPlan => {
  const { space, random, metric, falseDiscoveryRate } = request
  const combinations = random === null ? combinationsOf(space) : randomCombinations(space, random, uniform)
  return { combinations, split: splitOf(request, range), metric, falseDiscoveryRate }
}

const splitOf = ({ halving, walkForward: steps, folds }: SweepRequest, range: Window | null): Split => {
  if ([halving, steps !== null, folds !== null].filter(Boolean).length > 1) {
    throw new SplitError('halving, walk-forward windows and folds exclude each other')
  }
  if (!halving && steps === null && folds === null) return { kind: 'none', window: range }
  if (range === null) throw new SplitError('the time must be named: its begin and its end (from, to)')
  if (steps !== null) {
    return { kind: 'walk_forward', steps: walkForward(range, steps.trainMs, steps.testMs) }
  }
  if (folds === null) return { kind: 'halving', range }
  return { kind: 'folds', blocks: foldsOf(range, folds.count), embargoMs: folds.embargoMs }
}
