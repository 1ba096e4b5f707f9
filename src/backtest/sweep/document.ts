import type { Parameters } from '../strategies.ts'
import { heatMapOf } from './heat-map.ts'
import type { ParameterValues } from './space.ts'
import type { CorrectedResult, OutOfSample, Split, SweepOutcome, SweepPlan } from './sweep.ts'
import type { BacktestTask } from './task.ts'

/** The result of a sweep, in the same form for the command line, HTTP and the dashboard. */
export type SweepDocument = ReturnType<typeof documentOf>

export interface DocumentRequest {
  readonly base: BacktestTask
  readonly space: readonly ParameterValues[]
  readonly plan: SweepPlan
  readonly isRandom: boolean
  readonly runs: number
  readonly stoppedRuns: number
  /** Sets that the strategy refused, and its reason for the first of them. Null if it refused none. */
  readonly leftOut: { readonly count: number; readonly reason: string } | null
  /** The two parameters of the heat map; null for the first two with several values. */
  readonly heat: readonly [string, string] | null
}

export const documentOf = (
  { base, space, plan, isRandom, runs, stoppedRuns, leftOut, heat }: DocumentRequest,
  { results, outOfSample }: SweepOutcome,
) => {
  const survivors = results.filter(({ survives }) => survives).length
  const verdict =
    outOfSample === null ? verdictOf(results, plan, survivors) : verdictOutside(outOfSample, plan)
  return {
    strategy: base.strategy,
    method: methodOf(plan.split, isRandom),
    split: splitOf(plan.split),
    metric: plan.metric,
    false_discovery_rate: plan.falseDiscoveryRate,
    /** Number of parameter sets that were tried. */
    trials: plan.combinations.length,
    sets_left_out: leftOut,
    runs,
    /** Number of runs in which the kill switch stopped entries. */
    stopped_runs: stoppedRuns,
    /** Verdict in one plain sentence, even if no edge was found. */
    verdict:
      stoppedRuns === 0
        ? verdict
        : `${verdict}; ${stopText(`in ${stoppedRuns} of ${runs} runs`, base.resetsDaily)}`,
    edge_found: outOfSample === null ? survivors > 0 : outOfSample.survives,
    survivors,
    results,
    out_of_sample: outOfSample,
    heat_map: outOfSample === null ? heatMapOf(space, results, plan.metric, heat) : null,
  }
}

const methodOf = ({ kind }: Split, isRandom: boolean): 'grid' | 'random' | 'halving' => {
  if (kind === 'halving') return 'halving'
  return isRandom ? 'random' : 'grid'
}

const splitOf = (split: Split) => {
  if (split.kind === 'walk_forward') return { kind: split.kind, tests: split.steps.length }
  return split.kind === 'folds' ? { kind: split.kind, tests: split.blocks.length } : null
}

const verdictOf = (
  results: readonly CorrectedResult[],
  { combinations: { length: trials } }: SweepPlan,
  survivors: number,
): string => {
  const best = results.toSorted((one, other) => one.q_value - other.q_value || one.p_value - other.p_value)[0]
  if (best === undefined || results.every(({ trades }) => trades === 0)) {
    return `no edge found: none of ${setsText(trials)} closed a trade`
  }
  const figures =
    `${parametersText(best.parameters)} has p = ${shortNumber(best.p_value)}, ` +
    `${shortNumber(best.q_value)} after correction for ${setsText(trials)}, in ${best.trades} trades`
  if (survivors === 0) return `no edge found: the best, ${figures}`
  const deflated = best.deflated_sharpe
  const chance =
    deflated === null || deflated >= CONVINCING
      ? ''
      : `; but its Sharpe ratio is above what the best of as many sets without an edge shows with a probability of ` +
        `${shortNumber(deflated)} only`
  return `${survivors} of ${setsText(trials)} ${survivors === 1 ? 'survives' : 'survive'} the correction: ${figures}${chance}`
}

const verdictOutside = (
  { p_value: p, trades, days, total_return: total, survives }: OutOfSample,
  { falseDiscoveryRate }: SweepPlan,
): string => {
  const figures = `p = ${shortNumber(p)} over ${days} days that the choice had not seen, ${trades} trades, return ${(total * 100).toFixed(2)} %`
  return survives
    ? `an edge outside the sample: ${figures} (accepted up to ${falseDiscoveryRate})`
    : `no edge found: ${figures}`
}

/** Few trades may be the effect of the kill switch rather than of the strategy. */
export const stopText = (howOften: string, resetsDaily: boolean): string =>
  `the kill switch stopped entries ${howOften}${resetsDaily ? '' : ', and was not reset daily'}`

/** The usual threshold of a deflated Sharpe ratio. */
const CONVINCING = 0.95

export const setsText = (count: number): string => `${count} parameter ${count === 1 ? 'set' : 'sets'}`

export const parametersText = (parameters: Parameters): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'the default parameters'

/** A number with three significant digits. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(3)))
