import { recordAccess } from './operations/audit.ts'
import { receiptSignerOf, accrueShares, recordOutcome } from './treasury/after-close.ts'
import { runBrainCycle, watchBrainRegime } from './brain/run-brain-cycle.ts'
import type { Command } from './commands.ts'
import { configurationHashInput } from './config/secrets.ts'
import { activeByNode, registerContributor, removeContributor, welcomeNode } from './signals/contributors.ts'
import { riskFactsOf } from './trading/account.ts'
import { compareAccount, resumeLive } from './trading/account-sweep.ts'
import { contributorsOfSignals, cycleInputsOf } from './brain/cycle-inputs.ts'
import { enterIntent } from './trading/enter-intent.ts'
import { closeAll, closePosition, exitSymbol } from './trading/exits.ts'
import { applyFunding, recordFunding } from './trading/funding.ts'
import { settleDueKarma } from './treasury/settlement-schedule.ts'
import { settleKarma } from './treasury/settle.ts'
import { migrateWallet } from './treasury/wallet.ts'
import { acknowledgedBy, assessRisk } from './trading/assess.ts'
import { escalate, resetKillSwitch, setKillSwitch } from './trading/kill-switch.ts'
import { weightsInForce } from './brain/learning.ts'
import { runLearning } from './brain/run-learning.ts'
import type { DecisionContext } from './shared/decision-context.ts'
import { observeBars } from './market/observe.ts'
import { startNode } from './operations/nodes.ts'
import { callsOfSignals } from './reputation/calls-of-signals.ts'
import { cancelEntries } from './trading/cancel.ts'
import { approveIntent, denyIntent, expireIntents } from './trading/intents.ts'
import { producerScoresOf } from './reputation/producer-scores.ts'
import { recordFeedback } from './reputation/feedback.ts'
import { isBuiltin, registerProducer, removeProducer } from './signals/producers.ts'
import { noticeStale } from './signals/producer-runs.ts'
import { proposeTrade } from './brain/propose-trade.ts'
import {
  cancelOrder,
  markOrderUnknown,
  markOrdersUnknown,
  recordNotFound,
  recordRejection,
  recordLookupUnsupported,
  recordUnsent,
} from './trading/reconcile.ts'
import { fillResting } from './trading/resting-fills.ts'
import { retryExits } from './trading/retry-exits.ts'
import { trueConditions, type Condition } from './trading/conditions.ts'
import { runProducer } from './signals/run-producer.ts'
import { settleBar, settleOverdue, settlePosition } from './reputation/settle-calls.ts'
import { emitSignal, submitSignal, type Author, type Speaker } from './signals/signals.ts'
import type { State } from './state.ts'
import { appendTrace, closeSession, openSession } from './signals/traces.ts'
import { confirmLive, recordVenueCheck } from './trading/decide-venue.ts'
import { recordReport } from './trading/venue-report.ts'
import { accept, type Decision } from './shared/decision.ts'
import { checkPositions, observeTick, watchBar, watchQuote } from './trading/watch.ts'

