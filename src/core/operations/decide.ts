import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { acknowledgeAlerts, type Acknowledgement } from './alerts.ts'
import { createAccessKey, revokeAccessKey, type KeyAuthor, type NewAccessKey } from './access-keys.ts'
import type { Configuration } from '../config/schema.ts'
import type { OperationsState } from './evolve.ts'
import { recordClockJump, type ClockJump } from './clock-jump.ts'
import { acceptedKey, isAccepted, isNamedByKey, type Keys } from './keys.ts'

export type OperationsCommand =
  /** First event of a process. It carries the key that all its later signatures need. */
  | { readonly kind: 'start'; readonly started: NewPayload<'system.started.v1'> }
  | { readonly kind: 'record-access'; readonly entry: AccessEntry; readonly surface: 'api' | 'cli' }
  | {
      readonly kind: 'record-config-change'
      readonly change: PayloadOf<'system.config_changed.v1'>
      readonly surface: 'api' | 'cli'
    }
  | { readonly kind: 'accept-restore'; readonly restore: PayloadOf<'system.restore.v1'> }
  | {
      readonly kind: 'record-checkpoint'
      readonly checkpoint: Omit<PayloadOf<'system.checkpoint.v1'>, 'node_id'>
    }
  | { readonly kind: 'record-clock-jump'; readonly jump: ClockJump }
  /** First event of a leader. From then on the client ids of orders contain its token. */
  | { readonly kind: 'record-leader'; readonly token: number }
  | { readonly kind: 'admit-key'; readonly key: NodeKey }
  | { readonly kind: 'retire-key'; readonly nodeId: string; readonly reason: string }
  /** The deciding node ends its own key in favour of a new one. */
  | { readonly kind: 'rotate-key'; readonly successor: NodeKey }
  | { readonly kind: 'create-access-key'; readonly key: NewAccessKey; readonly surface: 'api' | 'cli' }
  | { readonly kind: 'revoke-access-key'; readonly name: string; readonly surface: 'api' | 'cli' }
  | { readonly kind: 'acknowledge-alerts'; readonly acknowledgement: Acknowledgement }

export type NodeKey = PayloadOf<'system.key_admitted.v1'>

/** State that operations reads. */
export interface OperationsFacts {
  readonly operations: OperationsState
}

/** `isKnownAuthor` is passed in, because authors belong to the context signals. */
export const decideOperations = (
  { operations }: OperationsFacts,
  command: OperationsCommand,
  context: DecisionContext,
  isKnownAuthor: (author: KeyAuthor) => boolean,
): Decision => {
  const { nodes, accessKeys, alerts } = operations
  switch (command.kind) {
    case 'start':
      return start(nodes, command.started)
    case 'record-checkpoint': {
      const payload = { ...command.checkpoint, node_id: context.nodeId }
      return accept({ type: 'system.checkpoint.v1', source: 'system', payload })
    }
    case 'record-clock-jump':
      return recordClockJump(command.jump)
    case 'record-leader': {
      const payload = { token: command.token, node_id: context.nodeId }
      return accept({ type: 'system.leader.v1', source: 'system', payload })
    }
    case 'admit-key':
      return admitKey(nodes, command.key)
    case 'retire-key':
      return retireKey(nodes, command.nodeId, command.reason)
    case 'rotate-key':
      return rotateKey(nodes, context.nodeId, command.successor)
    case 'record-access':
      return recordAccess(command.entry, command.surface)
    case 'record-config-change':
      return accept({ type: 'system.config_changed.v1', source: command.surface, payload: command.change })
    case 'accept-restore':
      return accept({ type: 'system.restore.v1', source: 'system', payload: command.restore })
    case 'create-access-key': {
      const { key, surface } = command
      return createAccessKey(accessKeys, key, { now: context.now, surface, isKnownAuthor })
    }
    case 'revoke-access-key':
      return revokeAccessKey(accessKeys, command.name, command.surface)
    case 'acknowledge-alerts':
      return acknowledgeAlerts(alerts, command.acknowledgement)
  }
}

const start = (keys: Keys, started: NewPayload<'system.started.v1'>): Decision => {
  const { node_id, public_key } = started
  if (keys.isClosed && acceptedKey(keys, node_id) !== public_key)
    return refuse('identity.not_admitted', `this log does not accept the key of ${node_id}`)
  return accept({ type: 'system.started.v1', source: 'system', payload: started })
}

const admitKey = (keys: Keys, key: NodeKey): Decision => {
  if (!isNamedByKey(key.node_id, key.public_key))
    return refuse('identity.invalid', `${key.node_id} is not the node id of this public key`)
  if (isAccepted(keys, key.node_id))
    return refuse('identity.already_admitted', `the key of ${key.node_id} is accepted already`)
  return accept({ type: 'system.key_admitted.v1', source: 'cli', payload: key })
}

const retireKey = (keys: Keys, nodeId: string, reason: string): Decision => {
  const publicKey = acceptedKey(keys, nodeId)
  if (publicKey === undefined)
    return refuse('identity.not_admitted', `this log does not accept a key of ${nodeId}`)
  if (keys.publicKeys.size - keys.retired.length === 1)
    return refuse('identity.last_key', `the key of ${nodeId} is the only one that this log accepts`)
  return accept({
    type: 'system.key_retired.v1',
    source: 'cli',
    payload: { node_id: nodeId, public_key: publicKey, reason },
  })
}

/** Both events are in one batch, the last that the old key signs. */
const rotateKey = (keys: Keys, nodeId: string, successor: NodeKey): Decision => {
  const admitted = admitKey(keys, { ...successor, replaces: nodeId })
  const publicKey = acceptedKey(keys, nodeId)
  if (admitted.status === 'refused') return admitted
  if (publicKey === undefined)
    return refuse('identity.not_admitted', `this log does not accept a key of ${nodeId}`)
  const retired = { node_id: nodeId, public_key: publicKey, reason: successor.reason }
  return accept(...admitted.events, { type: 'system.key_retired.v1', source: 'cli', payload: retired })
}

export type AccessEntry = PayloadOf<'system.audit.v1'>

/** Characters of a resource in the access audit. */
export const RESOURCE_LENGTH_MAX = 256

/** Records the caller, the requested action, and whether it was allowed. */
const recordAccess = (entry: AccessEntry, surface: 'api' | 'cli'): Decision =>
  accept({
    type: 'system.audit.v1',
    source: surface,
    // Members in the order of canonical JSON are written several times as fast.
    payload: {
      ...(entry.access_key === undefined ? {} : { access_key: entry.access_key }),
      action: entry.action,
      outcome: entry.outcome,
      reason: entry.reason,
      request_id: entry.request_id,
      resource: entry.resource.slice(0, RESOURCE_LENGTH_MAX),
    },
  })

/** Settings that the fold itself depends on. They stand in the log, so that every replay folds it alike. */
export const foldingOf = ({
  execution,
  karma,
  ta,
}: Configuration): NonNullable<PayloadOf<'system.started.v1'>['folding']> => ({
  analysis_bar_seconds: ta.bar_seconds,
  variance_decay: ta.variance_decay,
  start_balance_usd: execution.paper_start_balance,
  edge_half_life: karma.influence.half_life,
  outcome_days: Math.max(PROVENANCE_DAYS, karma.producer_window_days),
})

/** The longest window that provenance shows, whatever the window of karma. */
const PROVENANCE_DAYS = 90
