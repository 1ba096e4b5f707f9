import type { KnownEvent } from '../events/catalogue.ts'
import { evolveAlerts, NO_ALERTS, type OpenAlerts } from './alerts.ts'
import { evolveAccessKeys, INITIAL_ACCESS_KEYS, type AccessKeys } from './access-keys.ts'
import { evolveCheckpoints, NO_RECORDED_CHECKPOINTS, type RecordedCheckpoints } from './checkpoints.ts'
import { evolveKeys, NO_KEYS, type Keys } from './keys.ts'
import type { UnsignedEvents } from './unsigned.ts'

interface Nodes extends Keys {
  /** How often a process started on this store. */
  readonly starts: number
}

export interface OperationsState {
  readonly nodes: Nodes
  /** Hash of the configuration after its last change; null if it never changed. */
  readonly configHash: string | null
  readonly accessKeys: AccessKeys
  readonly unsigned: UnsignedEvents
  readonly checkpoints: RecordedCheckpoints
  readonly alerts: OpenAlerts
}

export const INITIAL_OPERATIONS: OperationsState = {
  nodes: { ...NO_KEYS, starts: 0 },
  configHash: null,
  accessKeys: INITIAL_ACCESS_KEYS,
  unsigned: [],
  checkpoints: NO_RECORDED_CHECKPOINTS,
  alerts: NO_ALERTS,
}

export const evolveOperations = (state: OperationsState, event: KnownEvent): OperationsState => {
  const { nodes } = state
  switch (event.type) {
    case 'system.started.v1':
    case 'system.key_admitted.v1':
    case 'system.key_retired.v1': {
      const starts = event.type === 'system.started.v1' ? nodes.starts + 1 : nodes.starts
      const checkpoints = evolveCheckpoints(state.checkpoints, event)
      return { ...state, nodes: { ...evolveKeys(nodes, event), starts }, checkpoints }
    }
    case 'system.checkpoint.v1':
    case 'system.restore.v1':
      return { ...state, checkpoints: evolveCheckpoints(state.checkpoints, event) }
    case 'system.config_changed.v1':
      return { ...state, configHash: event.payload.config_hash }
    case 'system.access_key_created.v1':
    case 'system.access_key_revoked.v1':
    case 'contributor.removed.v1':
    case 'producer.removed.v1':
      return { ...state, accessKeys: evolveAccessKeys(state.accessKeys, event) }
    case 'system.alerts_acknowledged.v1':
    case 'alert.clock_jump':
    case 'alert.kill_switch':
    case 'alert.regime_shift':
    case 'alert.execution':
    case 'alert.own_code':
    case 'alert.stop_triggered':
    case 'alert.target_hit':
    case 'alert.weights_adjusted':
      return { ...state, alerts: evolveAlerts(state.alerts, event) }
    default:
      return state
  }
}
