import type { IntentId, OrderId, PositionId, Timestamp, CanonicalSymbol } from '../shared/brand.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import type { Direction } from '../shared/money.ts'
import { riskFactsOf } from './risk/account.ts'
import { type AccountSweep } from './venue/account-differences.ts'
import { compareAccount, resumeLive } from './venue/account-sweep.ts'
import { recordCapital } from './venue/capital.ts'
import { recordVenueQuotes, type VenueQuotes } from './venue/live-prices.ts'
import {
  acknowledgedBy,
  assessRisk,
  trueConditions,
  type Condition,
  escalate,
  resetKillSwitch,
  setKillSwitch,
  type Cause,
  type OperatorMove,
} from './risk/kill-switch.ts'
import { cancelEntries } from './orders/orders.ts'
import { confirmLive, recordVenueCheck, type LiveConfirmation, type VenueCheck } from './venue/venue.ts'
import { endOverdueExits } from './positions/overdue-exits.ts'
import { enterIntent } from './orders/entries.ts'
import type { TradingFacts } from './evolve.ts'
import { closeAll, closePosition, exitSymbol, type Operator, retryExits } from './positions/exits.ts'
import { applyFunding, recordFunding, type VenueFunding } from './positions/funding.ts'
import { approveIntent, denyIntent, expireIntents, type IntentDecision } from './orders/intents.ts'
import { keepProtectiveStops, protectPosition } from './positions/protective-stops.ts'
import {
  type PriceSeen,
  checkPositions,
  observeTick,
  watchBar,
  watchQuote,
  type FeedTick,
  type Quoted,
} from './positions/watch.ts'
import {
  recordNotSent,
  recordRejection,
  recordUnsent,
  recordReport,
  type NotSent,
  type ReportCommand,
} from './venue/venue-orders.ts'
import {
  cancelOrder,
  markOrderUnknown,
  markOrdersUnknown,
  recordLookupUnsupported,
  recordNotFound,
  recordUnclearLookup,
  type CancelRequest,
} from './venue/reconcile.ts'
import { fillResting, type TradedBar } from './orders/resting-orders.ts'

export type TradingCommand = KillSwitchCommand | IntentCommand | PositionCommand | OrderCommand | VenueCommand

type KillSwitchCommand =
  | { readonly kind: 'set-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'reset-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'escalate'; readonly to: KillSwitchLevel; readonly cause: Cause }
  | { readonly kind: 'assess-risk' }

type IntentCommand =
  | { readonly kind: 'execute-intent'; readonly intentId: IntentId }
  | { readonly kind: 'expire-intents' }
  | { readonly kind: 'approve-intent'; readonly decision: IntentDecision }
  | { readonly kind: 'deny-intent'; readonly decision: IntentDecision }

type PositionCommand =
  | { readonly kind: 'watch-bar'; readonly symbol: CanonicalSymbol; readonly seen: PriceSeen }
  | { readonly kind: 'watch-quote'; readonly quoted: Quoted }
  | { readonly kind: 'observe-tick'; readonly tick: FeedTick }
  | { readonly kind: 'check-positions' }
  | { readonly kind: 'close-position'; readonly positionId: PositionId; readonly by: Operator }
  | { readonly kind: 'close-all'; readonly by: Operator }
  | { readonly kind: 'exit-symbol'; readonly symbol: CanonicalSymbol; readonly direction: Direction }
  | { readonly kind: 'retry-exits' }
  | { readonly kind: 'end-overdue-exits' }
  | { readonly kind: 'protect-position'; readonly positionId: PositionId }
  | { readonly kind: 'keep-protective-stops' }
  /** `at`: 00:00, 08:00 or 16:00 UTC. `reportedBy`: a venue that reports its own charges, so none are estimated. */
  | { readonly kind: 'apply-funding'; readonly at: Timestamp; readonly reportedBy?: string | undefined }
  | { readonly kind: 'record-funding'; readonly venue: string; readonly payment: VenueFunding }

type OrderCommand =
  | { readonly kind: 'fill-resting'; readonly bar: TradedBar }
  | { readonly kind: 'cancel-entries'; readonly reason: string }
  | { readonly kind: 'cancel-order'; readonly request: CancelRequest }
  | ({ readonly kind: 'record-report' } & ReportCommand)
  | { readonly kind: 'record-rejection'; readonly orderId: OrderId; readonly reason: string }
  | ({ readonly kind: 'record-not-sent' } & NotSent)
  | { readonly kind: 'record-unsent'; readonly orderId: OrderId; readonly reason: string }
  | { readonly kind: 'record-not-found'; readonly orderId: OrderId; readonly lookups: number }
  | { readonly kind: 'record-lookup-unsupported'; readonly orderId: OrderId }
  | { readonly kind: 'record-unclear-lookup'; readonly orderId: OrderId; readonly reason: string }
  | { readonly kind: 'mark-order-unknown'; readonly orderId: OrderId; readonly reason: string }
  | { readonly kind: 'mark-orders-unknown'; readonly reason: string }

