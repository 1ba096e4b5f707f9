import { byDomain, DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { r9 } from '../shared/numbers.ts'
import { DAY_MS } from '../shared/time.ts'
import { closesAfter, type Close } from './closes.ts'
import { correlationOf, meanOf } from './correlation.ts'
import { fallsAfter, weightsInForce, type Learning } from './learning.ts'
import { differenceOf, normalized, projected } from './projection.ts'

/** The sections of the configuration that a run reads. */
export interface LearningSettings {
  readonly weights: DomainWeights
  readonly learning: LearningRules
}

export interface LearningRules {
  readonly enabled: boolean
  readonly window_days: number
  readonly min_positions: number
  readonly max_step: number
  readonly min_pairs: number
  readonly floor: number
  readonly ceiling: number
  readonly cold_days: number
  readonly warm_days: number
  readonly revert_after: number
}

export type LearningReason =
  | 'cold_start_no_history'
  | 'cold_start_baseline'
  | 'insufficient_data'
  | 'reverted'
  | 'adjusted'
  | 'unchanged'

export interface Adjustment {
  readonly reason: LearningReason
  readonly step: number
  readonly previous: DomainWeights
  readonly weights: DomainWeights
  readonly deltas: DomainWeights
  readonly correlations: DomainWeights
  readonly observations: number
  /** Signals behind the trades of the window. */
  readonly attributions: number
  readonly meanReturn: number | null
}

/** What a learning run comes to: which weights, by which step, and why. */
export const adjust = (learning: Learning, configuration: LearningSettings, now: string): Adjustment => {
  const { weights: configured, learning: rules } = configuration
  const previous = normalized(weightsInForce(learning, configuration).weights)
  const from = new Date(Date.parse(now) - rules.window_days * DAY_MS).toISOString()
  const closes = closesAfter(learning.closes, from)
  const meanReturn = closes.length === 0 ? null : r9(meanOf(closes.map(({ netReturn }) => netReturn)))
  const correlations = byDomain((domain) => correlationOf(closes, domain, rules.min_pairs))
  const pace = paceOf(learning.firstCloseAt, closes, rules, now)
  const isReverting = pace.step > 0 && fallsAfter(learning.lastRun, meanReturn) >= rules.revert_after
  const moves = isReverting
    ? byDomain((domain) => limited(normalized(configured)[domain] - previous[domain], pace.step))
    : byDomain((domain) => correlations[domain] * pace.step)
  const weights = pace.step === 0 ? previous : projected(previous, moves, { ...rules, step: pace.step })
  return {
    reason: pace.reason ?? reasonOf(isReverting, previous, weights),
    step: pace.step,
    previous,
    weights,
    deltas: differenceOf(previous, weights),
    correlations,
    observations: closes.length,
    attributions: closes.reduce((sum, { signals }) => sum + signals, 0),
    meanReturn,
  }
}

interface Pace {
  readonly step: number
  /** Why nothing may move; null if something may. */
  readonly reason: LearningReason | null
}

/** A young account learns nothing, then half steps. */
const paceOf = (
  firstCloseAt: string | null,
  closes: readonly Close[],
  rules: LearningRules,
  now: string,
): Pace => {
  if (firstCloseAt === null) return { step: 0, reason: 'cold_start_no_history' }
  const days = (Date.parse(now) - Date.parse(firstCloseAt)) / DAY_MS
  if (days < rules.cold_days) return { step: 0, reason: 'cold_start_baseline' }
  if (closes.length < rules.min_positions) return { step: 0, reason: 'insufficient_data' }
  return { step: days < rules.warm_days ? rules.max_step / 2 : rules.max_step, reason: null }
}

const reasonOf = (isReverting: boolean, previous: DomainWeights, weights: DomainWeights): LearningReason => {
  if (DOMAINS.every((domain) => previous[domain] === weights[domain])) return 'unchanged'
  return isReverting ? 'reverted' : 'adjusted'
}

const limited = (move: number, step: number): number => Math.max(-step, Math.min(step, move))
