import type { Holder } from '../shared/fair-share.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { nodeId, sessionId, type ContributorId, type NodeId, type SessionId } from '../shared/brand.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import {
  activeByNode,
  duplicate,
  registerContributor,
  type Registration,
  removeContributor,
  welcomeNode,
  type WritingNode,
} from './contributors.ts'
import type { SignalsState } from './evolve.ts'
import { noticeStale, type ProducerReport, runProducer } from './producer-runs.ts'
import { builtinOf, looksBuiltin, registerProducer, removeProducer } from './producers.ts'
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

/** Origin of a command, which becomes the source of its events. */
type Surface = 'api' | 'cli' | 'system'

export type SignalsCommand =
  | { readonly kind: 'welcome-node'; readonly node: WritingNode }
  | { readonly kind: 'submit-signal'; readonly submission: Submission }
  | { readonly kind: 'emit-signal'; readonly emission: Emission }
  | {
      readonly kind: 'register-contributor'
      readonly registration: Registration
      readonly surface: Surface
      /** True if the caller may replace a public key. */
      readonly isOperator?: boolean
    }
  | {
      readonly kind: 'remove-contributor'
      readonly id: ContributorId
      readonly surface: Surface
      /** True if the caller may remove a contributor with a public key. */
      readonly isOperator?: boolean
    }
  | {
      readonly kind: 'register-producer'
      readonly producer: PayloadOf<'producer.registered.v1'>
      readonly surface: Surface
    }
  | { readonly kind: 'remove-producer'; readonly name: string; readonly surface: Surface }
  | { readonly kind: 'run-producer'; readonly report: ProducerReport }
  | { readonly kind: 'notice-stale-producers' }
  | {
      readonly kind: 'open-session'
      readonly label: string
      readonly agent: string | null
      readonly owner: string
    }
  | {
      readonly kind: 'append-trace'
      readonly sessionId: SessionId
      readonly traceId: string
      readonly by: Holder
    }
  | { readonly kind: 'close-session'; readonly sessionId: SessionId; readonly by: Holder }

/**
 * `callOf` is passed in, because calls belong to the context reputation. It returns the call that a signal opens or
 * joins.
 */
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
      return submitSignal(
        command.submission,
        contributorOf(signals, command.submission.nodeId),
        (source) => isNameOfAnother(signals, source, command.submission.nodeId),
        { ...context, callOf },
      )
    case 'emit-signal':
      return emitSignal(command.emission, emitterOf(signals, command.emission.producerId), {
        ...context,
        callOf,
      })
    case 'register-contributor': {
      const { registration, surface: source, isOperator = false } = command
      return isProducer(signals, registration.nodeId)
        ? duplicate(registration.nodeId)
        : registerContributor(signals.contributors, registration, { newId, source, isOperator })
    }
    case 'remove-contributor': {
      const { id, surface: source, isOperator = false } = command
      return removeContributor(signals.contributors, id, { source, isOperator })
    }
    case 'register-producer':
      return registerProducer(signals, command.producer, command.surface)
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
      return openSession(command, sessionId(newId()))
    case 'append-trace':
      return appendTrace(signals.traces, command.sessionId, command.traceId, {
        now,
        ttlHours: configuration.trace.session_ttl_hours,
        by: command.by,
      })
    case 'close-session':
      return closeSession(signals.traces, command.sessionId, command.by)
  }
}

const contributorOf = ({ contributors }: SignalsState, id: NodeId): SignalContributor | null => {
  const contributor = activeByNode(contributors, id)
  if (contributor === null) return null
  return { contributorId: contributor.id, nodeId: id, publicKey: contributor.publicKey }
}

const isProducer = ({ producers }: SignalsState, name: string): boolean =>
  looksBuiltin(name) || producers.registered.has(name)

/**
 * Whether the source is the name of another author: a producer, or a contributor with a key. No other author may use
 * such a name as its source.
 */
const isNameOfAnother = (signals: SignalsState, source: string, own: NodeId): boolean =>
  looksBuiltin(source) ||
  (source !== own &&
    (signals.producers.registered.has(source) || signals.contributors.keyOfNode.has(nodeId(source))))

/** Finds the author of an emission. A registered producer takes precedence over a contributor of the same name. */
const emitterOf = (signals: SignalsState, id: string): Emitter => {
  const builtin = builtinOf(id)
  if (builtin !== undefined) return { kind: 'built-in', domain: builtin.domain }
  const producer = signals.producers.registered.get(id)
  if (producer !== undefined) return { kind: 'producer', domain: producer.domain }
  const contributor = contributorOf(signals, nodeId(id))
  return contributor === null ? { kind: 'unknown' } : { kind: 'contributor', contributor }
}
