import type { NewPayload } from '../events/catalogue.ts'
import type { PositionId } from '../shared/brand.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { ReputationFacts } from './evolve.ts'
import { recordFeedback, type FeedbackStatus } from './feedback.ts'
import { settleBar, settleOverdue, settlePosition, type DecidingBar } from './settle-calls.ts'

export type ReputationCommand =
  | { readonly kind: 'settle-bar'; readonly bar: DecidingBar }
  | { readonly kind: 'settle-position'; readonly positionId: PositionId }
  | { readonly kind: 'settle-overdue' }
  | {
      readonly kind: 'record-feedback'
      readonly feedback: Omit<NewPayload<'learning.feedback.v1'>, 'counted' | 'weight'>
      readonly status: FeedbackStatus
    }

export const decideReputation = (
  facts: ReputationFacts,
  command: ReputationCommand,
  { now, configuration }: DecisionContext,
): Decision => {
  const { calls, feedback } = facts.reputation
  switch (command.kind) {
    case 'settle-bar':
      return settleBar(facts, command.bar, now, configuration.settlement)
    case 'settle-position':
      return settlePosition(calls, command.positionId, facts.trading.positions, configuration)
    case 'settle-overdue':
      return settleOverdue(calls, now, configuration.settlement)
    case 'record-feedback':
      return recordFeedback(feedback, command.feedback, command.status, configuration.karma)
  }
}
