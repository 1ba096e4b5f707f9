import type { Timestamp } from '../shared/brand.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { reputationAt } from '../reputation/author-reputation.ts'
import { domainEdges } from './domain-edges.ts'
import { authorKey } from '../shared/author-key.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { r9 } from '../shared/numbers.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import type { BrainFacts } from './evolve.ts'
import { proposeTrade, type Proposal } from './propose-trade.ts'
import { runBrainCycle, watchBrainRegime, type CycleRequest } from './run-cycle.ts'
import { recordOutcome, runLearning, type LearningCause } from './run-learning.ts'

export type BrainCommand =
  | ({ readonly kind: 'run-cycle' } & CycleRequest)
  /** Instead of a cycle while the kill switch blocks entries. */
  | { readonly kind: 'watch-regime'; readonly asOf?: Timestamp }
  | { readonly kind: 'propose-trade'; readonly proposal: Proposal }
  | { readonly kind: 'record-outcome'; readonly close: PayloadOf<'execution.position_closed.v1'> }
  | { readonly kind: 'run-learning'; readonly cause: LearningCause }

export const decideBrain = (facts: BrainFacts, command: BrainCommand, context: DecisionContext): Decision => {
  switch (command.kind) {
    case 'run-cycle':
      return runBrainCycle(facts, command, context)
    case 'watch-regime':
      return watchBrainRegime(facts, context, command.asOf)
    case 'propose-trade':
      return proposeTrade(facts, command.proposal, context)
    case 'record-outcome':
      return recordOutcome(facts.brain.learning, facts.trading.positions, command.close, context.now)
    case 'run-learning':
      return runLearning(facts.brain.learning, {
        cause: command.cause,
        configuration: context.configuration,
        producerScores: producerScoresOf(facts, context),
        edges: domainEdges(facts, context.configuration.karma.influence),
        now: context.now,
      })
  }
}

/** More would not fit into a report. */
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