type VenueCommand =
  | { readonly kind: 'record-venue-check'; readonly check: VenueCheck }
  | { readonly kind: 'record-venue-quotes'; readonly quotes: VenueQuotes }
  | { readonly kind: 'compare-account'; readonly sweep: AccountSweep }
  | { readonly kind: 'record-capital'; readonly sweep: AccountSweep }
  | { readonly kind: 'confirm-live'; readonly confirmation: LiveConfirmation }
  | {
      readonly kind: 'resume-live'
      readonly operator: string
      readonly reason: string
      readonly surface: 'api' | 'cli'
    }

export const decideTrading = (
  facts: TradingFacts,
  command: TradingCommand,
  context: DecisionContext,
): Decision => {
  const { trading } = facts
  switch (command.kind) {
    case 'set-kill-switch':
      return setKillSwitch(trading.killSwitch, command.move, acknowledgedBy(conditionsOf(facts, context)))
    case 'reset-kill-switch':
      return resetKillSwitch(trading.killSwitch, command.move, acknowledgedBy(conditionsOf(facts, context)))
    case 'escalate':
      return escalate(trading.killSwitch, command.to, command.cause)
    case 'assess-risk':
      return assessRisk(trading.killSwitch, conditionsOf(facts, context))
    case 'execute-intent':
      return enterIntent(facts, command.intentId, context)
    case 'expire-intents':
      return expireIntents(trading.intents, trading.orders, context)
    case 'approve-intent':
      return approveIntent(trading.intents, command.decision, {
        level: trading.killSwitch.level,
        now: context.now,
      })
    case 'deny-intent':
      return denyIntent(trading.intents, command.decision, context.sha256Hex)
    case 'watch-bar':
      return watchBar(facts, command.symbol, command.seen, context)
    case 'watch-quote':
      return watchQuote(facts, command.quoted, context)
    case 'observe-tick':
      return observeTick(facts, command.tick, context)
    case 'check-positions':
      return checkPositions(facts, context)
    case 'close-position':
      return closePosition(facts, command.positionId, command.by, context)
    case 'close-all':
      return closeAll(facts, command.by, context)
    case 'exit-symbol':
      return exitSymbol(facts, command, context)
    case 'retry-exits':
      return retryExits(facts, context)
    case 'end-overdue-exits':
      return endOverdueExits(facts, context)
    case 'protect-position':
      return protectPosition(facts, command.positionId, context)
    case 'keep-protective-stops':
      return keepProtectiveStops(facts, context)
    case 'apply-funding':
      return applyFunding(facts, command, context)
    case 'record-funding':
      return recordFunding(trading, command)
    case 'fill-resting':
      return fillResting(facts, command.bar, context)
    case 'cancel-entries':
      return accept(...cancelEntries(trading.orders, command.reason))
    case 'cancel-order':
      return cancelOrder(facts, command.request, context)
    case 'record-report':
      return recordReport(facts, command, context)
    case 'record-rejection':
      return recordRejection(facts, command.orderId, command.reason, context)
    case 'record-not-sent':
      return recordNotSent(facts, command, context)
    case 'record-unsent':
      return recordUnsent(facts, command.orderId, command.reason, context)
    case 'record-not-found':
      return recordNotFound(facts, command.orderId, command.lookups, context)
    case 'record-lookup-unsupported':
      return recordLookupUnsupported(facts, command.orderId)
    case 'record-unclear-lookup':
      return recordUnclearLookup(facts, command, context)
    case 'mark-order-unknown':
      return markOrderUnknown(facts, command.orderId, command.reason)
    case 'mark-orders-unknown':
      return markOrdersUnknown(facts, command.reason)
    case 'record-venue-check':
      return recordVenueCheck(trading.venue, command.check)
    case 'record-venue-quotes':
      return recordVenueQuotes(trading.venue.quoted, command.quotes, {
        now: context.now,
        differenceMax: context.configuration.execution.max_price_difference_pct,
      })
    case 'compare-account':
      return compareAccount(facts, command.sweep, context)
    case 'record-capital':
      return recordCapital(facts, command.sweep, context)
    case 'confirm-live':
      return confirmLive(command.confirmation, {
        openPositions: trading.book.count,
        openOrders: trading.orders.open.size,
        account: trading.ledger.account,
      })
    case 'resume-live':
      return resumeLive(facts, command)
  }
}

const conditionsOf = (
  { trading }: TradingFacts,
  { now, configuration }: DecisionContext,
): readonly Condition[] =>
  trueConditions(riskFactsOf(trading, now), configuration.kill_switch, configuration.risk)