/** The one door into the rooms. Each room is handed what it may see, never the whole house. */
export const decide = (state: State, command: Command, moment: DecisionContext): Decision => {
  switch (command.kind) {
    case 'start':
      return startNode(command.started)
    case 'welcome-node':
      return welcomeNode(state.contributors, command.node, moment.newId)
    case 'set-kill-switch':
      return setKillSwitch(state.killSwitch, command.move, acknowledgedBy(conditionsOf(state, moment)))
    case 'reset-kill-switch':
      return resetKillSwitch(state.killSwitch, command.move, acknowledgedBy(conditionsOf(state, moment)))
    case 'escalate':
      return escalate(state.killSwitch, command.to, command.cause)
    case 'submit-signal':
      return submitSignal(
        command.submission,
        authorOf(state, command.submission.nodeId),
        listening(state, moment),
      )
    case 'emit-signal':
      return emitSignal(
        command.emission,
        speakerOf(state, command.emission.producerId),
        listening(state, moment),
      )
    case 'register-contributor':
      return registerContributor(state.contributors, command.registration, {
        newId: moment.newId,
        source: command.surface,
      })
    case 'remove-contributor':
      return removeContributor(state.contributors, command.id, command.surface)
    case 'register-producer':
      return registerProducer(state.producers, command.producer, command.surface)
    case 'remove-producer':
      return removeProducer(state.producers, command.name, command.surface)
    case 'run-producer':
      return runProducer(state, command.report, speakerOf(state, command.report.name), moment)
    case 'notice-stale-producers':
      return noticeStale(state.producers, {
        now: moment.now,
        staleIntervals: moment.configuration.producers.stale_intervals,
      })
    case 'observe-bars':
      return observeBars(state.market, command.observation, {
        now: moment.now,
        moveMax: moment.configuration.market.max_bar_move_pct,
      })
    case 'watch-regime':
      return watchBrainRegime(cycleInputsOf(state, moment), moment.configuration)
    case 'run-cycle': {
      const inputs = cycleInputsOf(state, moment)
      return runBrainCycle({
        inputs,
        rules: moment.configuration,
        context: {
          cycleId: command.cycleId,
          trigger: command.trigger,
          startedAt: moment.now,
          weightsVersion: weightsInForce(state.learning, moment.configuration).version,
          configHash: moment.sha256Hex(configurationHashInput(moment.configuration)),
          engineVersion: moment.version,
        },
        contributorOf: contributorsOfSignals(inputs.voices),
        newId: moment.newId,
        sha256Hex: moment.sha256Hex,
        elapsedMs: moment.elapsedMs,
      })
    }
    case 'propose-trade':
      return proposeTrade(state, command.proposal, moment)
    case 'execute-intent':
      return enterIntent(state, command.intentId, moment)
    case 'expire-intents':
      return expireIntents(state.intents, state.orders, moment)
    case 'approve-intent':
      return approveIntent(state.intents, command.judgement, {
        level: state.killSwitch.level,
        now: moment.now,
      })
    case 'deny-intent':
      return denyIntent(state.intents, command.judgement, moment.sha256Hex)
    case 'close-position':
      return closePosition(state, command.positionId, command.by, moment)
    case 'close-all':
      return closeAll(state, command.by, moment)
    case 'exit-symbol':
      return exitSymbol(state, command, moment)
    case 'cancel-entries':
      return accept(...cancelEntries(state.orders, command.reason))
    case 'fill-resting':
      return fillResting(state, command.bar, moment)
    case 'watch-bar':
      return watchBar(state, command.symbol, command.seen, moment)
    case 'watch-quote':
      return watchQuote(state, command.quoted, moment)
    case 'observe-tick':
      return observeTick(state, command.tick, moment)
    case 'settle-bar':
      return settleBar(state, command.bar, moment)
    case 'settle-position':
      return settlePosition(state, command.positionId, moment)
    case 'settle-overdue':
      return settleOverdue(state, moment)
    case 'check-positions':
      return checkPositions(state, moment)
    case 'cancel-order':
      return cancelOrder(state, command.wish, moment)
    case 'record-report':
      return recordReport(state, command, moment)
    case 'record-rejection':
      return recordRejection(state, command.orderId, command.reason, moment)
    case 'record-unsent':
      return recordUnsent(state, command.orderId, command.reason, moment)
    case 'record-not-found':
      return recordNotFound(state, command.orderId, command.lookups, moment)
    case 'record-unfindable':
      return recordLookupUnsupported(state, command.orderId)
    case 'doubt-order':
      return markOrderUnknown(state, command.orderId, command.reason)
    case 'doubt-orders':
      return markOrdersUnknown(state, command.reason)
    case 'retry-exits':
      return retryExits(state, moment)
    case 'record-venue-check':
      return recordVenueCheck(state.venue, command.check)
    case 'compare-account':
      return compareAccount(state, command.sweep, moment)
    case 'confirm-live':
      return confirmLive(command.confirmation, {
        openPositions: state.book.count,
        openOrders: state.orders.open.size,
        account: state.ledger.account,
      })
    case 'resume-live':
      return resumeLive(state, command)
    case 'apply-funding':
      return applyFunding(state, command, moment)
    case 'record-funding':
      return recordFunding(state, command)
    case 'assess-risk':
      return assessRisk(state.killSwitch, conditionsOf(state, moment))
    case 'record-outcome':
      return recordOutcome(state, command.close, moment)
    case 'owe-karma':
      return accrueShares(state, command.close, moment)
    case 'settle-karma':
      return settleKarma(state.karma, command.request, command.standing, {
        rules: moment.configuration.karma,
        receiptSigner: receiptSignerOf(moment),
      })
    case 'settle-due-karma':
      return settleDueKarma(state, moment)
    case 'migrate-wallet':
      return migrateWallet(state.karma, command.migration)
    case 'run-learning':
      return runLearning(state.learning, {
        cause: command.cause,
        configuration: moment.configuration,
        producerScores: producerScoresOf(state, moment),
        now: moment.now,
      })
    case 'record-feedback':
      return recordFeedback(state.judgements, command.feedback, command.standing, moment.configuration.karma)
    case 'open-session':
      return openSession(command.label, command.agent, moment.newId())
    case 'append-trace':
      return appendTrace(state.traces, command.sessionId, command.traceId, {
        now: moment.now,
        ttlHours: moment.configuration.trace.session_ttl_hours,
      })
    case 'close-session':
      return closeSession(state.traces, command.sessionId)
    case 'record-access':
      return recordAccess(command.entry, command.surface)
    case 'record-config-change':
      return accept({ type: 'system.config_changed.v1', source: command.surface, payload: command.change })
    case 'accept-restore':
      return accept({ type: 'system.restore.v1', source: 'system', payload: command.restore })
  }
}

const conditionsOf = (state: State, { now, configuration }: DecisionContext): readonly Condition[] =>
  trueConditions(riskFactsOf(state, now), configuration.kill_switch)

const listening = (state: State, moment: DecisionContext) => ({
  now: moment.now,
  newId: moment.newId,
  callOf: callsOfSignals(state, moment),
})

const authorOf = ({ contributors }: State, nodeId: string): Author | null => {
  const contributor = activeByNode(contributors, nodeId)
  return contributor === null ? null : { contributorId: contributor.id, nodeId }
}

/** A registered producer wins over a contributor of the same name. */
const speakerOf = (state: State, id: string): Speaker => {
  if (isBuiltin(id) || state.producers.registered.has(id)) return { kind: 'producer' }
  const author = authorOf(state, id)
  return author === null ? { kind: 'stranger' } : { kind: 'contributor', author }
}
