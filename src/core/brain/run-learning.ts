import type { Configuration } from '../config/schema.ts'
import { reputationAt } from '../reputation/author-reputation.ts'
import { weightOf, type ContributionRules } from '../reputation/contribution.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import { authorKey } from '../shared/author-key.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { builtinOf } from '../signals/producers.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import type { BrainFacts } from './evolve.ts'
import { contributorId, type Timestamp } from '../shared/brand.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { byDomain, type Domain, DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import { fallsAfter, type Learning, weightsInForce } from './learning.ts'
import { r9 } from '../shared/numbers.ts'
import { DAY_MS, HOUR_MS, timestampAt } from '../shared/time.ts'
import { closesAfter, type TradeSample, type TradeInputs } from './trades.ts'
import type { Positions, Terms } from '../trading/positions/positions.ts'
import { differenceOf, normalized, projected } from './projection.ts'

/** The result of a closed trade, with the domain scores at its entry. Adopted positions have none. */
export const recordOutcome = (
  { trades }: Pick<Learning, 'trades'>,
  positions: Positions,
  close: PayloadOf<'execution.position_closed.v1'>,
  now: Timestamp,
): Decision => {
  const trade = trades.held.get(close.position_id)
  const position = positions.get(close.position_id)
  if (trade === undefined || position === undefined) return accept()
  return accept(outcomeEvent(trade, position.terms, close, now))
}

const outcomeEvent = (
  trade: TradeInputs,
  { direction, openedAt, origin }: Terms,
  close: PayloadOf<'execution.position_closed.v1'>,
  now: Timestamp,
): NewEvent => ({
  type: 'learning.outcome.v1',
  source: 'learning',
  payload: {
    position_id: close.position_id,
    conviction_id: trade.convictionId,
    direction,
    realized_pnl: close.realized_pnl,
    net_return: close.realized_pnl_pct,
    direction_correct: close.gross_pnl > 0,
    time_held_hours: r9((Date.parse(now) - Date.parse(openedAt)) / HOUR_MS),
    max_drawdown_pct: close.max_adverse_pct,
    regime_at_entry: origin.kind === 'intent' ? origin.regimeAtEntry : '',
    domain_scores_at_entry: trade.domainScores,
    signal_ids: [...trade.signalIds],
  },
})

/** Trigger of a run: the schedule, or an operator through a surface. */
export type LearningCause =
  | { readonly trigger: 'schedule'; readonly due: Timestamp }
  | { readonly trigger: 'api' | 'cli' }

/** Runs learning. Every run is recorded, even if it changes nothing. */
export const runLearning = (facts: BrainFacts, cause: LearningCause, context: DecisionContext): Decision => {
  const { configuration, now } = context
  const { learning } = facts.brain
  if (!configuration.learning.enabled)
    return refuse('learning.disabled', 'learning is off (learning.enabled)')
  const edges = domainEdges(facts, configuration.karma.influence)
  const adjustment = adjust(learning, configuration, edges, now)
  const applied = DOMAINS.some((domain) => adjustment.deltas[domain] !== 0)
  const version = applied ? learning.newestVersion + 1 : weightsInForce(learning, configuration).version
  const { reason, observations, deltas } = adjustment
  return accept(
    {
      type: 'learning.weight_adjustment.v1',
      source: SOURCE,
      // Several processes on one log derive the same key: only the first run is stored.
      ...(cause.trigger === 'schedule' ? { dedupeKey: `learning:${cause.due}` } : {}),
      payload: {
        cycle_type: 'weekly',
        trigger: cause.trigger,
        previous_weights: adjustment.previous,
        new_weights: adjustment.weights,
        deltas,
        observations,
        reason,
        applied,
        correlations: adjustment.correlations,
        edges,
        step: adjustment.step,
        weights_version: version,
        window_mean_return: adjustment.meanReturn,
        configured_weights: configuration.weights,
      },
    },
    {
      type: 'learning.report.v1',
      source: SOURCE,
      payload: {
        attributions: adjustment.attributions,
        weight_adjustment: { applied, reason, observations, deltas },
        producer_scores: producerScoresOf(facts, context),
      },
    },
    ...(applied ? [alertOf(adjustment)] : []),
  )
}

const SOURCE = 'learning'

const alertOf = ({ previous, weights, deltas, observations, reason }: Adjustment): NewEvent => ({
  type: 'alert.weights_adjusted',
  source: 'alerts',
  payload: {
    urgency: 'low',
    message: `Weights ${reason} after ${observations} trades`,
    previous_weights: previous,
    new_weights: weights,
    deltas,
    observations,
    reason,
    repeat: 0,
  },
})

type LearningReason =
  | 'cold_start_no_history'
  | 'cold_start_baseline'
  | 'insufficient_data'
  | 'reverted'
  | 'adjusted'
  | 'unchanged'

interface Adjustment {
  readonly reason: LearningReason
  readonly step: number
  readonly previous: DomainWeights
  readonly weights: DomainWeights
  readonly deltas: DomainWeights
  readonly correlations: DomainWeights
  readonly observations: number
  /** Number of signals behind the trades of the window. */
  readonly attributions: number
  readonly meanReturn: number | null
}

