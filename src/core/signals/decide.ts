import type { PayloadOf } from '../events/catalogue.ts'
import { nodeId, sessionId, type ContributorId, type NodeId, type SessionId } from '../shared/brand.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import {
  activeByNode,
  registerContributor,
  type Registration,
  removeContributor,
  welcomeNode,
  type WritingNode,
} from './contributors.ts'
import type { SignalsState } from './evolve.ts'
import { noticeStale, type ProducerReport, runProducer } from './producer-runs.ts'
import { isBuiltin, registerProducer, removeProducer } from './producers.ts'
import {
  type CallOf,
  type Emission,
  emitSignal,
  type Emitter,
  type SignalContributor,
  type Submission,
  submitSignal,
} from './signals.ts'
import { appendTrace, closeSession, openSession } from './traces.ts'

/** How a command came in: it becomes the source of the events it writes. */
type Surface = 'api' | 'cli' | 'system'

export type SignalsCommand =
  | { readonly kind: 'welcome-node'; readonly node: WritingNode }
  | { readonly kind: 'submit-signal'; readonly submission: Submission }
  | { readonly kind: 'emit-signal'; readonly emission: Emission }
  | { readonly kind: 'register-contributor'; readonly registration: Registration; readonly surface: Surface }
  | { readonly kind: 'remove-contributor'; readonly id: ContributorId; readonly surface: Surface }
  | {
      readonly kind: 'register-producer'
      readonly producer: PayloadOf<'producer.registered.v1'>
      readonly surface: Surface
    }
  | { readonly kind: 'remove-producer'; readonly name: string; readonly surface: Surface }
  | { readonly kind: 'run-producer'; readonly report: ProducerReport }
  | { readonly kind: 'notice-stale-producers' }
  | { readonly kind: 'open-session'; readonly label: string; readonly agent: string | null }
  | { readonly kind: 'append-trace'; readonly sessionId: SessionId; readonly traceId: string }
  | { readonly kind: 'close-session'; readonly sessionId: SessionId }

/** `callOf` names the call that a signal opens or joins; calls belong to reputation. */
export const decideSignals = (
  { signals }: { readonly signals: SignalsState },
  command: SignalsCommand,
  context: DecisionContext,
  callOf: CallOf,
): Decision => {
  const { now, newId, configuration } = context
  switch (command.kind) {
    case 'welcome-node':
      return welcomeNode(signals.contributors, command.node, newId)
    case 'submit-signal':
      return submitSignal(command.submission, contributorOf(signals, command.submission.nodeId), {
        now,
        newId,
        callOf,
      })
    case 'emit-signal':
      return emitSignal(command.emission, emitterOf(signals, command.emission.producerId), {
        now,
        newId,
        callOf,
      })
    case 'register-contributor':
      return registerContributor(signals.contributors, command.registration, {
        newId,
        source: command.surface,
      })
    case 'remove-contributor':
      return removeContributor(signals.contributors, command.id, command.surface)
    case 'register-producer':
      return registerProducer(signals.producers, command.producer, command.surface)
    case 'remove-producer':
      return removeProducer(signals.producers, command.name, command.surface)
    case 'run-producer':
      return runProducer(
        signals.producers,
        command.report,
        emitterOf(signals, command.report.name),
        context,
        callOf,
      )
    case 'notice-stale-producers':
      return noticeStale(signals.producers, { now, staleIntervals: configuration.producers.stale_intervals })
    case 'open-session':
      return openSession(command.label, command.agent, sessionId(newId()))
    case 'append-trace':
      return appendTrace(signals.traces, command.sessionId, command.traceId, {
        now,
        ttlHours: configuration.trace.session_ttl_hours,
      })
    case 'close-session':
      return closeSession(signals.traces, command.sessionId)
  }
}

const contributorOf = ({ contributors }: SignalsState, id: NodeId): SignalContributor | null => {
  const contributor = activeByNode(contributors, id)
  return contributor === null ? null : { contributorId: contributor.id, nodeId: id }
}

/** A registered producer wins over a contributor of the same name. */
const emitterOf = (signals: SignalsState, id: string): Emitter => {
  if (isBuiltin(id) || signals.producers.registered.has(id)) return { kind: 'producer' }
  const contributor = contributorOf(signals, nodeId(id))
  return contributor === null ? { kind: 'unknown' } : { kind: 'contributor', contributor }
}
