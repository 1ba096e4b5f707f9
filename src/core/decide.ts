import { decideBrain, type BrainCommand } from './brain/decide.ts'
import { decideMarket, type MarketCommand } from './market/decide.ts'
import type { KeyAuthor } from './operations/access-keys.ts'
import { decideOperations, type OperationsCommand } from './operations/decide.ts'
import { callsOfSignals } from './reputation/open-call.ts'
import { decideReputation, type ReputationCommand } from './reputation/decide.ts'
import type { Decision } from './shared/decision.ts'
import type { DecisionContext } from './shared/decision-context.ts'
import { nodeId } from './shared/brand.ts'
import { activeByNode } from './signals/contributors.ts'
import { decideSignals, type SignalsCommand } from './signals/decide.ts'
import type { State } from './state.ts'
import { decideTrading, type TradingCommand } from './trading/decide.ts'
import { decideTreasury, type TreasuryCommand } from './treasury/decide.ts'

/** All commands of the engine. Data from outside is part of the command. */
export type Command =
  | MarketCommand
  | SignalsCommand
  | TradingCommand
  | ReputationCommand
  | BrainCommand
  | TreasuryCommand
  | OperationsCommand

/** Routes a command to its context, which can read only the parts of the state that its facts name. */
export const decide = (state: State, command: Command, context: DecisionContext): Decision => {
  switch (command.kind) {
    case 'observe-bars':
      return decideMarket(state, command, context)
    case 'welcome-node':
    case 'submit-signal':
    case 'emit-signal':
    case 'register-contributor':
    case 'remove-contributor':
    case 'register-producer':
    case 'remove-producer':
    case 'run-producer':
    case 'notice-stale-producers':
    case 'open-session':
    case 'append-trace':
    case 'close-session':
      return decideSignals(state, command, context, callsOfSignals(state, context))
    case 'set-kill-switch':
    case 'reset-kill-switch':
    case 'escalate':
    case 'assess-risk':
    case 'execute-intent':
    case 'expire-intents':
    case 'approve-intent':
    case 'deny-intent':
    case 'watch-bar':
    case 'watch-quote':
    case 'observe-tick':
    case 'check-positions':
    case 'close-position':
    case 'close-all':
    case 'exit-symbol':
    case 'retry-exits':
    case 'end-overdue-exits':
    case 'protect-position':
    case 'keep-protective-stops':
    case 'apply-funding':
    case 'record-funding':
    case 'fill-resting':
    case 'cancel-entries':
    case 'cancel-order':
    case 'record-report':
    case 'record-rejection':
    case 'record-not-sent':
    case 'record-unsent':
    case 'record-not-found':
    case 'record-lookup-unsupported':
    case 'record-unclear-lookup':
    case 'mark-order-unknown':
    case 'mark-orders-unknown':
    case 'record-venue-check':
    case 'record-venue-quotes':
    case 'compare-account':
    case 'record-capital':
    case 'confirm-live':
    case 'resume-live':
      return decideTrading(state, command, context)
    case 'settle-bar':
    case 'settle-position':
    case 'settle-overdue':
    case 'record-feedback':
      return decideReputation(state, command, context)
    case 'run-cycle':
    case 'watch-regime':
    case 'propose-trade':
    case 'record-outcome':
    case 'run-learning':
      return decideBrain(state, command, context)
    case 'accrue-shares':
    case 'settle-shares':
    case 'settle-due-shares':
    case 'migrate-wallet':
      return decideTreasury(state, command, context)
    case 'start':
    case 'record-access':
    case 'record-config-change':
    case 'accept-restore':
    case 'record-checkpoint':
    case 'record-clock-jump':
    case 'record-leader':
    case 'admit-key':
    case 'retire-key':
    case 'rotate-key':
    case 'create-access-key':
    case 'revoke-access-key':
    case 'acknowledge-alerts':
      return decideOperations(state, command, context, isKnownAuthor(state))
  }
}

/**
 * Whether an access key can be bound to this author. Built-in producers are excluded, because only the process itself
 * submits for them.
 */
const isKnownAuthor =
  ({ signals: { contributors, producers } }: State) =>
  ({ kind, id }: KeyAuthor): boolean =>
    kind === 'contributor' ? activeByNode(contributors, nodeId(id)) !== null : producers.registered.has(id)