/** The result of a learning run: new weights, the step, and the reason. */
const adjust = (
  learning: Learning,
  configuration: Pick<Configuration, 'weights' | 'learning'>,
  edges: DomainWeights,
  now: Timestamp,
): Adjustment => {
  const { weights: configured, learning: rules } = configuration
  const previous = normalized(weightsInForce(learning, configuration).weights)
  const from = timestampAt(Date.parse(now) - rules.window_days * DAY_MS)
  const closes = closesAfter(learning.closes, from)
  const meanReturn = closes.length === 0 ? null : r9(meanOf(closes.map(({ netReturn }) => netReturn)))
  const correlations = byDomain((domain) => correlationOf(closes, domain, rules.min_pairs))
  const pace = paceOf(learning.firstCloseAt, closes, rules, now)
  const isReverting = pace.step > 0 && fallsAfter(learning.lastRun, meanReturn) >= rules.revert_after
  const moves = isReverting
    ? byDomain((domain) => limited(normalized(configured)[domain] - previous[domain], pace.step))
    : byDomain((domain) => strengthOf(domain, correlations, edges, previous) * pace.step)
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

/** Edge over that of the whole brain that moves a weight by a full step. */
const FULL_STEP_EDGE = 0.1

/**
 * Strength of a domain, -1 to 1: its correlation with winning trades, and the edge of its calls over those of the
 * brain.
 */
const strengthOf = (
  domain: Domain,
  correlations: DomainWeights,
  edges: DomainWeights,
  weights: DomainWeights,
): number => {
  const whole = DOMAINS.reduce((sum, other) => sum + weights[other] * edges[other], 0)
  return limited(correlations[domain] + (edges[domain] - whole) / FULL_STEP_EDGE, 1)
}

interface LearningStep {
  readonly step: number
  /** Reason why the weights stay unchanged; null if they may move. */
  readonly reason: LearningReason | null
}

/** No step in the first days after the first close, then half steps, then full ones. */
const paceOf = (
  firstCloseAt: Timestamp | null,
  closes: readonly TradeSample[],
  rules: Configuration['learning'],
  now: Timestamp,
): LearningStep => {
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

/**
 * Pearson's r between a domain's evidence for the side taken and winning, over the trades that it scored.
 * A bearish domain is credited for a short that won. 0 with too few pairs or no variance.
 */
const correlationOf = (closes: readonly TradeSample[], domain: Domain, pairsMin: number): number => {
  const pairs = closes.flatMap(({ values, side, won }) => {
    const value = values[domain]
    return value === undefined ? [] : [{ evidence: value * side, result: won ? 1 : -1 }]
  })
  if (pairs.length < pairsMin) return 0
  const evidence = meanOf(pairs.map((pair) => pair.evidence))
  const result = meanOf(pairs.map((pair) => pair.result))
  let covariance = 0
  let evidenceVariance = 0
  let resultVariance = 0
  for (const pair of pairs) {
    covariance += (pair.evidence - evidence) * (pair.result - result)
    evidenceVariance += (pair.evidence - evidence) ** 2
    resultVariance += (pair.result - result) ** 2
  }
  // A constant domain differs from its own mean by rounding alone.
  if (evidenceVariance <= pairs.length * NOISE || resultVariance <= pairs.length * NOISE) return 0
  return r9(Math.max(-1, Math.min(1, covariance / Math.sqrt(evidenceVariance * resultVariance))))
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Values have nine decimals: a smaller variance is rounding. */
const NOISE = 1e-20

/**
 * How much better than chance the calls of a domain are: the mean edge of its authors, weighted by their influence.
 * There are many more calls than trades, and all domains share the result of a trade.
 */
const domainEdges = (
  { signals: { contributors, producers }, reputation }: BrainFacts,
  rules: ContributionRules,
): DomainWeights => {
  const sums = new Map<Domain, { edges: number; weights: number }>()
  for (const [author, contribution] of contributionsIn(reputation, rules)) {
    const domain = domainOf(author, (name) => producers.registered.get(name)?.domain)
    if (domain === null || isRemoved(contributors, author)) continue
    const weight = weightOf(contribution)
    const sum = sums.get(domain) ?? { edges: 0, weights: 0 }
    sums.set(domain, {
      edges: sum.edges + weight * contribution.edge.mean,
      weights: sum.weights + weight,
    })
  }
  return byDomain((domain) => {
    const { edges, weights } = sums.get(domain) ?? { edges: 0, weights: 0 }
    return weights === 0 ? 0 : r9(edges / weights)
  })
}

const CONTRIBUTORS = 'contributor:'
const PRODUCERS = 'producer:'

/** True for a removed contributor. Its calls are still judged, but it has no weight. */
const isRemoved = ({ byId }: BrainFacts['signals']['contributors'], author: string): boolean =>
  author.startsWith(CONTRIBUTORS) &&
  byId.get(contributorId(author.slice(CONTRIBUTORS.length)))?.removed === true

const domainOf = (author: string, registered: (name: string) => string | undefined): Domain | null => {
  if (author.startsWith(CONTRIBUTORS)) return 'curator'
  const name = author.slice(PRODUCERS.length)
  const found = registered(name) ?? builtinOf(name)?.domain
  return DOMAINS.find((domain) => domain === found) ?? null
}

/** Limit of producers in a report, which must fit into one event. */
const PRODUCERS_REPORTED_MAX = 400

/** Reputation of built-in and registered producers, by name. */
const producerScoresOf = (
  { signals: { producers }, reputation: { outcomes } }: BrainFacts,
  { now, configuration }: DecisionContext,
): Record<string, number> => {
  const names = [...Object.keys(BUILTIN_PRODUCERS), ...producers.registered.keys()].toSorted()
  return Object.fromEntries(
    names
      .slice(0, PRODUCERS_REPORTED_MAX)
      .map((name) => [name, r9(reputationAt(outcomes, authorKey(null, name), now, configuration.karma))]),
  )
}
