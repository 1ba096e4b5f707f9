import { configurationHashInput } from '../config/secrets.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { producerScoresOf } from '../reputation/producer-scores.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { contributorsOfSignals, cycleInputsOf } from './cycle-inputs.ts'
import type { BrainFacts } from './evolve.ts'
import { weightsInForce } from './learning.ts'
import { recordOutcome } from './outcome.ts'
import { proposeTrade, type Proposal } from './propose-trade.ts'
import { runBrainCycle, watchBrainRegime } from './run-brain-cycle.ts'
import { runLearning, type LearningCause } from './run-learning.ts'

export type BrainCommand =
  | {
      readonly kind: 'run-cycle'
      readonly cycleId: string
      readonly trigger: 'api' | 'schedule' | 'cli' | 'backtest'
    }
  /** Instead of a cycle while the kill switch blocks entries. */
  | { readonly kind: 'watch-regime' }
  | { readonly kind: 'propose-trade'; readonly proposal: Proposal }
  | { readonly kind: 'record-outcome'; readonly close: PayloadOf<'execution.position_closed.v1'> }
  | { readonly kind: 'run-learning'; readonly cause: LearningCause }

export const decideBrain = (facts: BrainFacts, command: BrainCommand, context: DecisionContext): Decision => {
  const { now, configuration } = context
  switch (command.kind) {
    case 'run-cycle':
      return runCycle(facts, command, context)
    case 'watch-regime':
      return watchBrainRegime(cycleInputsOf(facts, context), configuration)
    case 'propose-trade':
      return proposeTrade(facts, command.proposal, context)
    case 'record-outcome':
      return recordOutcome(facts, command.close, now)
    case 'run-learning':
      return runLearning(facts.brain.learning, {
        cause: command.cause,
        configuration,
        producerScores: producerScoresOf(facts, context),
        now,
      })
  }
}

const runCycle = (
  facts: BrainFacts,
  { cycleId, trigger }: Extract<BrainCommand, { kind: 'run-cycle' }>,
  context: DecisionContext,
): Decision => {
  const { now, configuration, newId, sha256Hex, elapsedMs, version } = context
  const inputs = cycleInputsOf(facts, context)
  return runBrainCycle({
    inputs,
    rules: configuration,
    context: {
      cycleId,
      trigger,
      startedAt: now,
      weightsVersion: weightsInForce(facts.brain.learning, configuration).version,
      configHash: sha256Hex(configurationHashInput(configuration)),
      engineVersion: version,
    },
    contributorOf: contributorsOfSignals(inputs.authors),
    newId,
    sha256Hex,
    elapsedMs,
  })
}
