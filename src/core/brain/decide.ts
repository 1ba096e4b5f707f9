import type { Timestamp } from '../shared/brand.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { BrainFacts } from './evolve.ts'
import { proposeTrade, type Proposal } from './propose-trade.ts'
import { runBrainCycle, watchBrainRegime, type CycleRequest } from './run-cycle.ts'
import { recordOutcome, runLearning, type LearningCause } from './run-learning.ts'

export type BrainCommand =
  | ({ readonly kind: 'run-cycle' } & CycleRequest)
  /** Runs instead of a cycle while the kill switch blocks entries. */
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
      return runLearning(facts, command.cause, context)
  }
}
