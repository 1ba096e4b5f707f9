import type { AccessEntry } from './operations/audit.ts'
import type { AccountSweep } from './trading/account-sweep.ts'
import type { Registration, WritingNode } from './signals/contributors.ts'
import type { PayloadOf } from './events/catalogue.ts'
import type { Operator } from './trading/exits.ts'
import type { VenueFunding } from './trading/funding.ts'
import type { SettlementRequest, SettlementStatus } from './treasury/settle.ts'
import type { Migration } from './treasury/wallet.ts'
import type { Cause, OperatorMove } from './trading/kill-switch.ts'
import type { LearningCause } from './brain/run-learning.ts'
import type { Observation } from './market/observe.ts'
import type { Judgement } from './trading/intents.ts'
import type { PriceSeen } from './trading/monitor.ts'
import type { FeedbackStatus } from './reputation/feedback.ts'
import type { ProducerReport } from './signals/producer-runs.ts'
import type { Proposal } from './brain/propose-trade.ts'
import type { CancelRequest } from './trading/reconcile.ts'
import type { TradedBar } from './trading/resting-fills.ts'
import type { ClosedBar } from './reputation/settle-calls.ts'
import type { Emission, Submission } from './signals/signals.ts'
import type { LiveConfirmation, VenueCheck } from './trading/decide-venue.ts'
import type { ReportCommand } from './trading/venue-report.ts'
import type { KillSwitchLevel } from './shared/level.ts'
import type { Direction } from './shared/money.ts'
import type { FeedTick, Quoted } from './trading/watch.ts'

/** Through which door a command came: it becomes the source of what it writes. */
export type Surface = 'api' | 'cli' | 'system'

/** Everything that can be asked of the engine. What comes from outside comes in with the command. */
export type Command =
  | { readonly kind: 'start'; readonly started: PayloadOf<'system.started.v1'> }
  | { readonly kind: 'welcome-node'; readonly node: WritingNode }
  | { readonly kind: 'set-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'reset-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'escalate'; readonly to: KillSwitchLevel; readonly cause: Cause }
  | { readonly kind: 'submit-signal'; readonly submission: Submission }
  | { readonly kind: 'emit-signal'; readonly emission: Emission }
  | { readonly kind: 'register-contributor'; readonly registration: Registration; readonly surface: Surface }
  | { readonly kind: 'remove-contributor'; readonly id: string; readonly surface: Surface }
  | {
      readonly kind: 'register-producer'
      readonly producer: PayloadOf<'producer.registered.v1'>
      readonly surface: Surface
    }
  | { readonly kind: 'remove-producer'; readonly name: string; readonly surface: Surface }
  | { readonly kind: 'run-producer'; readonly report: ProducerReport }
  | { readonly kind: 'notice-stale-producers' }
  | { readonly kind: 'observe-bars'; readonly observation: Observation }
  | {
      readonly kind: 'run-cycle'
      readonly cycleId: string
      readonly trigger: 'api' | 'schedule' | 'cli' | 'backtest'
    }
  | { readonly kind: 'propose-trade'; readonly proposal: Proposal }
  | { readonly kind: 'watch-regime' }
  | { readonly kind: 'execute-intent'; readonly intentId: string }
  | { readonly kind: 'expire-intents' }
  | { readonly kind: 'approve-intent'; readonly judgement: Judgement }
  | { readonly kind: 'deny-intent'; readonly judgement: Judgement }
  | { readonly kind: 'close-position'; readonly positionId: string; readonly by: Operator }
  | { readonly kind: 'close-all'; readonly by: Operator }
  | { readonly kind: 'exit-symbol'; readonly symbol: string; readonly direction: Direction }
  | { readonly kind: 'cancel-entries'; readonly reason: string }
  | { readonly kind: 'fill-resting'; readonly bar: TradedBar }
  | { readonly kind: 'watch-bar'; readonly symbol: string; readonly seen: PriceSeen }
  | { readonly kind: 'watch-quote'; readonly quoted: Quoted }
  | { readonly kind: 'observe-tick'; readonly tick: FeedTick }
  | { readonly kind: 'settle-bar'; readonly bar: ClosedBar }
  | { readonly kind: 'settle-position'; readonly positionId: string }
  | { readonly kind: 'settle-overdue' }
  | { readonly kind: 'check-positions' }
  | { readonly kind: 'cancel-order'; readonly wish: CancelRequest }
  /** What a venue said, or did not. */
  | ({ readonly kind: 'record-report' } & ReportCommand)
  | { readonly kind: 'record-rejection'; readonly orderId: string; readonly reason: string }
  | { readonly kind: 'record-unsent'; readonly orderId: string; readonly reason: string }
  | { readonly kind: 'record-not-found'; readonly orderId: string; readonly lookups: number }
  | { readonly kind: 'record-unfindable'; readonly orderId: string }
  | { readonly kind: 'doubt-order'; readonly orderId: string; readonly reason: string }
  | { readonly kind: 'doubt-orders'; readonly reason: string }
  | { readonly kind: 'retry-exits' }
  | { readonly kind: 'record-venue-check'; readonly check: VenueCheck }
  | { readonly kind: 'compare-account'; readonly sweep: AccountSweep }
  | { readonly kind: 'confirm-live'; readonly confirmation: LiveConfirmation }
  | {
      readonly kind: 'resume-live'
      readonly operator: string
      readonly reason: string
      readonly surface: 'api' | 'cli'
    }
  /** `at`: 00:00, 08:00 or 16:00 UTC of a day. `toldBy`: the venue that says itself what it charges: not estimated. */
  | { readonly kind: 'apply-funding'; readonly at: string; readonly toldBy?: string | undefined }
  | { readonly kind: 'record-funding'; readonly venue: string; readonly payment: VenueFunding }
  | { readonly kind: 'assess-risk' }
  | { readonly kind: 'record-outcome'; readonly close: PayloadOf<'execution.position_closed.v1'> }
  | { readonly kind: 'owe-karma'; readonly close: PayloadOf<'execution.position_closed.v1'> }
  | {
      readonly kind: 'settle-karma'
      readonly request: SettlementRequest
      readonly standing: SettlementStatus
    }
  | { readonly kind: 'settle-due-karma' }
  | { readonly kind: 'migrate-wallet'; readonly migration: Migration }
  | { readonly kind: 'run-learning'; readonly cause: LearningCause }
  | {
      readonly kind: 'record-feedback'
      readonly feedback: Omit<PayloadOf<'learning.feedback.v1'>, 'counted' | 'weight'>
      readonly standing: FeedbackStatus
    }
  | { readonly kind: 'open-session'; readonly label: string; readonly agent: string | null }
  | { readonly kind: 'append-trace'; readonly sessionId: string; readonly traceId: string }
  | { readonly kind: 'close-session'; readonly sessionId: string }
  | { readonly kind: 'record-access'; readonly entry: AccessEntry; readonly surface: 'api' | 'cli' }
  | {
      readonly kind: 'record-config-change'
      readonly change: PayloadOf<'system.config_changed.v1'>
      readonly surface: 'api' | 'cli'
    }
  | { readonly kind: 'accept-restore'; readonly restore: PayloadOf<'system.restore.v1'> }
